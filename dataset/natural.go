package dataset

import "strings"

// Less reports whether id a comes before b in natural order: runs of digits
// compare as numbers, so that 2015-2 comes before 2015-10.
func Less(a, b string) bool { return compareNatural(a, b) < 0 }

func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if !isDigit(x[0]) || !isDigit(y[0]) {
			if x[0] != y[0] {
				if x[0] < y[0] {
					return -1
				}
				return 1
			}
			x, y = x[1:], y[1:]
			continue
		}
		var m, n string
		m, x = leadingNumber(x)
		n, y = leadingNumber(y)
		if len(m) != len(n) {
			return len(m) - len(n)
		}
		if c := strings.Compare(m, n); c != 0 {
			return c
		}
	}
	if c := len(x) - len(y); c != 0 {
		return c
	}
	return strings.Compare(a, b) // 007 and 7 are equal numbers but not equal ids
}

// leadingNumber cuts the digits at the front off, and their leading zeros.
func leadingNumber(s string) (number, rest string) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}
