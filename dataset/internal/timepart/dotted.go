package timepart

import (
	"strconv"
	"strings"
)

// dottedMonths reports whether every text is a month before its year, as in 01.2016, which
// is not the number 1.2016.
func dottedMonths(values []string) bool {
	for _, text := range values {
		month, year, ok := strings.Cut(text, ".")
		m, err := strconv.Atoi(month)
		if !ok || err != nil || len(month) > 2 || m < 1 || m > 12 || len(year) != 4 || year < "1900" || year > "2100" {
			return false
		}
	}
	return len(values) > 0
}

// DottedPeriods reports whether every text is a month before its year or a quarter behind it, as in
// 01.2016 and 2016.4, which are not decimal numbers.
func DottedPeriods(values []string) bool { return dottedMonths(values) || dottedQuarters(values) }

// fewDottedQuarters is the number of values below which numbers such as 2016.1 are no quarters.
const fewDottedQuarters = 8

// dottedQuarters reports whether the texts are years with a quarter, as in 2016.4, and all four
// quarters are among them.
func dottedQuarters(values []string) bool {
	seen := map[string]bool{}
	for _, text := range values {
		year, quarter, _ := strings.Cut(text, ".")
		if len(year) != 4 || year < "1900" || year > "2100" || len(quarter) != 1 || quarter < "1" || quarter > "4" {
			return false
		}
		seen[quarter] = true
	}
	return len(values) >= fewDottedQuarters && len(seen) == 4
}
