// Package periodtext finds the numbers in the text of a period: 2016Q1, week 12,
// Jan 2016.
package periodtext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// A Token is a piece of a text: a number, the name of a month or a weekday, or anything else.
type Token struct {
	Text   string
	Kind   Kind
	Number float64 // of a number, a month, or a weekday from 0 for Sunday
}

// Kind is what a token is.
type Kind uint8

// Kinds of tokens.
const (
	Other   Kind = iota // a word, or one other character
	Number              // digits
	Month               // the name of a month, which counts as a number
	Weekday             // the name of a weekday beside a date
)

// dateNumbers is the number of numbers and months of a date, beside which weekdays are recognised.
const dateNumbers = 3

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
				if i+1 < len(text) && text[i] == '.' && text[i+1] == ' ' { // an abbreviation: janv. 2016 beside mars 2016
					i++
				}
			}
		default:
			i++
		}
		token.Text = text[start:i]
		tokens = append(tokens, token)
	}
	findWeekdays(tokens)
	return tokens
}

// findWeekdays marks the names of weekdays in the text of a date.
func findWeekdays(tokens []Token) {
	numbers := 0
	for _, token := range tokens {
		if token.Kind != Other {
			numbers++
		}
	}
	if numbers < dateNumbers {
		return
	}
	for i := range tokens {
		token := &tokens[i]
		if day, ok := weekdays[strings.ToLower(token.Text)]; ok && token.Kind == Other {
			token.Kind, token.Number = Weekday, float64(day)
		}
	}
}

// weekdays are the names of weekdays in English and German, from Sunday.
var weekdays = func() map[string]int {
	named := map[string]int{"tues": 2, "thur": 4, "thurs": 4, "wednes": 3}
	for i, name := range strings.Fields("sunday monday tuesday wednesday thursday friday saturday") {
		named[name], named[name[:3]] = i, i
	}
	for i, name := range strings.Fields("sonntag montag dienstag mittwoch donnerstag freitag samstag") {
		named[name], named[name[:2]] = i, i
	}
	return named
}()

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
	return otherMonths[word]
}

// otherMonths are the names and abbreviations in German, French, Spanish, Italian, Portuguese and
// Dutch that differ from English ones. Abbreviations that are English words, such as set and out,
// are not among them.
var otherMonths = func() map[string]int {
	named := map[string]int{}
	for i, names := range []string{
		"januar jän janvier janv enero ene gennaio janeiro januari",
		"februar février fevrier févr fév febrero febbraio fevereiro fev februari",
		"märz maerz mär mrz mars marzo março maart mrt",
		"avril avr abril abr aprile",
		"mai mayo maggio maio mei",
		"juni juin junio giugno giu junho",
		"juli juillet juil julio luglio lug julho",
		"août aout agosto ago augustus",
		"septembre septiembre setiembre settembre setembro",
		"oktober okt octobre octubre ottobre ott outubro",
		"novembre noviembre novembro",
		"dezember dez décembre decembre déc diciembre dicembre dic dezembro",
	} {
		for _, name := range strings.Fields(names) {
			named[name] = i + 1
		}
	}
	return named
}()

// MonthName writes the name of month 1 to 12 as the example is written: in full unless
// short, in its case.
func MonthName(month int, example string, short bool) string {
	name := months()[month-1]
	if short {
		name = name[:3]
	}
	if strings.HasSuffix(example, ".") && month != 5 {
		name += "."
	}
	switch example {
	case strings.ToUpper(example):
		return strings.ToUpper(name)
	case strings.ToLower(example):
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}
