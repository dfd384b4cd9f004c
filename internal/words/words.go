// Package words finds the words of short texts, such as names of articles.
package words

import (
	"slices"
	"strings"
	"unicode"
)

// Split returns the distinct words of a text in lower case: runs of two letters or more.
// Numbers and signs separate words.
func Split(text string) []string {
	var found []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len([]rune(word)) > 1 && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}

// Describe reports whether texts are descriptions rather than names of categories: most
// are different, they have two words or more on average, and most share a word with another
// text.
func Describe(texts []string) bool {
	distinct := map[string]bool{}
	for _, text := range texts {
		distinct[text] = true
	}
	if 2*len(distinct) <= len(texts) || len(texts) < 2 {
		return false
	}
	count, total := map[string]int{}, 0
	for text := range distinct {
		for _, word := range Split(text) {
			count[word]++
			total++
		}
	}
	shared := 0
	for text := range distinct {
		if slices.ContainsFunc(Split(text), func(word string) bool { return count[word] > 1 }) {
			shared++
		}
	}
	return total >= 2*len(distinct) && 2*shared > len(distinct)
}
