package delimited

import "testing"

func TestParseFormat(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]byte{"auto": 0, "": 0, "tab": '\t', `\t`: '\t', ",": ',', "comma": ',', ";": ';', "bar": '|', "space": ' ', "^": '^'} {
		if got, err := ParseDelimiter(text); err != nil || got != want {
			t.Errorf("ParseDelimiter(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"\"", "\n", "::", "é"} {
		if got, err := ParseDelimiter(text); err == nil {
			t.Errorf("ParseDelimiter(%q) = %q, want an error", text, got)
		}
	}
	for h := HeaderAuto; h <= HeaderNo; h++ {
		if got, err := ParseHeader(h.String()); err != nil || got != h {
			t.Errorf("ParseHeader(%q) = %v, %v", h, got, err)
		}
	}
	if _, err := ParseHeader("maybe"); err == nil || err.Error() != `unknown header "maybe"; write auto, yes or no` {
		t.Errorf("ParseHeader(maybe): got error %v", err)
	}
}
