package relation

import (
	"math"
	"slices"
)

const (
	mostTriples = 12   // columns among which sums of three are looked for
	sumRounding = 1e-6 // relative to the largest of the numbers
)

// Summed reports for each column whether it gives away y by a sum of two or three columns: one that is
// the sum of y and others, and those whose sum is y, in all rows that have all of them, which are at
// least leastRows. Columns have a number per row, NaN for none.
func Summed(y []float64, columns [][]float64, leastRows int) []bool {
	summed := make([]bool, len(columns))
	for a := range columns {
		for b := range columns {
			if a == b {
				continue
			}
			if b > a && sumsTo(leastRows, y, columns[a], columns[b]) {
				summed[a], summed[b] = true, true
			}
			if sumsTo(leastRows, columns[a], y, columns[b]) {
				summed[a] = true
			}
			for c := b + 1; c < len(columns) && len(columns) <= mostTriples; c++ {
				switch {
				case c == a:
				case b > a && sumsTo(leastRows, y, columns[a], columns[b], columns[c]):
					summed[a], summed[b], summed[c] = true, true, true
				case sumsTo(leastRows, columns[a], y, columns[b], columns[c]):
					summed[a] = true
				}
			}
		}
	}
	return summed
}

// sumsTo reports whether the parts add up to the total in all rows that have all of them, which are
// at least leastRows. Each part differs from 0 in some of them: a copy of the target is found otherwise.
func sumsTo(leastRows int, total []float64, parts ...[]float64) bool {
	seen := 0
	used := make([]int, len(parts))
	for row, all := range total {
		sum, largest := 0.0, math.Abs(all)
		for _, p := range parts {
			sum += p[row]
			largest = max(largest, math.Abs(p[row]))
		}
		if math.IsNaN(all - sum) {
			continue
		}
		if math.Abs(all-sum) > sumRounding*largest {
			return false
		}
		seen++
		for i, p := range parts {
			if p[row] != 0 {
				used[i]++
			}
		}
	}
	return seen >= leastRows && 2*seen >= len(total) && slices.Min(used) >= seen/20
}

// productRounding is the relative error of products of rounded numbers, such as prices.
const productRounding = 0.01

// A Product is a column that gives away y together with another one: a factor of y, or else the product of y and the other.
type Product struct {
	Column, Other int
	Factor        bool
}

// Products returns the columns that give away y by a product of two columns in all rows that have all of them, which are at least
// leastRows. Columns have a number per row, NaN for none.
func Products(y []float64, columns [][]float64, leastRows int) (found []Product) {
	for a := range columns {
		for b := range columns {
			switch {
			case a == b:
			case isProduct(leastRows, y, columns[a], columns[b]):
				found = append(found, Product{a, b, true})
			case isProduct(leastRows, columns[a], y, columns[b]):
				found = append(found, Product{a, b, false})
			}
		}
	}
	return found
}

// isProduct reports whether a column is the product of two factors in all rows that have all three, which are at least leastRows. No factor is
// 0 or 1 in most of these rows, where the column would be 0 or the other factor.
func isProduct(leastRows int, product, a, b []float64) bool {
	seen, trivial := 0, [2]int{}
	for row, all := range product {
		x, z := a[row], b[row]
		if math.IsNaN(all + x + z) {
			continue
		}
		if math.Abs(all-x*z) > productRounding*math.Abs(all) {
			return false
		}
		seen++
		for i, v := range [2]float64{x, z} {
			if v == 0 || v == 1 {
				trivial[i]++
			}
		}
	}
	return seen >= leastRows && 2*seen >= len(product) && 2*max(trivial[0], trivial[1]) < seen
}

// Totals reports whether y is the sum of all columns in every row in which it is known. A number
// that is missing, NaN, counts as 0.
func Totals(y []float64, columns [][]float64) bool {
	for row, total := range y {
		if math.IsNaN(total) {
			continue
		}
		sum, largest := 0.0, math.Abs(total)
		for _, x := range columns {
			if v := x[row]; !math.IsNaN(v) {
				sum, largest = sum+v, max(largest, math.Abs(v))
			}
		}
		if math.Abs(sum-total) > sumRounding*largest {
			return false
		}
	}
	return true
}
