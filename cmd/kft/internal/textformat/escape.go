package textformat

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Escape returns text that a terminal shows as it is: control characters other than line
// feed and tab, characters that change the direction of writing, and bytes that are not
// UTF-8 are replaced by escapes such as \x1b. JSON stays the same JSON: its encoder leaves
// only characters to replace for which the escape is that of JSON, \u007f. Names from a table or a model file could
// otherwise change the title of the terminal, its colours, or what was printed before.
func Escape(text string) string {
	if !needsEscape(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < ' ' && isControl(r):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isControl(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

func needsEscape(text string) bool {
	return !utf8.ValidString(text) || strings.IndexFunc(text, isControl) >= 0
}

// isControl reports whether a terminal may act on the character instead of showing it:
// C0 and C1 controls, DEL, line and paragraph separators, and the directional formatting
// characters of Unicode.
func isControl(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// EscapingWriter returns a writer that escapes text. Each call of Write must contain whole
// characters, as calls of package fmt do.
func EscapingWriter(w io.Writer) io.Writer { return escapingWriter{w} }

type escapingWriter struct{ w io.Writer }

func (e escapingWriter) Write(p []byte) (int, error) {
	text := string(p)
	if !needsEscape(text) {
		return e.w.Write(p)
	}
	if _, err := io.WriteString(e.w, Escape(text)); err != nil {
		return 0, err
	}
	return len(p), nil
}
