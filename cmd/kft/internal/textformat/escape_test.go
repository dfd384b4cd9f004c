package textformat

import (
	"bytes"
	"testing"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Zürich 東京\tx\n":      "Zürich 東京\tx\n",
		"\x1b]0;t\a\x1b[31mu": `\x1b]0;t\x07\x1b[31mu`,
		"a\rb\x7f":            `a\x0db\u007f`,
		"\u009b31m":           `\u009b31m`,
		"caf\xe9":             `caf\xe9`,
		"a\u202eb":            `a\u202eb`,
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		var b bytes.Buffer
		if n, err := EscapingWriter(&b).Write([]byte(text)); n != len(text) || err != nil || b.String() != want {
			t.Errorf("%q: wrote %q, %d, %v", text, b.String(), n, err)
		}
	}
}
