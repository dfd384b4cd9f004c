package tableio

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fingerprint"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// Format specifies how to read a source. The zero value detects everything.
type Format struct {
	Delimiter byte             // of text; 0 detects comma, semicolon, tab or bar
	Header    delimited.Header // of text
	Stdin     io.Reader        // read for the path "-"; nil is the standard input of the process

	// LongDelimiter is a delimiter of several characters, as in a::b, instead of Delimiter.
	LongDelimiter string

	// Numbers is how targets, weights and exposures are written; the zero value is plain
	// numbers, as 1234.5.
	Numbers dataset.NumberFormat

	// Peers are processes that read the same files at the same time, so that each of them reads a
	// part for all; nil for none.
	Peers peers.Group

	// Share makes VisitBatches visit the chunks of this process only; nil for all of them.
	Share Share
}

func (f Format) text() delimited.Format {
	return delimited.Format{Delimiter: f.Delimiter, Header: f.Header, Long: f.LongDelimiter}
}

// SetDelimiter sets the delimiter that a text names: auto, comma, tab, semicolon, bar,
// space, one character, or several characters such as ::.
func (f *Format) SetDelimiter(s string) error {
	var text delimited.Format
	if err := text.SetDelimiter(s); err != nil {
		return err
	}
	f.Delimiter, f.LongDelimiter = text.Delimiter, text.Long
	return nil
}

func (f Format) stdin() io.Reader {
	if f.Stdin == nil {
		return os.Stdin
	}
	return f.Stdin
}

// pipeline reads a source in chunks, works on several chunks at once and passes the
// results to a sink in the order of the source. The first error in that order ends it.
type pipeline struct {
	source  Source
	schema  dataset.Schema
	format  Format
	threads int // below 1: one per CPU
	block   int // bytes of text to read at a time; 0 means delimited.BlockSize

	placeless    bool  // the work on a chunk does not need its place, so that it need not wait for the chunks before
	allColumns   bool  // read all columns of typed tables, not only those of the schema
	share        Share // nil if this process computes all chunks
	outDelimiter byte  // of text that is written; 0 keeps the table's, or a comma for typed tables

	starts, ends []int64 // where the parts of inputs started and ended, see input.part
}

// openTable is one input of the source, open.
type openTable struct {
	*content
	*delimited.Layout
	columns dataset.Positions
	numbers dataset.NumberFormat
}

// place is a position in the source: the number of data rows before a chunk, over all
// inputs, and the line of its input, from 1, at which it starts.
type place struct{ row, line int }

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

// guarded calls work. Typed columns are checked when they are read; should a damaged
// file nevertheless cause a panic, it becomes an error, as it does while reading.
func (c *chunk) guarded(work func() (any, error)) (result any, err error) {
	if c.typed == nil || c.table.memory {
		return work()
	}
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		select {
		case c.after <- place{}: // the next chunk must not wait for ever
		default:
		}
		result, err = nil, columnar.Damaged(c.table.name, cause)
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

// size estimates the size of the source, or returns 0.
func (p *pipeline) size() int {
	total := 0
	for _, in := range p.source.inputs {
		n := in.size()
		if n == 0 {
			return 0
		}
		if in.part != nil {
			n = int(float64(n) * float64(in.part.to-in.part.from) / float64(in.part.of))
		}
		total += n
	}
	return total
}

func (p *pipeline) workers() int {
	if p.threads > 0 {
		return p.threads
	}
	return runtime.GOMAXPROCS(0)
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

// run calls opened for each input when it is opened, work on worker goroutines, and
// sink in order, never twice at once.
func (p *pipeline) run(ctx context.Context, opened func(*openTable) error, work func(worker int, c *chunk) (any, error), sink func(any) error) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := p.workers()
	buffers := 2*workers + 2
	if p.placeless { // they are small, and a slow worker holds up the others later
		buffers *= 2
	}
	f := newFlow(workers, buffers, cancel)
	var readErr error // of the reading goroutine
	var group sync.WaitGroup
	group.Go(func() {
		defer f.end()
		readErr = p.read(ctx, f, opened)
	})
	for w := range workers {
		group.Go(func() {
			for c, do := f.next(); c != nil; {
				switch {
				case do == finish:
					c.result.(finisher).finish()
					c, do = f.finished(c)
					continue
				case do == load:
					c.load()
					c, do = f.loaded(ctx, c)
					continue
				case c.void || ctx.Err() != nil:
					c.skip(ctx.Err() != nil)
				default:
					c.result, c.resultErr = c.guarded(func() (any, error) { return work(w, c) })
				}
				c, do = f.done(ctx, c, sink)
			}
		})
	}
	group.Wait()
	if f.err != nil {
		return f.err
	}
	if err := outer.Err(); err != nil {
		return err
	}
	return readErr
}

// read opens the inputs one after the other and passes on their chunks.
func (p *pipeline) read(ctx context.Context, f *flow, opened func(*openTable) error) error {
	var before chan place
	if !p.placeless {
		before = make(chan place, 1)
		before <- place{}
	}
	index := 0
	// blocks lets the workers read the blocks of a text that can be divided.
	blocks := func(t *openTable) error {
		d := p.divide(t)
		if d == nil {
			return nil
		}
		d.index, d.before = index, before
		if index += d.Blocks; before != nil {
			d.last = make(chan place, 1)
			before = d.last
		}
		position := f.divide(d)
		if position < 0 {
			return errStopped // a chunk has the error, or the context was cancelled
		}
		return t.text.Resume(d.Division, position)
	}
	readInput := func(in input) error {
		table, err := p.open(in)
		if err != nil {
			return err
		}
		defer table.close()
		if err := opened(table); err != nil {
			return err
		}
		p.starts = append(p.starts, table.offset(in.part))
		defer func() { p.ends = append(p.ends, table.offset(in.part)) }()
		start := in.part == nil || in.part.from == 0
		for first := true; ; first = false {
			buf := f.buffer()
			if err := ctx.Err(); err != nil {
				return err
			}
			c := &chunk{table: table, buf: buf, index: index, first: first && start, before: before}
			if before != nil {
				c.after = make(chan place, 1)
			}
			if err = c.read(); err == io.EOF {
				f.giveBack(buf)
				return nil
			}
			before = c.after
			index++
			f.put(c)
			if err != nil {
				return err // the chunk has it too, so that errors before it take precedence
			}
			if first {
				if err := blocks(table); err != nil {
					return err
				}
			}
		}
	}
	for _, in := range p.source.inputs {
		if err := readInput(in); err != nil {
			return err
		}
	}
	return nil
}

var errStopped = errors.New("tableio: stopped")

// divide returns the division of the rest of a text, or nil.
func (p *pipeline) divide(t *openTable) *division {
	if t.file == nil || p.share != nil || p.format.Share != nil { // shares count the chunks with records
		return nil
	}
	info, err := t.file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	d := t.text.Divide(t.file, info.Size())
	if d == nil {
		return nil
	}
	return &division{Division: d, table: t}
}

func (p *pipeline) open(in input) (*openTable, error) {
	block := p.block
	if block == 0 {
		block = delimited.BlockSize
	}
	c, err := in.open(p.format.stdin(), block)
	if err != nil {
		return nil, err
	}
	t := &openTable{content: c, numbers: p.format.Numbers}
	if c.typed != nil {
		t.Layout = p.typedLayout(c.typed)
	} else if t.Layout, err = c.text.ReadLayout(p.format.text(), p.schema.Columns()); err != nil {
		c.close()
		return nil, err
	}
	t.columns, err = p.schema.Locate(in.name, t.Names, func(name string) *dataset.InputError { return t.MissingColumn(in.name, name) })
	if err != nil {
		c.close()
		return nil, err
	}
	if in.part != nil && !c.restrict(in.part) {
		c.close()
		return nil, errIndivisible
	}
	if c.typed != nil {
		c.typed.Start(p.typedColumns(t.columns, len(t.Names)))
	}
	return t, nil
}
