package relation

import "slices"

// Crossed returns codes of the pairs of codes, in the order of their first rows, and how many there are.
func Crossed(a, b []int32) ([]int32, int) {
	out := make([]int32, len(a))
	if len(a) == 0 {
		return out, 0
	}
	width := int(slices.Max(b)) + 1
	if cells := (int(slices.Max(a)) + 1) * width; cells <= 8*len(a) { // a table is faster than a map
		codes, n := make([]int32, cells), int32(0) // code+1, or 0
		for row := range a {
			code := &codes[int(a[row])*width+int(b[row])]
			if *code == 0 {
				n++
				*code = n
			}
			out[row] = *code - 1
		}
		return out, int(n)
	}
	pairs := map[[2]int32]int32{}
	for row := range a {
		pair := [2]int32{a[row], b[row]}
		code, seen := pairs[pair]
		if !seen {
			code = int32(len(pairs))
			pairs[pair] = code
		}
		out[row] = code
	}
	return out, len(pairs)
}

// Determines reports whether rows with the same code in by, of which there are n, have
// the same code in c.
func Determines(by []int32, n int, c []int32) bool {
	first := make([]int32, n)
	for row, code := range by {
		switch first[code] {
		case 0:
			first[code] = c[row] + 1
		case c[row] + 1:
		default:
			return false
		}
	}
	return true
}
