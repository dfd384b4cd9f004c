package dataset

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
)

// pipeline reads files in chunks, works on several chunks at once and hands the
// results to a sink in file order. The first error in that order ends it.
type pipeline struct {
	files   []string
	stdin   io.Reader
	schema  Schema
	format  Format
	threads int
	block   int

	allColumns   bool // of typed tables all columns are read, not only the schema's
	outDelimiter byte // of text that is written; 0 for the table's, of typed tables a comma
}

// openTable is one file of the input, open.
type openTable struct {
	*source
	*layout
	columns columns
	typed   typedTable // nil for text
}

// place is how far the input has been read: the number of data rows before a
// chunk, over all files, and the line of its file it starts at, from 1.
type place struct{ row, line int }

// chunk is a piece of a table's text that holds whole records.
type chunk struct {
	table  *openTable
	index  int
	text   []byte      // padded
	typed  *typedBatch // of a typed table, in place of text
	buf    *buffer
	quoted bool  // it may hold a quote
	err    error // found while reading; its line is relative to the chunk

	first     bool       // the first chunk of its file
	before    chan place // receives the place of this chunk once
	after     chan place // sends the place behind it
	result    any
	resultErr error
	done      chan struct{}
}

// buffer is reused from chunk to chunk.
type buffer struct {
	text, out []byte
	piece     piece
}

// start splits the chunk's text into r, or hands its values to typed; it passes on
// where the next chunk begins, and returns where this one does.
func (c *chunk) start(r *rows, typed *typedRows) (fieldset, place, error) {
	var problem *InputError
	if c.typed != nil {
		at := <-c.before
		if c.first {
			at.line = 1
		}
		c.after <- place{at.row + c.typed.n, at.line + c.typed.n}
		typed.reset(c.typed, c.table.format.Delimiter)
		return typed, at, nil
	}
	rowsRead, lines := 0, 0
	r.n = 0
	if c.err == nil {
		problem = r.split(c.text, c.table.format.Delimiter, len(c.table.names), c.quoted)
		rowsRead, lines = r.n, r.lines
	}
	at := <-c.before
	if c.first {
		at.line = 1 + c.table.lines
	}
	c.after <- place{at.row + rowsRead, at.line + lines}
	if c.err != nil {
		errors.As(c.err, &problem)
		if problem == nil {
			return r, at, c.err
		}
	}
	if problem != nil {
		c.place(problem, at)
		return r, at, problem
	}
	return r, at, nil
}

// place says where a problem lies, whose line is relative to the chunk.
func (c *chunk) place(problem *InputError, at place) {
	problem.File = c.table.name
	problem.Unit = c.unit()
	problem.Line += at.line
}

// unit is what lines are in this chunk: see InputError.
func (c *chunk) unit() string {
	if c.typed != nil {
		return "row"
	}
	return ""
}

// read fills the chunk from its table. An error other than io.EOF is the chunk's
// too.
func (c *chunk) read() (err error) {
	if t := c.table.typed; t != nil {
		c.typed, err = t.next()
		return err
	}
	var n int
	c.buf.text, n, err = c.table.next(c.buf.text)
	c.text, c.quoted, c.err = c.buf.text[:n], c.table.quoted, err
	return err
}

// textSize guesses the size of the files' text, or returns 0.
func (p *pipeline) textSize() int {
	total := 0
	for _, name := range p.files {
		n := textSize(name)
		if n == 0 {
			return 0
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

// run calls opened for each file as it is opened, work on worker goroutines, and
// sink in order, each from one goroutine.
func (p *pipeline) run(ctx context.Context, opened func(*openTable) error, work func(worker int, c *chunk) (any, error), sink func(any) error) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := p.workers()
	buffers := 2*workers + 2
	free := make(chan *buffer, buffers)
	for range buffers {
		free <- new(buffer)
	}
	todo := make(chan *chunk, buffers)
	order := make(chan *chunk, buffers)

	var readErr error // of the reading goroutine; read after order is closed
	go func() {
		defer close(order)
		defer close(todo)
		readErr = p.read(ctx, free, opened, func(c *chunk) {
			order <- c
			todo <- c
		})
	}()
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for c := range todo {
				if ctx.Err() == nil {
					c.result, c.resultErr = work(w, c)
				} else {
					c.after <- place{} // whoever waits for it is given up too
				}
				close(c.done)
			}
		})
	}
	var first error
	for c := range order {
		<-c.done
		if first == nil {
			first = c.resultErr
			if first == nil && ctx.Err() == nil {
				first = sink(c.result)
			}
			if first != nil {
				cancel()
			}
		}
		c.result = nil
		if c.typed != nil && c.typed.release != nil {
			c.typed.release()
		}
		free <- c.buf
	}
	group.Wait()
	if first != nil {
		return first
	}
	if err := outer.Err(); err != nil {
		return err
	}
	return readErr
}

// read opens the files one after the other and emits their chunks.
func (p *pipeline) read(ctx context.Context, free <-chan *buffer, opened func(*openTable) error, emit func(*chunk)) error {
	before := make(chan place, 1)
	before <- place{}
	index := 0
	var buf *buffer
	readFile := func(name string) error {
		table, err := p.open(name)
		if err != nil {
			return err
		}
		defer table.close()
		if err := opened(table); err != nil {
			return err
		}
		for first := true; ; first = false {
			if buf == nil {
				select {
				case buf = <-free:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			c := &chunk{table: table, index: index, buf: buf, first: first, before: before, after: make(chan place, 1), done: make(chan struct{})}
			if err = c.read(); err == io.EOF {
				return nil
			}
			before = c.after
			buf = nil
			index++
			emit(c)
			if err != nil {
				return err // the chunk carries it too, so that errors before it come first
			}
		}
	}
	for _, name := range p.files {
		if err := readFile(name); err != nil {
			return err
		}
	}
	return nil
}

func (p *pipeline) open(name string) (*openTable, error) {
	stdin := p.stdin
	if typed, in, err := openTyped(name, stdin); err != nil || typed != nil {
		if err != nil {
			return nil, err
		}
		return p.openTyped(name, typed)
	} else if in != nil {
		stdin = in
	}
	s, err := openSource(name, stdin, p.block)
	if err != nil {
		return nil, err
	}
	l, err := s.readLayout(p.format, p.schema.wanted())
	if err != nil {
		s.close()
		return nil, err
	}
	columns, err := p.schema.locate(name, l)
	if err != nil {
		s.close()
		return nil, err
	}
	return &openTable{source: s, layout: l, columns: columns}, nil
}
