package timepart

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/periodtext"
)

// Numbers returns the numbers in a text, their units if the text names them, and
// the text with a mark in place of each number.
func Numbers(text string) (numbers []float64, found []Unit, around string) {
	var words strings.Builder
	tokens := periodtext.Cut(text)
	for i, token := range tokens {
		switch token.Kind {
		case periodtext.Number:
			unit := None
			if i > 1 || i == 1 && len(tokens) > 2 { // 2016Q1, W05/2016
				unit = markedUnit(tokens[max(i-1, 0)].Text)
			}
			if unit == Quarter && i >= 2 && len(tokens[i-2].Text) == 1 && tokens[i-2].Kind == periodtext.Number && len(token.Text) > 1 { // 1Q16
				found[len(found)-1], unit = Quarter, None
			}
			numbers, found = append(numbers, token.Number), append(found, unit)
			words.WriteByte(0)
		case periodtext.Month:
			numbers, found = append(numbers, token.Number), append(found, Month)
			words.WriteByte(1)
		case periodtext.Weekday:
			words.WriteByte(weekdayMark)
		default:
			words.WriteString(strings.ToLower(token.Text))
		}
	}
	return numbers, found, words.String()
}

// weekdayMark stands for the name of a weekday, which differs between dates.
const weekdayMark = 2

// markedUnit returns the unit of a number after the mark Q or W.
func markedUnit(mark string) Unit {
	switch strings.ToLower(mark) {
	case "q", "qtr", "quarter":
		return Quarter
	case "w", "wk", "week":
		return Week
	}
	return None
}
