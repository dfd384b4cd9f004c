package tt

import (
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
// and a class of the next stage, the product has all combinations, of which the stage takes those that occur.

const (
	// narrowWidth limits the numbers of a slice.
	narrowWidth = 4

	// narrowEntries limits the entries of an operator of which narrow products keep copies.
	narrowEntries = 1 << 22

	// narrowBlock is the number of entries of a block of rows that become columns.
	narrowBlock = 1 << 13

	// manyRows is the number of rows of the left matrix from which one general product is faster than products with blocks.
	manyRows = 32

	// narrowWaste limits the combinations per class in a narrow product.
	narrowWaste = 32
)

// A narrow holds the rows of an operator that the classes of a stage use.
type narrow struct {
	codes  []int32       // of the rows
	row    []int32       // by class; nil if each class has its own
	tables [2]narrowRows // the entries, and their squares

	products scratch // undefined
	sparse   scratch // 0 where no class is
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
		columns := s.narrow.products.get(width * n)
		defer s.narrow.products.put(columns)
		s.multiplyRows(b, columns, t, true, width, in, width)
		transposeTo(b.Threads(), out, columns, width, n)
		return
	}
	all := s.narrow.products.get(s.parents * n)
	defer s.narrow.products.put(all)
	classes := len(s.code)
	for p := range s.prefix {
		s.multiplyRows(b, all, t, true, s.parents, in[p*k*s.parents:], s.parents)
		parallel.Blocks(b.Threads(), classes, func(from, to int) {
			for c := from; c < to; c++ {
				out[p*classes+c] = all[int(s.parent[c])*n+int(s.narrow.row[c])]
			}
		})
	}
}

// adjointNarrow is adjoint for slices of one number or a few.
func (s *stage) adjointNarrow(b backend.Backend, in, out []float32, width int, squared bool) {
	rows, n, k := s.table(squared).rows, len(s.narrow.codes), s.columns
	if width == 1 && s.narrow.row == nil {
		b.Gemm(false, false, s.prefix, k, n, 1, out, n, rows, k, 0, in, k)
		return
	}
	if width > 1 {
		columns, sums := s.narrow.products.get(width*n), make([]float32, width*k)
		defer s.narrow.products.put(columns)
		transposeTo(b.Threads(), columns, out, n, width)
		b.Gemm(false, false, width, k, n, 1, columns, n, rows, k, 0, sums, k)
		transposeTo(b.Threads(), in, sums, width, k)
		return
	}
	all := s.narrow.sparse.get(s.parents * n)
	defer s.narrow.sparse.put(all)
	classes := len(s.code)
	for p := range s.prefix {
		parallel.Blocks(b.Threads(), classes, func(from, to int) {
			for c := from; c < to; c++ {
				all[int(s.parent[c])*n+int(s.narrow.row[c])] = out[p*classes+c]
			}
		})
		b.Gemm(true, true, k, s.parents, n, 1, rows, k, all, n, 0, in[p*k*s.parents:], s.parents)
	}
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
