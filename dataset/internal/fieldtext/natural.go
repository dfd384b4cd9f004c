package fieldtext

import "strings"

// CompareNatural compares ids in natural order: runs of digits compare as numbers, so
// 2015-2 precedes 2015-10.
func CompareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if !IsDigit(x[0]) || !IsDigit(y[0]) {
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
	return strings.Compare(a, b) // 007 and 7 are equal numbers but different ids
}

// leadingNumber cuts off the digits at the front and drops their leading zeros.
func leadingNumber(s string) (number, rest string) {
	n := 0
	for n < len(s) && IsDigit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}
