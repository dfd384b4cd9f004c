package tableio

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
)

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
	if failed, ok := errors.AsType[panicError](f.err); ok {
		panic(failed.error)
	}
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
