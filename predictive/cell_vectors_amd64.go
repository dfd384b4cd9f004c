package predictive

import "golang.org/x/sys/cpu"

var cellVectors = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL

// cellLevels is levelsGo with the vectors of the CPU.
func cellLevels(level, weight, edges []float64, table *levelTable, scale, shift, before float64) {
	if n := len(edges); cellVectors && n > 0 {
		levelsAVX512(&level[:n][0], &weight[:n][0], &edges[0], n, table, scale, shift, before, maxPlace)
		return
	}
	levelsGo(level, weight, edges, table, scale, shift, before)
}

// even is evenGo with the vectors of the CPU, which write whole vectors of probabilities: weight has room for them.
func even(weight, probability []float64) {
	if n := len(probability); cellVectors && n > 0 {
		evenAVX512(&weight[:(n+cellLanes-1)/cellLanes*cellLanes*evenCells][0], &probability[0], n)
		return
	}
	evenGo(weight, probability)
}

// multiply is multiplyGo with the vectors of the CPU, which read up to a vector beyond the last step.
func multiply(weight []float64, a, b, c []uint8, factors *StepFactors) {
	if n := len(weight); cellVectors && n > 0 {
		end := n + cellLanes - 1
		multiplyAVX512(&weight[0], n, &a[:end][0], &b[:end][0], &c[:end][0], &factors.parts)
		return
	}
	multiplyGo(weight, a, b, c, factors)
}

// count is countGo with the vectors of the CPU.
func count(values []float64, limit float64) int {
	if n := len(values); cellVectors && n > 0 {
		return countAVX512(&values[0], n, limit)
	}
	return countGo(values, limit)
}

// totalWeight is totalGo with the vectors of the CPU.
func totalWeight(weight []float64) float64 {
	if n := len(weight); cellVectors && n > 0 {
		return totalAVX512(&weight[0], n)
	}
	return totalGo(weight)
}

// temper is temperGo with the vectors of the CPU.
func temper(weight, count []float64, expected, c float64) {
	if n := len(weight); cellVectors && n > 0 {
		temperAVX512(&weight[0], &count[:n][0], n, expected, c)
		return
	}
	temperGo(weight, count, expected, c)
}

// accumulate is accumulateGo with the vectors of the CPU.
func accumulate(sum, weight []float64) float64 {
	if n := len(weight); cellVectors && n > 0 {
		return accumulateAVX512(&sum[:n][0], &weight[0], n)
	}
	return accumulateGo(sum, weight)
}

//go:noescape
func levelsAVX512(level, weight, edges *float64, n int, table *levelTable, scale, shift, before, most float64)

//go:noescape
func evenAVX512(weight, probability *float64, n int)

//go:noescape
func multiplyAVX512(weight *float64, n int, a, b, c *uint8, parts *stepParts)

//go:noescape
func countAVX512(values *float64, n int, limit float64) int

//go:noescape
func totalAVX512(weight *float64, n int) float64

//go:noescape
func temperAVX512(weight, count *float64, n int, expected, c float64)

//go:noescape
func accumulateAVX512(sum, weight *float64, n int) float64
