// Package periodtext finds the numbers in the text of a period: 2016Q1, week 12,
// Jan 2016.
package periodtext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// A Token is a piece of a text: a number, the name of a month, or anything else.
type Token struct {
	Text   string
	Kind   Kind
	Number float64 // of a number or a month
}

// Kind is what a token is.
type Kind uint8

// Kinds of tokens.
const (
	Other  Kind = iota // a word, or one other character
	Number             // digits
	Month              // the name of a month, which counts as a number
)

// Cut splits a text into tokens. Their texts make up the text.
func Cut(text string) []Token {
	isLetter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
	var tokens []Token
	for i := 0; i < len(text); {
		start := i
		token := Token{}
		switch {
		case fieldtext.IsDigit(text[i]):
			for i < len(text) && fieldtext.IsDigit(text[i]) {
				i++
			}
			token.Kind = Number
			token.Number, _ = strconv.ParseFloat(text[start:i], 64)
		case isLetter(text[i]):
			for i < len(text) && isLetter(text[i]) {
				i++
			}
			if month := monthNamed(strings.ToLower(text[start:i])); month > 0 {
				token.Kind, token.Number = Month, float64(month)
			}
		default:
			i++
		}
		token.Text = text[start:i]
		tokens = append(tokens, token)
	}
	return tokens
}

// CutYear splits a number such as 201612 into its year and the month or the week, of which
// there are at most so many.
func CutYear(text string, most float64) ([]Token, bool) {
	if len(text) != 6 || strings.Trim(text, "0123456789") != "" {
		return nil, false
	}
	tokens := slices.Concat(Cut(text[:4]), Cut(text[4:]))
	year, within := tokens[0].Number, tokens[1].Number
	return tokens, year >= 1900 && year < 2100 && within >= 1 && within <= most
}

func months() []string {
	return []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
}

func monthNamed(word string) int {
	for i, name := range months() {
		if word == name || word == name[:3] || word == "sept" && i == 8 {
			return i + 1
		}
	}
	return 0
}

// MonthName writes the name of month 1 to 12 as the example is written: in full unless
// short, in its case.
func MonthName(month int, example string, short bool) string {
	name := months()[month-1]
	if short {
		name = name[:3]
	}
	switch example {
	case strings.ToUpper(example):
		return strings.ToUpper(name)
	case strings.ToLower(example):
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
