// Package digits writes numbers for people.
package digits

import (
	"fmt"
	"math"
	"strconv"
)

// Short writes a number with some significant digits. From 1,000 up to a billion it is a whole number with all
// its digits where those do not suffice: 243987 instead of 2.44e+05.
func Short(v float64, significant int) string {
	if size := math.Abs(v); size >= math.Pow10(max(3, significant-1)) && size < 1e9 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', significant, 64)
}

// Signed is Short with a plus before numbers above 0.
func Signed(v float64, significant int) string {
	if v > 0 {
		return "+" + Short(v, significant)
	}
	return Short(v, significant)
}

// Bytes writes an amount of memory in GiB, a small one in MiB.
func Bytes(bytes float64) string {
	value := bytes / (1 << 30)
	digits := 0
	if value < 100 {
		digits = 1
	}
	if value < 0.1 {
		return fmt.Sprintf("%.0f MiB", math.Ceil(bytes/(1<<20)))
	}
	return fmt.Sprintf("%.*f GiB", digits, value)
}
