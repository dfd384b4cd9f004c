package fitdata

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// A Share is a run of the rows of a table that one of several ranks has.
type Share struct {
	Bounds []int // by rank: its first row
	Codes  [][]int32
	Y      []float32

	ranks backend.Ranks
}

// own returns the rows of this process.
func (s *Share) own() (from, to int) {
	return s.Bounds[s.ranks.Rank()], s.Bounds[s.ranks.Rank()+1]
}

// unite sets the marks that some rank has set on all, in two lists of equal length, and reports
// whether one has a mark in both.
func (s *Share) unite(a, b []bool) (both bool) {
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
	d.share = &Share{Bounds: bounds, Codes: d.table.Codes, Y: d.table.Y, ranks: ranks}
	d.table.Codes, d.table.Y = make([][]int32, len(d.table.Codes)), nil
}

// Shared returns the share of the table that this process has, nil if it has all rows.
func (d *Data) Shared() *Share { return d.share }

// ShareOf returns the share of this process of a table that all ranks have.
func (d *Data) ShareOf(ranks backend.Ranks) *Share {
	s := &Share{ranks: ranks, Bounds: peers.Even(d.table.Len(), ranks.Size())}
	from, to := s.own()
	s.Y = d.table.Y[from:to]
	for _, column := range d.table.Codes {
		s.Codes = append(s.Codes, column[from:to])
	}
	return s
}

// Complete gives all ranks all rows of the table.
func (d *Data) Complete() {
	if d.share == nil {
		return
	}
	s := d.share
	d.share = nil
	for m, column := range s.Codes {
		d.table.Codes[m] = peers.Concat(s.ranks, column)
	}
	d.table.Y = peers.Concat(s.ranks, s.Y)
}
