package timepart

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// ReadYearPairs reads the texts of a column as school or fiscal years, which begin in one year and
// end in the next: 1999/00, 2000-2001. That holds for all of several texts, unlike for months.
func ReadYearPairs(column string, texts []string) (Reading, bool) {
	if UnitOf(column) == Month {
		return Reading{}, false
	}
	around, years := "", make([]float64, len(texts))
	for i, text := range texts {
		year, words, ok := yearPair(text)
		if !ok || i > 0 && words != around {
			return Reading{}, false
		}
		around, years[i] = words, year
	}
	if len(years) < 2 || slices.Min(years) == slices.Max(years) {
		return Reading{}, false
	}
	f := Format{Parts: []Part{{Unit: Year, Named: true}}, TwoYears: true, around: []string{around}}
	return Reading{Format: f, Values: [][]float64{years}}, true
}

// yearPair returns the first of two years, and the text with a mark in place of each
// digit.
func yearPair(text string) (year float64, around string, ok bool) {
	var words strings.Builder
	var numbers []periodtext.Token
	for _, token := range periodtext.Cut(text) {
		switch token.Kind {
		case periodtext.Month:
			return 0, "", false
		case periodtext.Number:
			words.WriteString(strings.Repeat("\x00", len(token.Text)))
			numbers = append(numbers, token)
		default:
			words.WriteString(strings.ToLower(token.Text))
		}
	}
	if len(numbers) != 2 || len(numbers[0].Text) != 4 {
		return 0, "", false
	}
	year, next := numbers[0].Number, numbers[0].Number+1
	switch len(numbers[1].Text) {
	case 2:
		ok = numbers[1].Number == float64(int(next)%100)
	case 4:
		ok = numbers[1].Number == next
	}
	return year, words.String(), ok && year >= 1000 && year < 3000 && strings.Trim(words.String(), "\x00") != ""
}
