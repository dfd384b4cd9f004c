package fieldtext

import "strings"

// DateShape returns the date of a text with its digits as 0: 00/00/0000. Runs of up to
// two digits count as two, because 1/12/2016 and 11/2/2016 have one format.
func DateShape(text string) string {
	text, _, _ = strings.Cut(text, " ")
	text, _, _ = strings.Cut(text, "T")
	var shape strings.Builder
	for i := 0; i < len(text); {
		n := 0
		for i+n < len(text) && text[i+n] >= '0' && text[i+n] <= '9' {
			n++
		}
		switch {
		case n == 0:
			shape.WriteByte(text[i])
			i++
		default:
			shape.WriteString(strings.Repeat("0", max(2, n)))
			i += n
		}
	}
	return shape.String()
}
