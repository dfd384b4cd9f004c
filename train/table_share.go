package train

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// A tableShare is a run of the rows of a table that one of several ranks has.
type tableShare struct {
	ranks  backend.Ranks
	bounds []int // by rank: its first row
	codes  [][]int32
	y      []float32
}

// own returns the rows of this process.
func (s *tableShare) own() (from, to int) {
	return s.bounds[s.ranks.Rank()], s.bounds[s.ranks.Rank()+1]
}

// unite sets the marks that some rank has set on all, in two lists of equal length, and reports
// whether one has a mark in both.
func (s *tableShare) unite(a, b []bool) (both bool) {
	n := len(a)
	counts := make([]int32, 2*n)
	for i := range n {
		if a[i] {
			counts[i] = 1
		}
		if b[i] {
			counts[n+i] = 1
		}
	}
	counts = peers.Sum(s.ranks, counts)
	for i := range n {
		a[i], b[i] = counts[i] > 0, counts[n+i] > 0
		both = both || a[i] && b[i]
	}
	return both
}

// keepShare says that the columns of the table are a share of them. The table has no columns then,
// until it is completed.
func (d *Data) keepShare(ranks backend.Ranks, bounds []int) {
	d.share = &tableShare{ranks, bounds, d.table.Codes, d.table.Y}
	d.table.Codes, d.table.Y = make([][]int32, len(d.table.Codes)), nil
}

// shareOf returns the share of a table that all ranks have.
func (d *Data) shareOf(ranks backend.Ranks) *tableShare {
	s := &tableShare{ranks: ranks, bounds: peers.Even(d.table.Len(), ranks.Size())}
	from, to := s.own()
	s.y = d.table.Y[from:to]
	for _, column := range d.table.Codes {
		s.codes = append(s.codes, column[from:to])
	}
	return s
}

// complete gives all ranks all rows of the table.
func (d *Data) complete() {
	if d.share == nil {
		return
	}
	s := d.share
	d.share = nil
	for m, column := range s.codes {
		d.table.Codes[m] = peers.Concat(s.ranks, column)
	}
	d.table.Y = peers.Concat(s.ranks, s.y)
}
