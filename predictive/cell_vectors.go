package predictive

// The loops over the cells of a heaped distribution, eight cells at a time. On a CPU with
// AVX-512 they are vectors; the Go code here does the same operations in the same order, so that
// results do not depend on the CPU.

const cellLanes = 8

// maxPlace is the largest place in a table of levels, in its last interval.
const maxPlace = levelCount - 1 - 1e-9

// levelsGo writes the levels of edges of cells, which are interpolated in a table at the place
// edge*scale + shift, or 0 before the table, to level, and the difference of each from the one before it, at
// least 0, to weight. before is the level before the first edge. All slices have the same length.
func levelsGo(level, weight, edges []float64, table *levelTable, scale, shift, before float64) {
	for i, edge := range edges {
		next := 0.0
		if place := edge*scale + shift; place >= 0 {
			place = min(place, maxPlace)
			at := int(place)
			next = table[at] + (place-float64(at))*(table[at+1]-table[at])
		}
		level[i] = next
		weight[i] = max(next-before, 0)
		before = next
	}
}

// evenGo divides probabilities evenly between evenCells cells each.
func evenGo(weight, probability []float64) {
	for i, p := range probability {
		w := (*[evenCells]float64)(weight[i*evenCells:])
		p /= evenCells
		w[0], w[1], w[2], w[3] = p, p, p, p
	}
}

// multiplyGo multiplies weights by the factors of the sums of steps.
func multiplyGo(weight []float64, a, b, c []uint8, factors *StepFactors) {
	a, b, c = a[:len(weight)], b[:len(weight)], c[:len(weight)]
	for i := range weight {
		weight[i] *= factors.All[int(a[i])+int(b[i])+int(c[i])]
	}
}

// countGo returns the number of values below a limit.
func countGo(values []float64, limit float64) (n int) {
	for _, v := range values {
		if v < limit {
			n++
		}
	}
	return n
}

// totalGo returns the sum of weights: every eighth of them, and then the eight sums.
func totalGo(weight []float64) float64 {
	var sum [cellLanes]float64
	for len(weight) >= cellLanes {
		for j, w := range weight[:cellLanes] {
			sum[j] += w
		}
		weight = weight[cellLanes:]
	}
	for j, w := range weight {
		sum[j] += w
	}
	return ((sum[0] + sum[4]) + (sum[2] + sum[6])) + ((sum[1] + sum[5]) + (sum[3] + sum[7]))
}

// temperGo multiplies weights by (count + c) / (expected weight + c).
func temperGo(weight, count []float64, expected, c float64) {
	for i, n := range count[:len(weight)] {
		weight[i] *= (n + c) / (expected*weight[i] + c)
	}
}

// accumulateGo writes the sums of weights up to each one to sum, and returns the last. Within eight weights
// the sums of 2, 4 and 8 are formed in this order.
func accumulateGo(sum, weight []float64) float64 {
	before := 0.0
	for at := 0; at < len(weight); at += cellLanes {
		var x [cellLanes]float64
		n := copy(x[:], weight[at:])
		for step := 1; step < cellLanes; step *= 2 {
			for j := cellLanes - 1; j >= step; j-- {
				x[j] += x[j-step]
			}
		}
		for j := range n {
			sum[at+j] = x[j] + before
		}
		before = x[cellLanes-1] + before
	}
	return before
}
