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
	for want, got := range map[string]string{"SEP": MonthName(9, "JAN", true), "september": MonthName(9, "may", false), "May": MonthName(5, "Jan", true)} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
