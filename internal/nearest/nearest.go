// Package nearest finds the name a user most likely meant.
//
// The distance is Levenshtein's, over runes without regard to case:
// O(len(a) len(b)) a pair.
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

func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			above := row[j+1]
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(diagonal+cost, above+1, row[j]+1)
			diagonal = above
		}
	}
	return row[len(b)]
}
