package regression

import (
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// This file holds the products of a stage with slices of one number, as those of effects are, or a few. A kernel of matrix
// products keeps columns of the right matrix in vectors, and of a matrix with one column it would use one
// lane of each. So the rows of the operator become columns:
//
//	out(p, r) = sum_a in(p, a) A(r, a),   in(p, a) = sum_r out(p, r) A(r, a)
//
// with all prefixes p in one product. Where the classes are fewer than the combinations of a row r of the operator
// and a class of the next stage, the product has all combinations, of which the stage takes those that occur. It
// computes the combinations of a few classes of the next stage at a time, which stay in the cache.

const (
	// narrowWidth limits the numbers of a slice.
	narrowWidth = 4

	// narrowEntries limits the entries of an operator of which narrow products keep copies.
	narrowEntries = 1 << 22

	// narrowBlock is the number of entries of a block of rows that become columns.
	narrowBlock = 1 << 13

	// manyRows is the number of rows of the left matrix from which one general product is faster than products with blocks.
	manyRows = 32

	// fewParents is the number of classes of the next stage whose combinations are computed at a time: two tiles of a product.
	fewParents = 24

	// narrowProduct limits the multiplications of a product within a loop over threads; larger ones would start threads.
	narrowProduct = 1<<20 - 1

	// narrowWaste limits the combinations per class in a narrow product.
	narrowWaste = 32
)

// A narrow holds the rows of an operator that the classes of a stage use.
type narrow struct {
	codes  []int32       // of the rows
	row    []int32       // by class; nil if each class has its own
	tables [2]narrowRows // the entries, and their squares

	first, order []int32 // the classes order[first[q]:first[q+1]] have class q in the next stage; nil if row is
}

type narrowRows struct {
	once, onceBlocks sync.Once
	rows             []float32 // row by row
	blocks           []float32 // blocks of rows, each of them column by column
}

// newNarrow returns what narrow products of a stage need, nil if they would cost too much.
func (s *stage) newNarrow(width int) *narrow {
	if s.op == nil || width > narrowWidth || width > 1 && (s.parents > 1 || s.prefix > 1) {
		return nil
	}
	n := &narrow{codes: s.code}
	if s.parents > 1 {
		n.codes, n.row = nil, make([]int32, len(s.code))
		seen := map[int32]int32{}
		for c, code := range s.code {
			r, ok := seen[code]
			if !ok {
				r = int32(len(n.codes))
				seen[code] = r
				n.codes = append(n.codes, code)
			}
			n.row[c] = r
		}
	}
	if len(n.codes)*s.columns > narrowEntries || len(n.codes)*s.parents > narrowWaste*len(s.code) {
		return nil
	}
	if s.parents > 1 {
		n.first, n.order = make([]int32, s.parents+1), make([]int32, len(s.code))
		for _, q := range s.parent {
			n.first[q+1]++
		}
		for q := range s.parents {
			n.first[q+1] += n.first[q]
		}
		next := slices.Clone(n.first)
		for c, q := range s.parent {
			n.order[next[q]] = int32(c)
			next[q]++
		}
	}
	return n
}

// table returns the rows of the operator, or their squares.
func (s *stage) table(squared bool) *narrowRows {
	t := &s.narrow.tables[0]
	if squared {
		t = &s.narrow.tables[1]
	}
	t.once.Do(func() {
		a := s.op.Matrix()
		t.rows = make([]float32, len(s.narrow.codes)*s.columns)
		for r, code := range s.narrow.codes {
			row := t.rows[r*s.columns:][:s.columns]
			for k, v := range a[int(code)*s.columns:][:s.columns] {
				if squared {
					v *= v
				}
				row[k] = v
			}
		}
	})
	return t
}

// fillBlocks fills the blocks of a table, unless they are.
func (s *stage) fillBlocks(t *narrowRows) {
	t.onceBlocks.Do(func() {
		t.blocks = make([]float32, len(t.rows))
		s.eachBlock(1, func(from, size int) {
			block := t.blocks[from*s.columns:]
			for r := range size {
				for k, v := range t.rows[(from+r)*s.columns:][:s.columns] {
					block[k*size+r] = v
				}
			}
		})
	})
}

// eachBlock calls visit for the blocks of rows.
func (s *stage) eachBlock(threads int, visit func(from, size int)) {
	most, n := max(32, narrowBlock/max(s.columns, 1)&^31), len(s.narrow.codes)
	parallel.For(threads, (n+most-1)/most, func(i int) { visit(i*most, min(most, n-i*most)) })
}

// multiplyRows writes x A' to out, where x has m rows, or m columns if transposed, and A the rows of a table.
func (s *stage) multiplyRows(b backend.Backend, out []float32, t *narrowRows, transposed bool, m int, x []float32, stride int) {
	n, k := len(s.narrow.codes), s.columns
	if m >= manyRows {
		b.Gemm(transposed, true, m, n, k, 1, x, stride, t.rows, k, 0, out, n)
		return
	}
	s.fillBlocks(t)
	threads := b.Threads()
	if m*n*k < 1<<18 {
		threads = 1 // takes less time than another thread needs to start
	}
	s.eachBlock(threads, func(from, size int) {
		b.Gemm(transposed, false, m, size, k, 1, x, stride, t.blocks[from*k:], size, 0, out[from:], n)
	})
}

// applyNarrow is apply for slices of one number or a few.
func (s *stage) applyNarrow(b backend.Backend, out, in []float32, width int, squared bool) {
	t, n, k := s.table(squared), len(s.narrow.codes), s.columns
	if width == 1 && s.narrow.row == nil {
		s.multiplyRows(b, out, t, false, s.prefix, in, k)
		return
	}
	if width > 1 {
		columns := make([]float32, width*n)
		s.multiplyRows(b, columns, t, true, width, in, width)
		transposeTo(b.Threads(), out, columns, width, n)
		return
	}
	s.fillBlocks(t)
	s.eachParents(b.Threads(), n, func(p, from, size int, all []float32, at func(class int32) int) {
		s.eachBlock(1, func(row, rows int) {
			b.Gemm(true, false, size, rows, k, 1, in[p*k*s.parents+from:], s.parents, t.blocks[row*k:], rows, 0, all[row:], n)
		})
		for _, c := range s.narrow.order[s.narrow.first[from]:s.narrow.first[from+size]] {
			out[p*len(s.code)+int(c)] = all[at(c)]
		}
	})
}

// adjointNarrow is adjoint for slices of one number or a few.
func (s *stage) adjointNarrow(b backend.Backend, in, out []float32, width int, squared bool) {
	rows, n, k := s.table(squared).rows, len(s.narrow.codes), s.columns
	if width == 1 && s.narrow.row == nil {
		b.Gemm(false, false, s.prefix, k, n, 1, out, n, rows, k, 0, in, k)
		return
	}
	if width > 1 {
		columns, sums := make([]float32, width*n), make([]float32, width*k)
		transposeTo(b.Threads(), columns, out, n, width)
		b.Gemm(false, false, width, k, n, 1, columns, n, rows, k, 0, sums, k)
		transposeTo(b.Threads(), in, sums, width, k)
		return
	}
	depth := max(8, narrowProduct/(fewParents*k)&^7)
	s.eachParents(b.Threads(), n+k, func(p, from, size int, memory []float32, at func(class int32) int) {
		all, sums := memory[:fewParents*n], memory[fewParents*n:][:size*k]
		classes := s.narrow.order[s.narrow.first[from]:s.narrow.first[from+size]]
		for _, c := range classes {
			all[at(c)] = out[p*len(s.code)+int(c)]
		}
		for row := 0; row < n; row += depth {
			b.Gemm(false, false, size, k, min(depth, n-row), 1, all[row:], n, rows[row*k:], k, min(float32(row), 1), sums, k)
		}
		for a := range k {
			for q := range size {
				in[(p*k+a)*s.parents+from+q] = sums[q*k+a]
			}
		}
		for _, c := range classes {
			all[at(c)] = 0 // as are the combinations that do not occur
		}
	})
}

// eachParents calls visit for all prefixes and a few classes of the next stage at a time, on several threads. Each thread
// has memory for some numbers per class of the next stage, at first 0; at returns the place of a class in a matrix of
// these classes and the rows of the operator.
func (s *stage) eachParents(threads, numbers int, visit func(prefix, from, size int, memory []float32, at func(class int32) int)) {
	groups, n := (s.parents+fewParents-1)/fewParents, len(s.narrow.codes)
	memory := make([][]float32, max(1, threads))
	parallel.ForWorkers(threads, s.prefix*groups, func(worker, i int) {
		if memory[worker] == nil {
			memory[worker] = make([]float32, fewParents*numbers)
		}
		from := i % groups * fewParents
		visit(i/groups, from, min(fewParents, s.parents-from), memory[worker], func(c int32) int {
			return (int(s.parent[c])-from)*n + int(s.narrow.row[c])
		})
	})
}

// transposeTo writes the transpose of a matrix with some rows and columns, the fewer of which are few.
func transposeTo(threads int, dst, src []float32, rows, columns int) {
	if rows < columns {
		parallel.Blocks(threads, columns, func(from, to int) {
			for i := range rows {
				for j := from; j < to; j++ {
					dst[j*rows+i] = src[i*columns+j]
				}
			}
		})
		return
	}
	parallel.Blocks(threads, rows, func(from, to int) {
		for j := range columns {
			for i := from; i < to; i++ {
				dst[j*rows+i] = src[i*columns+j]
			}
		}
	})
}

// scratch keeps memory of one length between calls, which may come at the same time.
type scratch struct{ pool sync.Pool }

// get returns memory that was put before, or zeros.
func (s *scratch) get(n int) []float32 {
	if memory, ok := s.pool.Get().(*[]float32); ok && len(*memory) == n {
		return *memory
	}
	return make([]float32, n)
}

func (s *scratch) put(memory []float32) { s.pool.Put(&memory) }
