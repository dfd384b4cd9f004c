package delimited

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kernel-fried-tensor/kft/dataset"
)

const (
	titleRecords = 20 // first records among which a header is looked for
	belowHeader  = 2  // records with as many fields that must follow a header
)

// checkTitle returns an error if the first record is a title and the header follows below it, as in
// tables that were exported as they are printed. Such a record has at most one text, and the header
// a text in each of its fields.
func checkTitle(text []byte, delimiter byte, partial bool) *dataset.InputError {
	delimiters := []byte{delimiter}
	if first, _, _, err := firstRecord(text, delimiter); err == nil && len(first) == 1 { // no delimiter splits a title
		delimiters = []byte("\t,;|")
	}
	for _, d := range delimiters {
		if line := headerBelow(text, d, partial); line > 0 {
			return &dataset.InputError{Line: 1, Problem: fmt.Sprintf("this is not the header, which seems to be in line %d", line),
				Remedy: fmt.Sprintf("remove the lines above the header: tail -n +%d FILE", line)}
		}
	}
	return nil
}

// headerBelow returns the line of a header below lines with at most one text, or 0.
func headerBelow(text []byte, delimiter byte, partial bool) int {
	type record struct{ line, fields, filled, numbers, values int }
	var records []record
	for rest, line := text, 1; len(rest) > 0 && len(records) < titleRecords; {
		fields, blank, length, err := firstRecord(rest, delimiter)
		if err != nil || length == 0 || partial && blank+length == len(rest) {
			break
		}
		r := record{line: line + bytes.Count(rest[:blank], newline), fields: len(fields)}
		for _, field := range fields {
			if field != "" {
				r.filled++
			}
			if looksNumeric(field) {
				r.numbers++
			}
			if looksLikeValue(field) {
				r.values++
			}
		}
		records = append(records, r)
		line += bytes.Count(rest[:blank+length], newline)
		rest = rest[blank+length:]
	}
	header := slices.IndexFunc(records, func(r record) bool { return r.filled > 1 })
	if header < 1 || len(records) <= header+belowHeader {
		return 0
	}
	h := records[header]
	even := !slices.ContainsFunc(records[header:header+belowHeader+1], func(r record) bool { return r.fields != h.fields })
	if h.filled == h.fields && h.numbers == 0 && even && records[header+1].values > 0 {
		return h.line
	}
	return 0
}

// looksLikeValue reports whether a field is a number or a date, perhaps as it is written for people: 1.234,56 €.
func looksLikeValue(field string) bool {
	first, _ := utf8.DecodeRuneInString(field)
	return strings.ContainsAny(field, "0123456789") && !unicode.IsLetter(first)
}
