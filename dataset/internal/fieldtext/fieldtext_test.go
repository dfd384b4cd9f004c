package fieldtext

import "testing"

func TestTrim(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", " \t": "", " a b\r\n": "a b", "a": "a", "\u00a0a": "\u00a0a"} {
		if got := Trim(text); got != want {
			t.Errorf("Trim(%q) = %q, want %q", text, got, want)
		}
		if got := string(Trim([]byte(text))); got != want {
			t.Errorf("Trim([]byte(%q)) = %q, want %q", text, got, want)
		}
	}
}

func TestClosingQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{`"a"`: 2, `"a""b",c`: 5, `"a`: -1, `"a""`: -1, `""`: 1} {
		if got := ClosingQuote([]byte(text), 1); got != want {
			t.Errorf("ClosingQuote(%s, 1) = %d, want %d", text, got, want)
		}
	}
}

func TestAppendRecord(t *testing.T) {
	t.Parallel()
	fields := []string{"a", "", "b,c", `d"e`, " f", "g\nh", "i;j"}
	got := string(AppendRecord(nil, len(fields), ',', func(c int) []byte { return []byte(fields[c]) }))
	if want := "a,,\"b,c\",\"d\"\"e\",\" f\",\"g\nh\",i;j"; got != want {
		t.Errorf("got record %s, want %s", got, want)
	}
}

// Names of columns are the same after they were written in a mode.
func TestQuoteColumn(t *testing.T) {
	for name, want := range map[string]string{"price": "price", "a+b": `"a+b"`, `5" pipe`: `"5"" pipe"`, "\u00a0": "\"\u00a0\"", "year\u00a0": "\"year\u00a0\"", "unit price": "unit price"} {
		quoted := QuoteColumn(name)
		if got, ok := UnquoteColumn(quoted); quoted != want || !ok || got != name {
			t.Errorf("%q: written as %q, read as %q", name, quoted, got)
		}
	}
}
