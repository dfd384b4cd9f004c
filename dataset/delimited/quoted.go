package delimited

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// remedy says what to do about a line with a wrong number of fields.
func (r *Rows) remedy(at int, delimiter byte) string {
	switch {
	case r.raw[at] == '#':
		return "remove lines of comments"
	case r.columns == 1:
		return "fix the line, or remove lines above the header, such as comments"
	}
	return "fix the line, or put a field that contains " + delimiterName(delimiter) + " in quotes"
}

// splitQuoted implements all the rules: a field may be in quotes and then contain
// delimiters, newlines and doubled quotes; blank lines are skipped. Fields are copied,
// without quotes, to a text of the same layout.
func (r *Rows) splitQuoted(delimiter byte) *dataset.InputError {
	r.lines = bytes.Count(r.raw, newline)
	r.startSlow()
	line := 0
	for at := 0; at < len(r.raw); {
		if blank := blankLine(r.raw[at:]); blank > 0 {
			at += blank
			line++
			continue
		}
		good := len(r.ends)
		next, fields, problem := r.record(at, delimiter)
		if problem == nil && fields != r.columns {
			problem = &dataset.InputError{
				Problem: fmt.Sprintf("the line has %s, the table has %s", plural.Count(fields, "field"), plural.Count(r.columns, "column")),
				Remedy:  r.remedy(at, delimiter),
			}
		}
		if problem != nil {
			problem.Line = line
			r.ends = r.ends[:good]
			if !r.Tolerant {
				r.endSlow()
				return problem
			}
			r.Bad = append(r.Bad, problem)
			r.text = r.text[:r.ends[good-1]+1]
			if next == 0 { // after a wrong quote the rest of the line is unusable
				next = at + bytes.IndexByte(r.raw[at:], '\n') + 1
			}
			line += bytes.Count(r.raw[at:next], newline)
			at = next
			continue
		}
		r.n++
		r.lineOf = append(r.lineOf, int32(line))
		r.rawStart = append(r.rawStart, uint32(at))
		r.rawEnd = append(r.rawEnd, uint32(next-1))
		line += bytes.Count(r.raw[at:next], newline)
		at = next
	}
	r.endSlow()
	return nil
}

func (r *Rows) startSlow() {
	r.slow = true
	r.n = 0
	r.lineOf, r.rawStart, r.rawEnd = r.lineOf[:0], r.rawStart[:0], r.rawEnd[:0]
	r.text = r.textBuf[:0]
	r.ends = append(r.endsBuf[:0], ^uint32(0))
}

// endSlow keeps the memory for the next block and adds padding.
func (r *Rows) endSlow() {
	n := len(r.text)
	r.textBuf = append(r.text, make([]byte, padding)...)
	r.text = r.textBuf[:n]
	r.endsBuf = r.ends[:cap(r.ends)]
}

// record appends the fields of the record at raw[at:]. It returns the position after
// it and the number of fields. The raw text ends in a newline.
func (r *Rows) record(at int, delimiter byte) (next, fields int, problem *dataset.InputError) {
	raw := r.raw
	for more := true; more; fields++ {
		end := at
		if raw[at] == '"' {
			closing := fieldtext.ClosingQuote(raw, at+1)
			if closing < 0 {
				return 0, 0, &dataset.InputError{Problem: "a quote is opened here and never closed", Remedy: quoteRemedy}
			}
			r.text = appendUnquoted(r.text, raw[at+1:closing])
			for end = closing + 1; end < len(raw)-1 && (raw[end] == ' ' || raw[end] == '\r') && raw[end] != delimiter; {
				end++
			}
			if end >= len(raw) || raw[end] != delimiter && raw[end] != '\n' {
				return 0, 0, &dataset.InputError{Value: string(raw[at:min(end+1, len(raw))]), Problem: "text follows a closing quote", Remedy: quoteRemedy}
			}
		} else {
			for raw[end] != delimiter && raw[end] != '\n' {
				end++
			}
			r.text = append(r.text, raw[at:end]...)
		}
		r.ends = append(r.ends, uint32(len(r.text)))
		r.text = append(r.text, delimiter)
		more = raw[end] != '\n'
		at = end + 1
	}
	return at, fields, nil
}

// delimiterName returns a delimiter for messages.
func delimiterName(delimiter byte) string {
	if delimiter == standIn {
		return "the delimiter"
	}
	return strconv.QuoteRune(rune(delimiter))
}

const quoteRemedy = `close it, and double each quote within quotes ("")`

// blankLine returns the length of the blank line at the start of text, or 0.
func blankLine(text []byte) int {
	switch {
	case text[0] == '\n':
		return 1
	case text[0] == '\r' && text[1] == '\n':
		return 2
	}
	return 0
}

// appendUnquoted appends the text between quotes: doubled quotes become one, and line
// ends become a newline.
func appendUnquoted(dst, quoted []byte) []byte {
	for i := 0; i < len(quoted); i++ {
		c := quoted[i]
		if c == '\r' && i+1 < len(quoted) && quoted[i+1] == '\n' {
			continue
		}
		dst = append(dst, c)
		if c == '"' {
			i++
		}
	}
	return dst
}
