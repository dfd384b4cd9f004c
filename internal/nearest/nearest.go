// Package nearest finds the name a user most likely meant.
//
// The distance is Levenshtein's with swaps of neighbours, over runes without
// regard to case: O(len(a) len(b)) a pair.
package nearest

import (
	"fmt"
	"strings"
)

// Name returns the candidate nearest to name, or "" where none is near enough
// to be a likely slip: the distance may be a third of the name's length, one
// at least.
func Name(name string, candidates []string) string {
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
	if n := Name(name, candidates); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	return ""
}

// distance counts insertions, deletions, changes and swaps of neighbours.
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
