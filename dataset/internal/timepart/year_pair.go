package timepart

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// ReadYearPairs reads the texts of a column as school or fiscal years, which begin in one year and
// end in the next: 1999/00, 2000-2001. That holds for all of several texts, unlike for months.
func ReadYearPairs(column string, texts []string) (Reading, bool) {
	p, ok := yearPairPart(column, texts)
	if !ok || slices.Min(p.values) == slices.Max(p.values) {
		return Reading{}, false
	}
	_, around, _ := yearPair(texts[0])
	return Reading{Format: Format{Parts: []Part{p.Part}, around: []string{around}}, Values: [][]float64{p.values}}, true
}

// yearPairPart reads the texts of a column as years that are written with the next one: several, or one under the
// name of a year.
func yearPairPart(column string, texts []string) (p partValues, ok bool) {
	if UnitOf(column) == Month || len(texts) == 0 {
		return p, false
	}
	p.Part = Part{Unit: Year, Named: true, Pair: true}
	around := ""
	for i, text := range texts {
		year, words, ok := yearPair(text)
		if !ok || i > 0 && words != around {
			return p, false
		}
		around, p.values = words, append(p.values, year)
	}
	return p, slices.Min(p.values) < slices.Max(p.values) || UnitOf(column) == Year
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
