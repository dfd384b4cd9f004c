package delimited

import (
	"strings"
	"unicode"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// Header specifies whether the first row of a table contains the names of its columns.
type Header uint8

const (
	HeaderAuto Header = iota // yes, unless a field of the first row is a number
	HeaderYes
	HeaderNo // the columns have the names c1, c2, ...
)

// ParseHeader reads auto, yes or no.
func ParseHeader(s string) (Header, error) {
	for h := HeaderAuto; h <= HeaderNo; h++ {
		if s == h.String() {
			return h, nil
		}
	}
	return 0, fielderr.Errorf("data.header", "unknown header %q; write auto, yes or no", s)
}

// String returns auto, yes or no.
func (h Header) String() string { return [...]string{"auto", "yes", "no"}[h] }

// Format describes the text form of a table.
type Format struct {
	Delimiter byte // 0 detects comma, semicolon, tab, bar, or two colons or bars
	Header    Header

	// Long is a delimiter of several characters, as in a::b, or "". Such a text is read
	// with a stand-in for it, which then is the Delimiter of the layout.
	Long string
}

// standIn replaces a delimiter of several characters: the unit separator of ASCII,
// which texts do not contain.
const standIn = 0x1f

// SetDelimiter sets the delimiter that a text names: what ParseDelimiter reads, or
// several characters.
func (f *Format) SetDelimiter(s string) error {
	if len(s) > 1 && len(s) <= longestDelimiter {
		punctuation := strings.TrimFunc(s, func(r rune) bool {
			return r > ' ' && r < 0x7f && r != '"' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\\'
		})
		if punctuation == "" {
			f.Delimiter, f.Long = 0, s
			return nil
		}
	}
	d, err := ParseDelimiter(s)
	if err != nil {
		return err
	}
	f.Delimiter, f.Long = d, ""
	return nil
}

// longestDelimiter bounds the length of a delimiter.
const longestDelimiter = 8

// ParseDelimiter reads a delimiter: one character, or auto, comma, semicolon,
// tab (also \t), bar or space.
func ParseDelimiter(s string) (byte, error) {
	named := map[string]byte{"auto": 0, "": 0, "comma": ',', "semicolon": ';', "tab": '\t', `\t`: '\t', "bar": '|', "space": ' '}
	if d, ok := named[s]; ok {
		return d, nil
	}
	if len(s) == 1 && isDelimiter(s[0]) {
		return s[0], nil
	}
	return 0, fielderr.Errorf("data.delimiter", "%q cannot be a delimiter; write one character, several signs such as ::, or auto, comma, semicolon, tab, bar or space", s)
}

func isDelimiter(c byte) bool { return c != '"' && c != '\n' && c != '\r' && c != 0 && c < 0x80 }
