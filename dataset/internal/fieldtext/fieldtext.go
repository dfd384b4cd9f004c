// Package fieldtext has helpers for the text of a field: white space, quotes,
// words of flags and counts in messages.
package fieldtext

import (
	"bytes"
	"strings"
)

// Trim removes ASCII white space at both ends.
func Trim[T []byte | string](s T) T {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 } // \t \n \v \f \r

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c-'0' < 10 }

// ClosingQuote returns the position of the quote that closes a field whose text
// starts at from, or -1. Within the field, two quotes stand for one.
func ClosingQuote(text []byte, from int) int {
	for {
		q := bytes.IndexByte(text[from:], '"')
		if q < 0 {
			return -1
		}
		q += from
		if q+1 == len(text) || text[q+1] != '"' {
			return q
		}
		from = q + 2
	}
}

// AppendQuoted appends a field as CSV: in quotes if it would be misread without
// them.
func AppendQuoted(dst, field []byte, delimiter byte) []byte {
	if bytes.IndexByte(field, delimiter) < 0 && !bytes.ContainsAny(field, "\"\n\r") && (len(field) == 0 || len(Trim(field)) == len(field)) {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(string(field), `"`, `""`)...)
	return append(dst, '"')
}

// AppendRecord appends n fields as CSV, with a delimiter between them.
func AppendRecord(dst []byte, n int, delimiter byte, field func(c int) []byte) []byte {
	for c := range n {
		if c > 0 {
			dst = append(dst, delimiter)
		}
		dst = AppendQuoted(dst, field(c), delimiter)
	}
	return dst
}
