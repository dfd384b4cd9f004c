package tableio

import (
	"crypto/sha256"
	"math"
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/paged"
)

// builder combines pieces in the order of the source. Ids are numbered as they arrive,
// so the codes do not depend on which worker read which chunk.
type builder struct {
	table   *dataset.Table
	global  [][][]int32 // for each worker and mode: the table's code of each code of the worker
	content []byte      // headers and hashes of chunks
	size    int         // expected size of the source, or 0; see chunk.size
	read    int         // size of what was read
	words   bool        // some target is a word
	dropped bool        // some row is not an observation: table.Row is filled
	spans   []span

	firstNoID *dataset.InputError // where the first row with an empty id is
	copies    sync.WaitGroup      // pieces whose codes are being copied to the table
	populated int                 // rows whose memory a piece asks for, or has written to
}

// span is where the rows of a chunk are.
type span struct {
	file  string
	at    place
	rows  int
	lines []int32
	unit  string // what lines count, see dataset.InputError
}

func newBuilder(schema dataset.Schema, workers, size int) *builder {
	b := &builder{size: size}
	b.table = &dataset.Table{Modes: schema.Modes, Codes: make([][]int32, len(schema.Modes))}
	for range schema.Modes {
		b.table.Dicts = append(b.table.Dicts, dataset.NewDict(nil))
	}
	b.global = make([][][]int32, workers)
	for w := range b.global {
		b.global[w] = make([][]int32, len(schema.Modes))
	}
	return b
}

func (b *builder) add(p *piece) error {
	t := b.table
	b.hash(p)
	b.spans = append(b.spans, span{p.file, p.at, p.rows, p.lines, p.unit})
	if t.Counts.Rows+p.rows > math.MaxInt32 {
		return &dataset.InputError{File: p.file, Problem: "the table has more than 2,147,483,647 rows", Remedy: "split it"}
	}
	n := p.rows
	if p.keep != nil {
		n = len(p.keep)
	}
	b.reserve(n)
	from := t.Len()
	b.addRows(p, n)
	t.Counts.Rows += p.rows
	t.Counts.Missing += p.missing
	t.Counts.NoID += p.noID
	if b.firstNoID == nil {
		b.firstNoID = p.firstNoID
	}
	t.Decoded += p.decoded
	b.words = b.words || p.words
	t.Counts.ZeroWeight += p.zeroWeight
	b.addLow(p.low, n)
	t.Y = t.Y[:from+n]
	if p.w != nil {
		t.W = append(t.W, p.w[:n]...)
	}
	if p.exposure != nil {
		t.Exposure = append(t.Exposure, p.exposure[:n]...)
	}
	if p.censored != nil {
		t.Censored = append(t.Censored, p.censored[:n]...)
	}
	if p.parts != nil {
		t.Part = append(t.Part, p.parts[:n]...)
	}
	for m, dict := range t.Dicts {
		to := b.global[p.worker][m]
		for _, id := range p.newIDs[m] {
			code, ok := dict.Code([]byte(id))
			if !ok {
				code, ok = dict.Alike([]byte(id))
			}
			if !ok {
				code = dict.Add(id)
			}
			to = append(to, code)
		}
		b.global[p.worker][m] = to
		t.Codes[m] = t.Codes[m][:from+n]
	}
	b.leaveCopy(p, from, n)
	return nil
}

// leaveCopy leaves it to the piece to copy targets and codes to rows [from, from+n) of the
// table: numbering ids is all that has to be done in order.
func (b *builder) leaveCopy(p *piece, from, n int) {
	y, codes, global := b.table.Y[from:from+n], make([][]int32, len(p.codes)), slices.Clone(b.global[p.worker])
	for m := range codes {
		codes[m] = b.table.Codes[m][from : from+n]
	}
	populate := b.populate(from + n)
	b.copies.Add(1)
	p.copy = func() {
		defer b.copies.Done()
		populate()
		copy(y, p.y)
		for m, dst := range codes {
			to := global[m]
			for k, code := range p.codes[m][:len(dst)] {
				dst[k] = to[code]
			}
		}
	}
}

// aheadRows is how many rows the memory is asked for before they are copied, in steps of half as
// many: more than the pieces in flight have.
const aheadRows = 1 << 20

// populate returns what asks for the memory of the rows after the given end, unless an earlier
// piece does. Pieces that are copied at the same time share large pages.
func (b *builder) populate(end int) func() {
	room := cap(b.table.Y)
	if b.populated >= min(end+aheadRows, room) || room < 2*aheadRows {
		return func() {}
	}
	from := b.populated
	b.populated = min(end+aheadRows+aheadRows/2, room)
	y, codes, to := b.table.Y[:room], slices.Clone(b.table.Codes), b.populated
	return func() {
		paged.Populate(y[from:to])
		for _, column := range codes {
			paged.Populate(column[:room][from:to])
		}
	}
}

func (b *builder) hash(p *piece) {
	if p.first {
		b.content = append(b.content, p.header...)
	}
	b.content = append(b.content, p.hash[:]...)
	b.read += p.size
}

// addRows records the rows of observations, starting with the first row that is not one.
func (b *builder) addRows(p *piece, n int) {
	t := b.table
	if p.keep != nil && !b.dropped {
		b.dropped = true
		t.Row = make([]int32, t.Len(), cap(t.Y))
		for k := range t.Row {
			t.Row[k] = int32(k)
		}
	}
	if !b.dropped {
		return
	}
	for k := range n {
		row := k
		if p.keep != nil {
			row = int(p.keep[k])
		}
		t.Row = append(t.Row, int32(p.at.row+row))
	}
}

// reserve makes room for n more observations and, if the size of the source is known,
// for the observations that the rest of it will give.
func (b *builder) reserve(n int) {
	t := b.table
	need := t.Len() + n
	if need <= cap(t.Y) {
		return
	}
	b.copies.Wait() // they write to the arrays that are replaced
	room := 2 * need
	if b.size > b.read {
		perByte := float64(need) / float64(b.read)
		room = need + int(1.04*perByte*float64(b.size-b.read))
	}
	t.Y = regrown(t.Y, room)
	if t.W != nil {
		t.W = regrown(t.W, room)
	}
	if t.Exposure != nil {
		t.Exposure = regrown(t.Exposure, room)
	}
	if t.Censored != nil {
		t.Censored = regrown(t.Censored, room)
	}
	for m := range t.Codes {
		t.Codes[m] = regrown(t.Codes[m], room)
	}
	b.populated = t.Len()
}

func regrown[T any](s []T, room int) []T {
	grown := make([]T, 0, room)
	paged.Huge(grown)
	return append(grown, s...)
}

// finish returns the table.
func (b *builder) finish() *dataset.Table {
	t := b.table
	b.copies.Wait()
	t.Hash = sha256.Sum256(b.content)
	b.finishLow()
	t.Y, t.W, t.Exposure, t.Censored, t.Part, t.Row = tight(t.Y), tight(t.W), tight(t.Exposure), tight(t.Censored), tight(t.Part), tight(t.Row)
	for m := range t.Codes {
		t.Codes[m] = tight(t.Codes[m])
	}
	return t
}

// tight cuts off room reserved for rows that did not arrive. A little of it was never
// touched and so takes no memory. Much of it is released by a copy.
func tight[T any](s []T) []T {
	if cap(s) > len(s)+len(s)/8 {
		return append(make([]T, 0, len(s)), s...)
	}
	return slices.Clip(s)
}

// placeOf returns the place of a data row.
func (b *builder) placeOf(row int) dataset.RowPlace {
	i, _ := slices.BinarySearchFunc(b.spans, row, func(s span, row int) int {
		switch {
		case s.at.row+s.rows <= row:
			return -1
		case s.at.row > row:
			return 1
		}
		return 0
	})
	if i == len(b.spans) {
		return dataset.RowPlace{} // of a table that was read together, whose errors are not used
	}
	s := b.spans[i]
	inChunk := row - s.at.row
	if s.lines != nil {
		inChunk = int(s.lines[inChunk])
	}
	return dataset.RowPlace{File: s.file, Line: s.at.line + inChunk, Unit: s.unit}
}
