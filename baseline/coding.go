package baseline

import (
	"math/bits"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/radix"
)

// A coding assigns the rows of each part to groups.
type coding struct {
	size  int
	parts [3][]int32 // group of each row, -1 for a group without training rows
}

func codingOfMode(t *Table, mode int) *coding {
	c := &coding{size: t.Sizes[mode]}
	for p, rows := range t.Parts {
		if len(rows.Codes) > 0 {
			c.parts[p] = rows.Codes[mode]
		}
	}
	return c
}

// A grouping lists the training rows of each group, in their order.
type grouping struct {
	rows  []int32
	start []int32 // of each group in rows, and their number
	cuts  []int   // groups between which threads share the work
}

// newGrouping sorts the training rows by group; all have one.
func newGrouping(threads int, c *coding) *grouping {
	keys := make([]uint64, len(c.parts[Train]))
	g := &grouping{start: make([]int32, c.size+1)}
	for i, k := range c.parts[Train] {
		keys[i] = uint64(k)
		g.start[k+1]++
	}
	for k := range c.size {
		if g.start[k+1] += g.start[k]; k == 0 || int(g.start[k])/parallel.Block != int(g.start[k+1])/parallel.Block {
			g.cuts = append(g.cuts, k)
		}
	}
	g.cuts = append(g.cuts, c.size)
	g.rows, _ = radix.Order(threads, keys)
	return g
}

// each calls work for every group.
func (g *grouping) each(threads int, work func(group int, rows []int32)) {
	parallel.For(threads, len(g.cuts)-1, func(i int) {
		for k := g.cuts[i]; k < g.cuts[i+1]; k++ {
			work(k, g.rows[g.start[k]:g.start[k+1]])
		}
	})
}

// combine returns the coding by combinations of the groups of a and b that occur in
// training rows.
func combine(a, b *coding) *coding {
	c := &coding{}
	find := finder(a, b)
	for p := range c.parts {
		groups := make([]int32, len(a.parts[p]))
		for i, first := range a.parts[p] {
			groups[i] = -1
			if second := b.parts[p][i]; first >= 0 && second >= 0 {
				place := find(uint64(first)*uint64(b.size) + uint64(second))
				if *place == 0 && p == int(Train) {
					c.size++
					*place = int32(c.size)
				}
				groups[i] = *place - 1
			}
		}
		c.parts[p] = groups
	}
	return c
}

// finder returns a function that finds the place of a number that belongs to a
// combination, at first 0. A combination without a number may share its place with
// others that have none, so only training rows may set a number, and before all others
// are looked up.
func finder(a, b *coding) func(key uint64) *int32 {
	rows := len(a.parts[Train])
	if high, all := bits.Mul64(uint64(a.size), uint64(b.size)); high == 0 && all <= uint64(max(4*rows, 1<<12)) {
		dense := make([]int32, all)
		return func(key uint64) *int32 { return &dense[key] }
	}
	size := 1 << bits.Len(uint(2*rows)) // at most half full
	keys, numbers := make([]uint64, size), make([]int32, size)
	shift := 64 - uint(bits.Len(uint(size-1)))
	return func(key uint64) *int32 {
		key++ // 0 marks a free slot
		at := (key ^ key>>29) * 0x9e3779b97f4a7c15 >> shift
		for numbers[at] != 0 && keys[at] != key {
			at = (at + 1) & uint64(size-1)
		}
		keys[at] = key
		return &numbers[at]
	}
}

// distinct returns the values that occur, in ascending order.
func distinct(values []int32) []int32 { return slices.Compact(slices.Sorted(slices.Values(values))) }

// A total is the weighted sum of values and the sum of weights.
type total struct{ value, weight float64 }

// sum returns the totals of the targets of training rows by group.
func (f *fitter) sum(c *coding) []total {
	sums := make([]total, c.size)
	y, w := f.Parts[Train].Y, f.Parts[Train].W
	for i, g := range c.parts[Train] {
		if w == nil {
			sums[g].value += float64(y[i])
			sums[g].weight++
		} else {
			sums[g].value += float64(w[i]) * float64(y[i])
			sums[g].weight += float64(w[i])
		}
	}
	return sums
}
