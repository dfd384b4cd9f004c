package dataset

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/hashtable"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// DistinctShares reports whether no cell occurs twice in a table of which each process of a group
// has some rows, process r those from bounds[r] on. The result false means unknown. Rows are moved
// between the processes, so that none has an id of the slowest mode that another one has too, if
// the table is sorted; the new bounds are returned. The columns are the codes and the targets.
func (t *Table) DistinctShares(group peers.Group, bounds []int) (moved []int, distinct bool) {
	order := t.slowestFirst()
	peers.From(group, order, 0)
	n := bounds[group.Size()]
	if len(order) < 2 || n < leastShared {
		return bounds, false
	}
	moved = borders(group, t.Codes[order[0]], bounds)
	if !slices.Equal(moved, bounds) {
		size := moved[group.Rank()+1] - moved[group.Rank()]
		for m, column := range t.Codes {
			t.Codes[m] = make([]int32, size)
			peers.Move(group, t.Codes[m], column, bounds, moved)
		}
		y := t.Y
		t.Y = make([]float32, size)
		peers.Move(group, t.Y, y, bounds, moved)
	}
	return moved, t.distinctAmong(group, order, 0, t.Len())
}

// borders moves the bounds of rows, of which this process has its own codes, on to the next change of the code.
func borders(group peers.Group, own []int32, bounds []int) []int {
	type facts struct {
		Rows, Lead  int64 // rows, and those with the code of the first one before another
		First, Last int32
	}
	f := facts{Rows: int64(len(own))}
	if len(own) > 0 {
		f.First, f.Last = own[0], own[len(own)-1]
		for f.Lead < f.Rows && own[f.Lead] == f.First {
			f.Lead++
		}
	}
	all, moved := peers.Each(group, f), slices.Clone(bounds)
	last, known := int32(0), false // code before the bound
	for r, f := range all {
		for k := r; known && k < len(all); k++ {
			if all[k].Rows > 0 && all[k].First != last {
				break
			}
			if moved[r] += int(all[k].Lead); all[k].Lead < all[k].Rows {
				break
			}
		}
		if f.Rows > 0 {
			last, known = f.Last, true
		}
	}
	return moved
}

// distinctAmong reports whether no cell occurs twice among the rows that the processes of a group
// have, this one [from, to), and no id of the slowest mode on two of them.
func (t *Table) distinctAmong(group peers.Group, order []int, from, to int) bool {
	slowest := t.Codes[order[0]]
	var runs hashtable.Table
	n := t.Dicts[order[0]].Len()
	seen := make([]bool, group.Size()*(n+1)) // by process: its ids, and whether it has a cell twice
	own := seen[group.Rank()*(n+1):][:n+1]
	var nested nesting
	if _, ok := nested.distinct(t, order, from, to); !ok || t.Len() > math.MaxInt32/len(order) { // as in distinctNested
		own[n] = !t.distinctBetween(&runs, order[:len(order)-1], order[len(order)-1], from, to)
	}
	for _, c := range slowest[from:to] {
		own[c] = true
	}
	peers.Values(group, seen, peers.Even(group.Size(), group.Size()), n+1)
	for id := range n + 1 {
		occurs := 0
		for r := range group.Size() {
			if seen[r*(n+1)+id] {
				occurs++
			}
		}
		if occurs > 1 || id == n && occurs > 0 {
			return false
		}
	}
	return true
}

// leastShared is the number of rows from which processes share the work.
const leastShared = 1 << 16

func (t *Table) sameCodes(modes []int, i, j int) bool {
	for _, m := range modes {
		if t.Codes[m][i] != t.Codes[m][j] {
			return false
		}
	}
	return true
}
