package periodtext

import "testing"

func TestCut(t *testing.T) {
	t.Parallel()
	tokens := Cut("Jan 2016-W05")
	text, numbers := "", 0.0
	for _, token := range tokens {
		text += token.Text
		numbers += token.Number
	}
	if text != "Jan 2016-W05" || numbers != 1+2016+5 || tokens[0].Kind != Month || tokens[2].Kind != Number || tokens[4].Kind != Other {
		t.Errorf("got %+v", tokens)
	}
	for want, got := range map[string]string{"SEP": MonthName(9, "JAN", true), "september": MonthName(9, "may", false), "May": MonthName(5, "Jan", true), "Jun.": MonthName(6, "Dec.", true)} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestMonthsOfLanguages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"janv. 2016": 1, "février 2016": 2, "mars 2016": 3, "août-16": 8, "Déc 2016": 12, "enero 2016": 1, "ABR 2016": 4, "Dicembre 2016": 12, "março 2016": 3, "mrt 2016": 3, "Mai 2016": 5,
	} {
		if tokens := Cut(text); tokens[0].Kind != Month || tokens[0].Number != want || len(tokens) != 3 {
			t.Errorf("%s: got %+v, want month %v", text, tokens, want)
		}
	}
	for _, text := range []string{"set 2016", "out 2016", "gene 2016"} {
		if tokens := Cut(text); tokens[0].Kind == Month {
			t.Errorf("%s: got a month", text)
		}
	}
}
