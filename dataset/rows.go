package dataset

import (
	"bytes"
	"fmt"
)

// rows is a chunk of text cut into fields. Field c of row i is
//
//	text[ends[k]+1 : ends[k+1]],  k = i*columns + c,
//
// with ends[0] = -1 (modulo 2^32): between two fields lies one byte.
type rows struct {
	columns int
	n       int
	lines   int // line ends in the chunk
	text    []byte
	ends    []uint32

	// Rows of the slow path do not lie one a line: line of row i (from 0) and its
	// place in the raw text.
	slow     bool
	lineOf   []int32
	rawStart []uint32
	rawEnd   []uint32

	tolerant bool          // bad records are passed over
	bad      []*InputError // those of the chunk, by line from 0

	raw      []byte
	endsBuf  []uint32
	textBuf  []byte
	wordsBuf []uint64
}

// split cuts raw, whole records with padding behind them; quoted says whether it
// holds a quote. An error holds a line
// relative to the chunk; the rows before it are good.
func (r *rows) split(raw []byte, delimiter byte, columns int, quoted bool) *InputError {
	r.columns = columns
	r.raw = raw
	r.slow = false
	r.bad = nil
	if !quoted && r.splitPlain(delimiter) {
		return nil
	}
	return r.splitQuoted(delimiter)
}

// splitPlain finds every delimiter and newline, and accepts the result where each
// line has the right number of fields and none is blank.
func (r *rows) splitPlain(delimiter byte) bool {
	if need := len(r.raw) + 2*padding; len(r.endsBuf) < need {
		r.endsBuf = make([]uint32, need)
	}
	found, lines := separators(r.endsBuf[1:], r.raw, delimiter)
	r.lines = lines
	if found != r.lines*r.columns {
		return false
	}
	ends := r.endsBuf[:found+1]
	ends[0] = ^uint32(0)
	// There are as many newlines as rows: if each row ends in one, none is elsewhere.
	for k := r.columns; k < len(ends); k += r.columns {
		if r.raw[ends[k]] != '\n' {
			return false
		}
	}
	if r.columns == 1 {
		for k := 1; k < len(ends); k++ {
			if n := ends[k] - ends[k-1] - 1; n == 0 || n == 1 && r.raw[ends[k]-1] == '\r' {
				return false
			}
		}
	}
	r.n, r.ends, r.text = r.lines, ends, r.raw
	return true
}

// splitQuoted is the path that knows all the rules: a field may stand in quotes,
// hold delimiters and newlines there, and a quote as two; blank lines are passed
// over. Fields are copied, without quotes, to a text of the same layout.
func (r *rows) splitQuoted(delimiter byte) *InputError {
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
			problem = &InputError{
				Problem: fmt.Sprintf("the line has %s, the table has %s", count(fields, "field"), count(r.columns, "column")),
				Remedy:  fmt.Sprintf("mend the line, or put a field that holds %q in quotes", delimiter),
			}
		}
		if problem != nil {
			problem.Line = line
			r.ends = r.ends[:good]
			if !r.tolerant {
				r.endSlow()
				return problem
			}
			r.bad = append(r.bad, problem)
			r.text = r.text[:r.ends[good-1]+1]
			if next == 0 { // where a quote is wrong, so is all behind it on the line
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

func (r *rows) startSlow() {
	r.slow = true
	r.n = 0
	r.lineOf, r.rawStart, r.rawEnd = r.lineOf[:0], r.rawStart[:0], r.rawEnd[:0]
	r.text = r.textBuf[:0]
	r.ends = append(r.endsBuf[:0], ^uint32(0))
}

// endSlow keeps what grew for the next chunk, and pads.
func (r *rows) endSlow() {
	n := len(r.text)
	r.textBuf = append(r.text, make([]byte, padding)...)
	r.text = r.textBuf[:n]
	r.endsBuf = r.ends[:cap(r.ends)]
}

// record appends the fields of the record at raw[at:] and returns the position
// after it and the number of fields. The raw text ends in a newline.
func (r *rows) record(at int, delimiter byte) (next, fields int, problem *InputError) {
	raw := r.raw
	for more := true; more; fields++ {
		end := at
		if raw[at] == '"' {
			closing := closingQuote(raw, at+1)
			if closing < 0 {
				return 0, 0, &InputError{Problem: "a quote opens here and is never closed", Remedy: quoteRemedy}
			}
			r.text = appendUnquoted(r.text, raw[at+1:closing])
			for end = closing + 1; end < len(raw)-1 && (raw[end] == ' ' || raw[end] == '\r') && raw[end] != delimiter; {
				end++
			}
			if end >= len(raw) || raw[end] != delimiter && raw[end] != '\n' {
				return 0, 0, &InputError{Value: string(raw[at:min(end+1, len(raw))]), Problem: "text follows a closing quote", Remedy: quoteRemedy}
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

const quoteRemedy = `close it, and write a quote within quotes twice ("")`

// blankLine returns the length of the blank line that text starts with, or 0.
func blankLine(text []byte) int {
	switch {
	case text[0] == '\n':
		return 1
	case text[0] == '\r' && text[1] == '\n':
		return 2
	}
	return 0
}

// appendUnquoted appends the text between quotes: two quotes become one and the
// line ends within it a newline.
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

// words returns the text of columns first to last, of the rows in keep, as
// little-endian words: 0 where it is not 1 to 8 bytes long or has white space at
// an end. They are valid until the next call.
func (r *rows) words(first, last int, keep []int32) []uint64 {
	r.wordsBuf = sized(r.wordsBuf, len(keep))
	if len(keep) > 0 {
		// Lines end alike: where the first ends in \r, so should the others. A row that
		// does not gives 0.
		cut := uint32(0)
		end := r.ends[last+1]
		if last == r.columns-1 && end > 0 && r.text[end-1] == '\r' {
			cut = 1
		}
		fieldWords(r.wordsBuf, r.text[:len(r.text)+padding], r.ends[:r.n*r.columns+1], keep, r.columns, first, last+1, cut, r.text[end-cut])
	}
	return r.wordsBuf
}

// span returns the text of columns first to last of row i, trimmed.
func (r *rows) span(i, first, last int) []byte {
	k := i * r.columns
	return trim(r.text[r.ends[k+first]+1 : r.ends[k+last+1]])
}

// field returns field c of row i, trimmed.
func (r *rows) field(i, c int) []byte {
	return r.span(i, c, c)
}

// line returns the line of row i, from 0 at the chunk's start.
func (r *rows) line(i int) int {
	if r.slow {
		return int(r.lineOf[i])
	}
	return i
}

// rawLine returns the text of row i as it stands in the file, without line end.
func (r *rows) rawLine(i int) []byte {
	var line []byte
	if r.slow {
		line = r.raw[r.rawStart[i]:r.rawEnd[i]]
	} else {
		line = r.raw[r.ends[i*r.columns]+1 : r.ends[(i+1)*r.columns]]
	}
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// trim drops ASCII white space at both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 } // \t \n \v \f \r

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
