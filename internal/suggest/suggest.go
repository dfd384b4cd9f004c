// Package suggest finds the name that a user most likely meant.
//
// The distance is the Levenshtein distance with transpositions, over runes and
// ignoring case: O(len(a) len(b)) per pair.
package suggest

import (
	"fmt"
	"strings"
)

// Nearest returns the candidate nearest to name, or "" if none is near enough for a
// likely typing error: the distance must be at most a third of the length of the
// name, but at least one.
func Nearest(name string, candidates []string) string {
	want := []rune(strings.ToLower(name))
	best, bestDistance := "", max(1, len(want)/3)+1
	for _, c := range candidates {
		if d := distance(want, []rune(strings.ToLower(c))); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// Hint returns ` (did you mean "x"?)` for the nearest candidate, or "".
func Hint(name string, candidates []string) string {
	if n := Nearest(name, candidates); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	return ""
}

// distance counts insertions, deletions, substitutions and transpositions.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
