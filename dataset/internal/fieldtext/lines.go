package fieldtext

import "strings"

// longName is the length of a text from which a line break tells that it is no name.
const longName = 100

// SeveralLines reports whether texts have several lines, as comments have: most of them, or a long one. A few names may
// have a line break too.
func SeveralLines(texts []string) bool {
	n := 0
	for _, text := range texts {
		if strings.Contains(text, "\n") {
			if len(text) >= longName {
				return true
			}
			n++
		}
	}
	return 2*n > len(texts)
}
