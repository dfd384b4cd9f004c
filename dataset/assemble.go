package dataset

import (
	"sync"
	"sync/atomic"
)

// assemble puts the pieces together in file order. Ids are numbered by where they
// were first seen, so the codes do not depend on which worker read what.
func assemble(schema Schema, readers []*reader, pieces []*piece, counts Counts) *Table {
	t := &Table{Modes: schema.Modes, Counts: counts, Codes: make([][]int32, len(schema.Modes))}
	n := counts.Rows - counts.Missing - counts.ZeroWeight
	offset := make([]int, len(pieces)+1)
	for i, p := range pieces {
		offset[i+1] = offset[i] + len(p.y)
	}
	t.Y = make([]float32, n)
	each(len(readers), len(pieces), func(i int) { copy(t.Y[offset[i]:], pieces[i].y); pieces[i].y = nil })
	if schema.Weight != "" {
		t.W = make([]float32, n)
		each(len(readers), len(pieces), func(i int) { copy(t.W[offset[i]:], pieces[i].w); pieces[i].w = nil })
	}
	if schema.Part != "" {
		t.Part = make([]Part, n)
		each(len(readers), len(pieces), func(i int) { copy(t.Part[offset[i]:], pieces[i].parts) })
	}
	if n < counts.Rows {
		t.Row = make([]int32, n)
		each(len(readers), len(pieces), func(i int) {
			p := pieces[i]
			for k, dst := 0, t.Row[offset[i]:offset[i+1]]; k < len(dst); k++ {
				row := k
				if p.keep != nil {
					row = int(p.keep[k])
				}
				dst[k] = int32(p.at.row + row)
			}
		})
	}
	for m := range schema.Modes {
		dict, global := mergeDicts(readers, m)
		t.Dicts = append(t.Dicts, dict)
		t.Codes[m] = make([]int32, n)
		each(len(readers), len(pieces), func(i int) {
			p := pieces[i]
			to := global[p.worker]
			dst := t.Codes[m][offset[i]:offset[i+1]]
			for k, code := range p.codes[m][:len(dst)] {
				dst[k] = to[code]
			}
			p.codes[m] = nil // this mode's pieces may go before the next is made
		})
	}
	return t
}

// mergeDicts numbers the ids of all workers by first appearance, and returns the
// new code of each worker's codes. Each worker saw its ids in order: a merge.
func mergeDicts(readers []*reader, m int) (*Dict, [][]int32) {
	dict := emptyDict()
	global := make([][]int32, len(readers))
	next := make([]int, len(readers))
	for {
		first := -1
		for w, rd := range readers {
			if next[w] < len(rd.born[m]) && (first < 0 || rd.born[m][next[w]] < readers[first].born[m][next[first]]) {
				first = w
			}
		}
		if first < 0 {
			return dict, global
		}
		id := readers[first].modes[m].dict.ids[next[first]]
		code, _ := dict.intern([]byte(id))
		global[first] = append(global[first], code)
		next[first]++
	}
}

// each calls f(0), ..., f(n-1) on several goroutines.
func each(workers, n int, f func(i int)) {
	if workers == 1 || n <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	group.Wait()
}
