package fieldtext

import "strings"

// SeveralLines reports whether most texts have several lines, as comments have. A few names may have
// them too.
func SeveralLines(texts []string) bool {
	n := 0
	for _, text := range texts {
		if strings.Contains(text, "\n") {
			n++
		}
	}
	return 2*n > len(texts)
}
