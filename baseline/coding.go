package baseline

import (
	"math/bits"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/hashtable"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
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
func newGrouping(c *coding) *grouping {
	g := &grouping{rows: make([]int32, len(c.parts[Train])), start: make([]int32, c.size+1)}
	for _, k := range c.parts[Train] {
		g.start[k+1]++
	}
	for k := range c.size {
		if g.start[k+1] += g.start[k]; k == 0 || int(g.start[k])/parallel.Block != int(g.start[k+1])/parallel.Block {
			g.cuts = append(g.cuts, k)
		}
	}
	g.cuts = append(g.cuts, c.size)
	next := slices.Clone(g.start)
	for i, k := range c.parts[Train] {
		g.rows[next[k]] = int32(i)
		next[k]++
	}
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
func combine(threads int, a, b *coding) *coding {
	c := &coding{}
	// The groups with training rows are numbered first: they may be few, as of a sample of ids.
	first, firsts := a.occurring()
	second, seconds := b.occurring()
	key := func(p Part, i int) (uint64, bool) {
		x, y := a.parts[p][i], b.parts[p][i]
		if x < 0 || y < 0 || first[x] == 0 || second[y] == 0 {
			return 0, false
		}
		return uint64(first[x]-1)*uint64(seconds) + uint64(second[y]-1), true
	}
	numbers := newNumbers(firsts, seconds, len(a.parts[Train]))
	for p := range c.parts {
		c.parts[p] = make([]int32, len(a.parts[p]))
	}
	for i := range c.parts[Train] {
		c.parts[Train][i] = -1
		if k, ok := key(Train, i); ok {
			c.parts[Train][i] = numbers.add(k)
		}
	}
	c.size = int(numbers.count)
	for _, p := range []Part{Valid, Test} {
		parallel.Blocks(threads, len(c.parts[p]), func(from, to int) {
			for i := from; i < to; i++ {
				c.parts[p][i] = -1
				if k, ok := key(p, i); ok {
					c.parts[p][i] = numbers.of(k)
				}
			}
		})
	}
	return c
}

// occurring numbers the groups that have training rows, from 1 on, and counts them.
func (c *coding) occurring() (numbers []int32, count int) {
	numbers = make([]int32, c.size)
	for _, g := range c.parts[Train] {
		if g >= 0 && numbers[g] == 0 {
			count++
			numbers[g] = int32(count)
		}
	}
	return numbers, count
}

// numbers are those of combinations, in order of appearance.
type numbers struct {
	dense  []int32 // by key: the number plus 1; nil for a hash table
	sparse *hashtable.Table
	count  int32
}

func newNumbers(a, b, rows int) *numbers {
	// 32 bytes per row, no more than a hash table takes.
	if high, all := bits.Mul64(uint64(a), uint64(b)); high == 0 && all <= uint64(max(8*rows, 1<<12)) {
		return &numbers{dense: make([]int32, all)}
	}
	return &numbers{sparse: hashtable.New(0)}
}

// of returns the number of a key, -1 if it has none.
func (n *numbers) of(key uint64) int32 {
	if n.dense != nil {
		return n.dense[key] - 1
	}
	if number, ok := n.sparse.Get(key + 1); ok { // 0 is no key
		return number
	}
	return -1
}

// add returns the number of a key, a new one if it has none.
func (n *numbers) add(key uint64) int32 {
	number := n.of(key)
	if number < 0 {
		number = n.count
		n.count++
		if n.dense != nil {
			n.dense[key] = n.count
		} else {
			n.sparse.Put(key+1, number)
		}
	}
	return number
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
