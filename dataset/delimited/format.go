package delimited

import "github.com/kernel-fried-tensor/kft/internal/fielderr"

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
	Delimiter byte // 0 detects comma, semicolon, tab or bar
	Header    Header
}

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
	return 0, fielderr.Errorf("data.delimiter", "%q cannot be a delimiter; write one character, or auto, comma, semicolon, tab, bar or space", s)
}

func isDelimiter(c byte) bool { return c != '"' && c != '\n' && c != '\r' && c != 0 && c < 0x80 }
