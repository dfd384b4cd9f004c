package sideinfo

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// yearOf returns the year in parentheses at the end of a text, as in "Toy Story (1995)".
func yearOf(text string) (year float64, ok bool) {
	text, closed := strings.CutSuffix(strings.TrimSpace(text), ")")
	open := strings.LastIndexByte(text, '(')
	if !closed || open < 0 || len(text)-open != 5 {
		return 0, false
	}
	year, ok = dataset.Number(text[open+1:])
	return year, ok && year >= 1000 && year < 3000
}

// missing reports whether a text has no value of the type.
func (t Type) missing(text string) bool {
	if t == Year {
		_, ok := yearOf(text)
		return !ok
	}
	return dataset.Missing(text)
}
