package dataset

import (
	"bytes"
	"strings"
)

// WholeID returns the id 12 for 12.0, as programs write whole numbers of a column in which a value is missing, and other ids as they are.
func WholeID(id []byte) []byte {
	point := bytes.IndexByte(id, '.')
	if point < 1 || !isWhole(id[:point]) || len(id) == point+1 || strings.Trim(string(id[point+1:]), "0") != "" {
		return id
	}
	return id[:point]
}

// isWhole reports whether a text is a whole number without leading zeros.
func isWhole(text []byte) bool {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Alike returns the code of the id that is the same whole number as an unknown id: that of 12 for 12.0, and the other way round.
func (d *Dict) Alike(id []byte) (int32, bool) {
	if whole := WholeID(id); len(whole) < len(id) {
		if code, ok := d.Code(whole); ok {
			return code, true
		}
		id = whole
	}
	if !isWhole(id) {
		return 0, false
	}
	return d.Code(append(append(make([]byte, 0, len(id)+2), id...), ".0"...))
}
