//go:build !amd64

package predictive

func cellLevels(level, weight, edges []float64, table *levelTable, scale, shift, before float64) {
	levelsGo(level, weight, edges, table, scale, shift, before)
}

func multiply(weight, factor []float64) { multiplyGo(weight, factor) }

func totalWeight(weight []float64) float64 { return totalGo(weight) }

func temper(weight, count []float64, expected, c float64) { temperGo(weight, count, expected, c) }

func accumulate(sum, weight []float64) float64 { return accumulateGo(sum, weight) }
