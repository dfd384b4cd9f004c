package relation

import "math"

// Explained returns the share of the variance of y, by row, that groups of rows explain, adjusted for their
// number: values of the column, or ten ranges of numbers with equally many rows, and one of missing
// values.
func Explained(y []float64, c Column) float64 {
	const ranges = 10
	group := make([]int, len(c.Values))
	if value := c.Values; c.Texts == 0 && len(value) > ranges+1 {
		rows := 0
		for _, code := range ByValue(value) {
			if group[code] = ranges; !math.IsNaN(value[code]) {
				group[code] = rows * ranges / len(c.Codes)
				rows += c.Counts[code]
			}
		}
	} else {
		for code := range group {
			group[code] = code
		}
	}
	sums, counts := make([]float64, len(group)), make([]float64, len(group))
	n, sum, squares := 0.0, 0.0, 0.0
	for row, code := range c.Codes {
		if v := y[row]; !math.IsNaN(v) {
			sums[group[code]] += v
			counts[group[code]]++
			n, sum, squares = n+1, sum+v, squares+v*v
		}
	}
	between, groups := 0.0, 0.0
	for k, count := range counts {
		if count > 0 {
			between += sums[k] * sums[k] / count
			groups++
		}
	}
	total := squares - sum*sum/n
	if !(total > 0) || groups >= n {
		return 0
	}
	return 1 - (squares-between)/total*(n-1)/(n-groups)
}
