package tableio

import (
	"errors"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fingerprint"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// chunk is a run of whole records of a table.
type chunk struct {
	table  *openTable
	text   []byte          // padded
	typed  *columnar.Batch // for a typed table, instead of text
	buf    *buffer
	quoted bool  // the text may contain a quote
	recode int   // lines that were not UTF-8
	err    error // found while reading; its line is relative to the chunk

	index     int        // its number in the source, from 0
	first     bool       // the first chunk of its input
	before    chan place // receives the place of this chunk once; nil if it does not need it
	after     chan place // sends the place after this chunk; nil as well
	result    any
	resultErr error
	done      bool // it has its result

	rows, lines int                   // that it has
	problems    []*dataset.InputError // whose lines are relative to the chunk, if it does not wait for its place

	// Of a divided text:
	division *delimited.Division
	block    int
	piece    delimited.Piece
	loaded   bool
	void     bool // it has no records
}

// buffer is reused from chunk to chunk.
type buffer struct {
	text, out []byte
	piece     piece
}

// start splits the chunk's text into text, or passes its values to typed. It announces
// the place of the next chunk and returns the place of this one.
func (c *chunk) start(text *textRows, typed *typedRows) (rowset, place, error) {
	var problem *dataset.InputError
	if c.typed != nil {
		c.rows, c.lines = c.typed.Len(), c.typed.Len()
		typed.Reset(c.typed, c.table.Format.Delimiter)
		typed.NumberFormat = c.table.numbers
		return typed, c.pass(), nil
	}
	text.Clear()
	text.NumberFormat = c.table.numbers
	if c.err == nil {
		decoded := 0
		c.text, decoded = delimited.Decode(c.text)
		c.recode += decoded
		problem = text.Split(c.text, c.table.Format.Delimiter, len(c.table.Names), c.quoted)
		c.rows, c.lines = text.Len(), text.LineEnds()
	}
	at := c.pass()
	if c.err != nil {
		errors.As(c.err, &problem)
		if problem == nil {
			return text, at, c.err
		}
	}
	if problem != nil {
		c.locate(problem, at)
		return text, at, problem
	}
	return text, at, nil
}

// pass waits for the place of the chunk, if it needs it, and announces that of the next one.
func (c *chunk) pass() place {
	if c.before == nil {
		return place{}
	}
	at := <-c.before
	if c.first {
		at.line = c.firstLine()
	}
	c.after <- place{at.row + c.rows, at.line + c.lines}
	return at
}

// locate sets the place of a problem whose line is relative to the chunk, or leaves it to settle.
func (c *chunk) locate(problem *dataset.InputError, at place) {
	problem.File = c.table.name
	problem.Unit = c.unit()
	if c.before == nil {
		c.problems = append(c.problems, problem)
	}
	problem.Line += at.line
}

// unit returns what the lines of the chunk count, see [dataset.InputError].
func (c *chunk) unit() string {
	if c.typed != nil {
		return "row"
	}
	return ""
}

// A panicError is the panic of a worker, with which the reading ends.
type panicError struct{ error }

// guarded calls work and turns a panic into an error. Typed columns are checked when they are read; should a damaged
// file nevertheless cause a panic, it becomes an error about the file, as it does while reading.
func (c *chunk) guarded(work func() (any, error)) (result any, err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		select {
		case c.after <- place{}: // the next chunk must not wait for ever
		default:
		}
		result, err = nil, panicError{parallel.Caught(cause)}
		if c.typed != nil && !c.table.memory {
			err = columnar.Damaged(c.table.name, cause)
		}
	}()
	return work()
}

// size returns the number of bytes of text or, for a typed table, of rows.
func (c *chunk) size() int {
	if c.typed != nil {
		return c.typed.Len()
	}
	return len(c.text)
}

// fingerprint returns a hash of the chunk's content.
func (c *chunk) fingerprint() [32]byte {
	if c.typed != nil {
		return c.typed.Fingerprint()
	}
	return fingerprint.Sum(c.text)
}

// read reads the content of the chunk. An error other than io.EOF is also stored in
// the chunk.
func (c *chunk) read() (err error) {
	if t := c.table.typed; t != nil {
		c.typed, err = t.Next()
		return err
	}
	var n int
	c.buf.text, n, err = c.table.text.Take(c.buf.text)
	c.text, c.quoted, c.err, c.recode = c.buf.text[:n], c.table.text.Quoted(), err, c.table.text.Decoded()
	return err
}

// load reads the block of a divided text.
func (c *chunk) load() { c.piece, c.buf.text = c.division.Read(c.block, c.buf.text) }

// cut cuts the block, which starts at a position, and returns where the next one starts. -1 is that
// of a block that must not be read.
func (c *chunk) cut(position int64) int64 {
	if position >= 0 {
		c.text, c.quoted, position, c.buf.text, c.err = c.piece.Cut(position, c.buf.text)
	}
	c.void = len(c.text) == 0 && c.err == nil
	if c.err != nil {
		return -1
	}
	return position
}

// skip passes on the place of the chunk, which has no records.
func (c *chunk) skip(cancelled bool) {
	c.void = true
	if c.after == nil {
		return
	}
	if cancelled { // the chunks behind it are skipped too
		c.after <- place{}
	} else {
		c.after <- <-c.before
	}
}

// settle sets the place of the chunk, for those that do not wait for it, and returns the place after it.
func (c *chunk) settle(at place) place {
	if c.first {
		at.line = c.firstLine()
	}
	if c.before == nil {
		for _, problem := range c.problems {
			problem.Line += at.line
		}
		if r, ok := c.result.(*piece); ok && r != nil {
			r.at = at
		}
	}
	return place{at.row + c.rows, at.line + c.lines}
}

// firstLine is the line of the first row of the input of the chunk.
func (c *chunk) firstLine() int {
	if c.typed != nil {
		return 1
	}
	return 1 + c.table.Lines
}
