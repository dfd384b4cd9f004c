package dataset

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Header says whether a table's first row holds the names of its columns.
type Header uint8

const (
	HeaderAuto Header = iota // yes, unless a field of the first row is a number
	HeaderYes
	HeaderNo // the columns are called c1, c2, ...
)

// ParseHeader reads auto, yes or no.
func ParseHeader(s string) (Header, error) {
	for h := HeaderAuto; h <= HeaderNo; h++ {
		if s == h.String() {
			return h, nil
		}
	}
	return 0, fmt.Errorf("unknown header %q; write auto, yes or no", s)
}

func (h Header) String() string { return [...]string{"auto", "yes", "no"}[h] }

// Format says how a table is written.
type Format struct {
	Delimiter byte // 0 detects comma, semicolon, tab or bar
	Header    Header
	Stdin     io.Reader // what the name "-" stands for; nil is the process's standard input
}

func (f Format) stdin() io.Reader {
	if f.Stdin == nil {
		return os.Stdin
	}
	return f.Stdin
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
	return 0, fmt.Errorf("%q cannot be a delimiter; write one character, or auto, comma, semicolon, tab, bar or space", s)
}

func isDelimiter(c byte) bool { return c != '"' && c != '\n' && c != '\r' && c != 0 && c < 0x80 }

// layout is what the head of a file tells: its format and its columns.
type layout struct {
	format Format
	names  []string
	header []byte // the header's line as it stands, nil without header
	lines  int    // the header's lines

	headerGiven bool   // the caller said whether there is one
	lineEnd     string // of the first row
}

// readLayout detects the format and takes the header off the source. wanted are
// columns the caller will ask for: a first row that holds them all is a header
// even where some name looks like a number.
func (s *source) readLayout(format Format, wanted []string) (*layout, error) {
	text := append(bytes.Clone(s.carry), '\n')
	if format.Delimiter == 0 {
		format.Delimiter = detectDelimiter(text, !s.eof)
	} else if !isDelimiter(format.Delimiter) {
		return nil, &InputError{File: s.name, Problem: fmt.Sprintf("%q cannot be a delimiter", format.Delimiter), Remedy: "choose another, or let it be detected"}
	}
	s.delimiter = format.Delimiter
	l := &layout{format: format, headerGiven: format.Header != HeaderAuto, lineEnd: "\n"}
	first, blank, length, err := firstRecord(text, format.Delimiter)
	if err != nil {
		return nil, inFile(err, s.name)
	}
	if blank+length > len(s.carry) && !s.eof {
		return nil, &InputError{File: s.name, Line: 1, Problem: fmt.Sprintf("the first row is longer than %d KB", headSize>>10), Remedy: "check that this is a table with one row a line"}
	}
	if end := blank + length; end >= 2 && end <= len(s.carry) && s.carry[end-2] == '\r' {
		l.lineEnd = "\r\n"
	}
	if format.Header == HeaderAuto {
		l.format.Header = HeaderYes
		if slices.ContainsFunc(first, looksNumeric) && !containsAll(first, wanted) {
			l.format.Header = HeaderNo
		}
	}
	if l.format.Header == HeaderNo {
		for i := range first {
			l.names = append(l.names, fmt.Sprintf("c%d", i+1))
		}
		return l, nil
	}
	seen := map[string]bool{}
	for i, name := range first {
		if name == "" {
			name = fmt.Sprintf("c%d", i+1)
		}
		if seen[name] {
			return nil, &InputError{File: s.name, Line: 1 + bytes.Count(s.carry[:blank], newline), Column: name, Problem: "the header names this column twice", Remedy: "rename one of them"}
		}
		seen[name] = true
		l.names = append(l.names, name)
	}
	record := s.carry[blank:min(blank+length, len(s.carry))]
	l.header = bytes.Clone(bytes.TrimRight(record, "\r\n"))
	l.lines = bytes.Count(s.carry[:blank+len(record)], newline)
	s.carry = s.carry[blank+len(record):]
	return l, nil
}

// firstRecord returns the fields of the first record that is not blank, the bytes
// before it, and its length with line end. The text ends in a newline.
func firstRecord(text []byte, delimiter byte) (fields []string, blank, length int, err error) {
	for blank < len(text) {
		n := blankLine(text[blank:])
		if n == 0 {
			break
		}
		blank += n
	}
	if blank == len(text) {
		return nil, blank, 0, nil
	}
	r := rows{raw: text}
	r.startSlow()
	next, columns, problem := r.record(blank, delimiter)
	if problem != nil {
		problem.Line = 1 + bytes.Count(text[:blank], newline)
		return nil, 0, 0, problem
	}
	r.columns = columns
	for c := range columns {
		fields = append(fields, string(r.field(0, c)))
	}
	return fields, blank, next - blank, nil
}

// detectDelimiter takes the candidate that cuts the first rows most evenly: into
// the same number of fields, more than one, as often as possible, and then into
// the most; of equals the tab, which is seldom part of a text. The text ends in a
// newline; partial says that its last row may be cut short.
func detectDelimiter(text []byte, partial bool) byte {
	best, bestEven, bestFields := byte(','), 0, 1
	for _, candidate := range []byte("\t,;|") {
		rest, even, fieldsOfFirst := text, 0, 0
		for n := 0; n < 20 && len(rest) > 0; n++ {
			fields, blank, length, err := firstRecord(rest, candidate)
			if err != nil || n > 0 && partial && blank+length == len(rest) {
				break
			}
			if n == 0 {
				fieldsOfFirst = len(fields)
			}
			if len(fields) == fieldsOfFirst {
				even++
			}
			rest = rest[blank+length:]
		}
		if fieldsOfFirst > 1 && (even > bestEven || even == bestEven && fieldsOfFirst > bestFields) {
			best, bestEven, bestFields = candidate, even, fieldsOfFirst
		}
	}
	return best
}

func looksNumeric(field string) bool {
	_, kind := parseNumber([]byte(field))
	return kind == isNumber
}

func containsAll(have, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return len(wanted) > 0
}

// find returns the index of a column, or an error with the nearest name.
func (l *layout) find(file, name string) (int, *InputError) {
	if i := slices.Index(l.names, name); i >= 0 {
		return i, nil
	}
	remedy := "choose one of " + strings.Join(l.names, ", ")
	switch called := fmt.Sprintf("the columns are called c1 to c%d", len(l.names)); {
	case l.format.Header != HeaderNo:
	case l.headerGiven:
		remedy = "the table is said to have no header (--header no), so " + called + "; use those names, or leave that out"
	default:
		remedy = "the first row holds a number, so it was read as data and " + called + "; say that there is a header (--header yes), or use those names"
	}
	return 0, &InputError{File: file, Column: name, Problem: "the table has no such column" + suggest.Hint(name, l.names), Remedy: remedy}
}
