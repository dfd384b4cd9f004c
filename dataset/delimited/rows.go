package delimited

import (
	"bytes"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
	"github.com/kernel-fried-tensor/kft/dataset/internal/scratch"
)

// Rows is a block of text split into fields. Field c of row i is
//
//	text[ends[k]+1 : ends[k+1]],  k = i*columns + c,
//
// with ends[0] = -1 (modulo 2^32): one byte separates two fields. The zero value has
// no rows. The memory is reused from block to block.
type Rows struct {
	columns int
	n       int
	lines   int // line ends in the block
	text    []byte
	ends    []uint32

	// Rows of the slow path may span several lines. These are the line of row i (from
	// 0) and its place in the raw text.
	slow     bool
	lineOf   []int32
	rawStart []uint32
	rawEnd   []uint32

	// Tolerant rows skip bad records and collect their errors in Bad, with lines that
	// count from 0 at the start of the block.
	Tolerant bool
	Bad      []*dataset.InputError

	// NumberFormat is how the numbers of the table are written.
	NumberFormat numeric.Format

	raw      []byte
	endsBuf  []uint32
	textBuf  []byte
	wordsBuf []uint64
}

// Split splits a block, which consists of whole records and is followed by padding, as
// [Blocks.Next] returns it. The argument quoted says whether it may contain a quote.
// The line of an error is relative to the block. The rows before it are valid.
func (r *Rows) Split(raw []byte, delimiter byte, columns int, quoted bool) *dataset.InputError {
	r.columns = columns
	r.raw = raw
	r.slow = false
	r.Bad = nil
	if !quoted && r.splitPlain(delimiter) {
		return nil
	}
	return r.splitQuoted(delimiter)
}

// splitPlain finds every delimiter and newline. It accepts the result if each line has
// the right number of fields and none is blank.
func (r *Rows) splitPlain(delimiter byte) bool {
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
	// There are as many newlines as rows. If each row ends in one, there is no other.
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

// words returns the text of columns first to last, for the rows in keep, as
// little-endian words. A word is 0 if the text is not 1 to 8 bytes long or has white
// space at an end. The words are valid until the next call.
func (r *Rows) words(first, last int, keep []int32) []uint64 {
	r.wordsBuf = scratch.Sized(r.wordsBuf, len(keep))
	if len(keep) > 0 {
		// All lines should end alike. If the first ends in \r, a row that does not gives 0.
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
func (r *Rows) span(i, first, last int) []byte {
	k := i * r.columns
	return fieldtext.Trim(r.text[r.ends[k+first]+1 : r.ends[k+last+1]])
}

// Field returns field c of row i, trimmed and without quotes.
func (r *Rows) Field(i, c int) []byte { return r.span(i, c, c) }

// Line returns the line of row i, from 0 at the start of the block.
func (r *Rows) Line(i int) int {
	if r.slow {
		return int(r.lineOf[i])
	}
	return i
}

// RawLine returns the text of row i as it is in the file, without the line end.
func (r *Rows) RawLine(i int) []byte {
	var line []byte
	if r.slow {
		line = r.raw[r.rawStart[i]:r.rawEnd[i]]
	} else {
		line = r.raw[r.ends[i*r.columns]+1 : r.ends[(i+1)*r.columns]]
	}
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// Len returns the number of rows.
func (r *Rows) Len() int { return r.n }

// Clear removes the rows.
func (r *Rows) Clear() { r.n = 0 }

// LineEnds returns the number of line ends in the block.
func (r *Rows) LineEnds() int { return r.lines }

// LineNumbers returns the line of each row, from 0, if some row spans several lines or
// there are blank lines; else nil. It is valid until the next block.
func (r *Rows) LineNumbers() []int32 {
	if !r.slow {
		return nil
	}
	return r.lineOf
}
