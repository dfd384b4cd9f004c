package delimited

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
)

// Layout is the format of a table and its columns.
type Layout struct {
	Format  Format // as detected
	Names   []string
	Header  []byte // line of the header as it is written; nil without header
	Lines   int    // number of lines up to the end of the header
	LineEnd string // of the first row, "\n" or "\r\n"
	Marked  bool   // the text starts with a byte order mark

	headerGiven bool // the caller said whether there is a header
}

// ReadLayout detects the format and skips the header. It must be called before Next.
// A first row that contains all the wanted columns is a header, even if a name looks
// like a number.
func (b *Blocks) ReadLayout(format Format, wanted []string) (*Layout, error) {
	if format.Long == "" && format.Delimiter == 0 {
		format.Delimiter, format.Long = detectDelimiter(append(bytes.Clone(b.carry), '\n'), !b.eof)
	}
	if format.Long != "" {
		format.Delimiter = standIn
		if err := b.replace(format.Long); err != nil {
			return nil, dataset.InFile(err, b.name)
		}
	}
	text := append(bytes.Clone(b.carry), '\n')
	if !isDelimiter(format.Delimiter) {
		return nil, &dataset.InputError{File: b.name, Problem: fmt.Sprintf("%q cannot be a delimiter", format.Delimiter), Remedy: "choose another, or let it be detected", Field: "data.delimiter"}
	}
	b.delimiter = format.Delimiter
	l := &Layout{Format: format, headerGiven: format.Header != HeaderAuto, LineEnd: "\n", Marked: b.marked}
	first, blank, length, err := firstRecord(text, format.Delimiter)
	if err != nil {
		return nil, dataset.InFile(err, b.name)
	}
	if blank+length > len(b.carry) && !b.eof {
		return nil, &dataset.InputError{File: b.name, Line: 1, Problem: fmt.Sprintf("the first row is longer than %d KB", headSize>>10), Remedy: "check that this is a table with one row per line"}
	}
	if end := blank + length; end >= 2 && end <= len(b.carry) && b.carry[end-2] == '\r' {
		l.LineEnd = "\r\n"
	}
	if format.Header == HeaderAuto {
		l.Format.Header = HeaderYes
		if !containsAll(first, wanted) {
			if problem := checkTitle(text, format.Delimiter, !b.eof); problem != nil {
				return nil, dataset.InFile(problem, b.name)
			}
			second, _, _, _ := firstRecord(text[min(blank+length, len(text)):], format.Delimiter)
			if !isHeader(first, second) {
				l.Format.Header = HeaderNo
			}
		}
	}
	if l.Format.Header == HeaderNo {
		for i := range first {
			l.Names = append(l.Names, fmt.Sprintf("c%d", i+1))
		}
		return l, nil
	}
	seen := map[string]bool{}
	for i, name := range first {
		if name == "" {
			name = fmt.Sprintf("c%d", i+1)
		}
		if seen[name] {
			return nil, &dataset.InputError{File: b.name, Line: 1 + bytes.Count(b.carry[:blank], newline), Column: name, Problem: "the header contains this column twice", Remedy: "rename one of them"}
		}
		seen[name] = true
		l.Names = append(l.Names, name)
	}
	record := b.carry[blank:min(blank+length, len(b.carry))]
	l.Header = bytes.Clone(bytes.TrimRight(record, "\r\n"))
	l.Lines = bytes.Count(b.carry[:blank+len(record)], newline)
	b.carry = b.carry[blank+len(record):]
	return l, nil
}

// firstRecord returns the fields of the first record that is not blank, the number of
// bytes before it, and its length including the line end. The text ends in a newline.
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
	r := Rows{raw: text}
	r.startSlow()
	next, columns, problem := r.record(blank, delimiter)
	if problem != nil {
		problem.Line = 1 + bytes.Count(text[:blank], newline)
		return nil, 0, 0, problem
	}
	r.columns = columns
	for c := range columns {
		fields = append(fields, string(r.Field(0, c)))
	}
	return fields, blank, next - blank, nil
}

// detectDelimiter returns the candidate that splits the largest number of the first
// rows into the same number of fields, more than one, and among those the candidate
// with the most fields. Ties go to the tab, which is rarely part of a text. The text
// ends in a newline; partial says that its last row may be incomplete. Two colons or
// two bars are a candidate if no other splits as many rows.
func detectDelimiter(text []byte, partial bool) (delimiter byte, long string) {
	best, bestEven, bestFields := byte(','), 0, 1
	for _, candidate := range []string{"\t", ",", ";", "|", "::", "||"} {
		rest, even, fieldsOfFirst := text, 0, 0
		if len(candidate) > 1 {
			if !bytes.Contains(text, []byte(candidate)) {
				continue
			}
			rest = replaceDelimiter(text, candidate)
		}
		sign := candidate[0]
		if len(candidate) > 1 {
			sign = standIn
		}
		for n := 0; n < 20 && len(rest) > 0; n++ {
			fields, blank, length, err := firstRecord(rest, sign)
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
		// A bar splits a||b into more fields than two bars do, one of them always empty.
		doubled := candidate == "||" && best == '|' && even == bestEven && 2*fieldsOfFirst-1 == bestFields
		if fieldsOfFirst > 1 && (even > bestEven || even == bestEven && fieldsOfFirst > bestFields || doubled) {
			best, long, bestEven, bestFields = sign, "", even, fieldsOfFirst
			if len(candidate) > 1 {
				long = candidate
			}
		}
	}
	if long != "" {
		return 0, long
	}
	return best, ""
}

func looksNumeric(field string) bool {
	_, kind := numeric.Parse([]byte(field))
	return kind == numeric.Finite
}

func containsAll(have, wanted []string) bool {
	for _, w := range wanted {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return len(wanted) > 0
}

// MissingColumn returns an error about a column that the table does not have.
func (l *Layout) MissingColumn(file, name string) *dataset.InputError {
	err := dataset.MissingColumn(file, name, l.Names)
	switch given := fmt.Sprintf("the columns have the names c1 to c%d", len(l.Names)); {
	case l.Format.Header != HeaderNo:
	case l.headerGiven:
		err.Remedy = "data.header is no, so " + given + "; use those names, or set data.header to auto"
		err.Field = "data.header"
	default:
		err.Remedy = "the first row contains a number, so it was read as data and " + given + "; set data.header to yes, or use those names"
		err.Field = "data.header"
	}
	return err
}
