//go:build !amd64

package predictive

func cellLevels(level, weight, edges []float64, table *levelTable, scale, shift, before float64) {
	levelsGo(level, weight, edges, table, scale, shift, before)
}

func even(weight, probability []float64) { evenGo(weight, probability) }

func multiply(weight []float64, a, b, c []uint8, factors *StepFactors) {
	multiplyGo(weight, a, b, c, factors)
}

func count(values []float64, limit float64) int { return countGo(values, limit) }

func totalWeight(weight []float64) float64 { return totalGo(weight) }

func temper(weight, count []float64, expected, c float64) { temperGo(weight, count, expected, c) }

func accumulate(sum, weight []float64) float64 { return accumulateGo(sum, weight) }
