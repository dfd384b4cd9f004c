package dataset

import (
	"crypto/sha256"
	"hash"
	"math"
	"slices"
)

// builder puts pieces together in file order. Ids are numbered as they come, so
// the codes do not depend on which worker read what.
type builder struct {
	table    *Table
	global   [][][]int32 // for each worker and mode: the table's code of each of the worker's
	digest   hash.Hash
	textSize int // bytes expected, or 0
	textRead int
	dropped  bool // some row is no observation: table.Row is filled
	spans    []span
}

// span is where the rows of a chunk stand.
type span struct {
	file   string
	at     place
	rows   int
	lineOf []int32
	unit   string // what lines are: see InputError
}

func newBuilder(schema Schema, workers, textSize int) *builder {
	b := &builder{digest: sha256.New(), textSize: textSize}
	b.table = &Table{Modes: schema.Modes, Codes: make([][]int32, len(schema.Modes))}
	for range schema.Modes {
		b.table.Dicts = append(b.table.Dicts, emptyDict())
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
	b.spans = append(b.spans, span{p.file, p.at, p.rows, p.lineOf, p.unit})
	if t.Counts.Rows+p.rows > math.MaxInt32 {
		return &InputError{File: p.file, Problem: "the table has more than 2,147,483,647 rows", Remedy: "split it"}
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
	t.Counts.ZeroWeight += p.weightless
	t.Y = append(t.Y, p.y[:n]...)
	if p.w != nil {
		t.W = append(t.W, p.w[:n]...)
	}
	if p.parts != nil {
		t.Part = append(t.Part, p.parts[:n]...)
	}
	for m, dict := range t.Dicts {
		to := b.global[p.worker][m]
		for _, id := range p.newIDs[m] {
			code, ok := dict.Code([]byte(id))
			if !ok {
				code = dict.addString(id)
			}
			to = append(to, code)
		}
		b.global[p.worker][m] = to
		t.Codes[m] = t.Codes[m][:from+n]
		dst := t.Codes[m][from:]
		for k, code := range p.codes[m][:len(dst)] {
			dst[k] = to[code]
		}
	}
	return nil
}

func (b *builder) hash(p *piece) {
	if p.first {
		b.digest.Write(p.header)
	}
	b.digest.Write(p.hash[:])
	b.textRead += p.bytes
}

// addRows notes the rows of observations from the first row on that is none.
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

// reserve makes room for n more observations and, where the size of the text is
// known, for as many as the rest of it will give.
func (b *builder) reserve(n int) {
	t := b.table
	need := t.Len() + n
	if need <= cap(t.Y) {
		return
	}
	room := 2 * need
	if b.textSize > b.textRead {
		perByte := float64(need) / float64(b.textRead)
		room = need + int(1.04*perByte*float64(b.textSize-b.textRead))
	}
	t.Y = regrown(t.Y, room)
	if t.W != nil {
		t.W = regrown(t.W, room)
	}
	for m := range t.Codes {
		t.Codes[m] = regrown(t.Codes[m], room)
	}
}

func regrown[T any](s []T, room int) []T {
	grown := make([]T, 0, room)
	hugePages(grown)
	return append(grown, s...)
}

// finish returns the table.
func (b *builder) finish() *Table {
	t := b.table
	b.digest.Sum(t.Hash[:0])
	t.Y, t.W, t.Part, t.Row = tight(t.Y), tight(t.W), tight(t.Part), tight(t.Row)
	for m := range t.Codes {
		t.Codes[m] = tight(t.Codes[m])
	}
	return t
}

// tight cuts off room that was reserved for rows that did not come. A little of it
// was never touched and so takes no memory; much of it is given back.
func tight[T any](s []T) []T {
	if cap(s) > len(s)+len(s)/8 {
		return append(make([]T, 0, len(s)), s...)
	}
	return slices.Clip(s)
}

// lineOf returns the file and line of a data row, and what lines are there.
func (b *builder) lineOf(row int) (file string, line int, unit string) {
	i, _ := slices.BinarySearchFunc(b.spans, row, func(s span, row int) int {
		switch {
		case s.at.row+s.rows <= row:
			return -1
		case s.at.row > row:
			return 1
		}
		return 0
	})
	s := b.spans[i]
	inChunk := row - s.at.row
	if s.lineOf != nil {
		inChunk = int(s.lineOf[inChunk])
	}
	return s.file, s.at.line + inChunk, s.unit
}
