// Package plural writes numbers of things in messages.
package plural

import "strconv"

// Count returns "1 row" or "3 rows".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
