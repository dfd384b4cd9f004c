package tt

import (
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
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

	// narrowWaste limits the combinations per class in a narrow product.
	narrowWaste = 32
)

// A narrow holds the rows of an operator that the classes of a stage use.
type narrow struct {
	codes  []int32       // of the rows
	row    []int32       // by class; nil if each class has its own
	tables [2]narrowRows // the entries, and their squares
}

type narrowRows struct {
	once   sync.Once
	rows   []float32 // row by row
	blocks []float32 // blocks of rows, each of them column by column
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
		a, n := s.op.Matrix(), len(s.narrow.codes)
		t.rows, t.blocks = make([]float32, n*s.columns), make([]float32, n*s.columns)
		for r, code := range s.narrow.codes {
			row := t.rows[r*s.columns:][:s.columns]
			for k, v := range a[int(code)*s.columns:][:s.columns] {
				if squared {
					v *= v
				}
				row[k] = v
			}
		}
		s.eachBlock(func(from, size int) {
			block := t.blocks[from*s.columns:]
			for r := range size {
				for k, v := range t.rows[(from+r)*s.columns:][:s.columns] {
					block[k*size+r] = v
				}
			}
		})
	})
	return t
}

// eachBlock calls visit for the blocks of rows.
func (s *stage) eachBlock(visit func(from, size int)) {
	most := max(32, narrowBlock/max(s.columns, 1)&^31)
	for from := 0; from < len(s.narrow.codes); from += most {
		visit(from, min(most, len(s.narrow.codes)-from))
	}
}

// applyNarrow is apply for slices of one number or a few.
func (s *stage) applyNarrow(b backend.Backend, out, in []float32, width int, squared bool) {
	t, n, k := s.table(squared), len(s.narrow.codes), s.columns
	if width > 1 {
		columns := make([]float32, width*n)
		s.eachBlock(func(from, size int) {
			b.Gemm(true, false, width, size, k, 1, in, width, t.blocks[from*k:], size, 0, columns[from:], n)
		})
		transposeTo(out, columns, width, n)
		return
	}
	if s.narrow.row == nil {
		s.eachBlock(func(from, size int) {
			b.Gemm(false, false, s.prefix, size, k, 1, in, k, t.blocks[from*k:], size, 0, out[from:], n)
		})
		return
	}
	all := make([]float32, s.parents*n)
	for p := range s.prefix {
		s.eachBlock(func(from, size int) {
			b.Gemm(true, false, s.parents, size, k, 1, in[p*k*s.parents:], s.parents, t.blocks[from*k:], size, 0, all[from:], n)
		})
		for c, r := range s.narrow.row {
			out[p*len(s.code)+c] = all[int(s.parent[c])*n+int(r)]
		}
	}
}

// adjointNarrow is adjoint for slices of one number or a few.
func (s *stage) adjointNarrow(b backend.Backend, in, out []float32, width int, squared bool) {
	rows, n, k := s.table(squared).rows, len(s.narrow.codes), s.columns
	if width > 1 {
		columns, sums := make([]float32, width*n), make([]float32, width*k)
		transposeTo(columns, out, n, width)
		b.Gemm(false, false, width, k, n, 1, columns, n, rows, k, 0, sums, k)
		transposeTo(in, sums, width, k)
		return
	}
	if s.narrow.row == nil {
		b.Gemm(false, false, s.prefix, k, n, 1, out, n, rows, k, 0, in, k)
		return
	}
	all, sums := make([]float32, s.parents*n), make([]float32, s.parents*k) // combinations that do not occur stay 0
	for p := range s.prefix {
		for c, r := range s.narrow.row {
			all[int(s.parent[c])*n+int(r)] = out[p*len(s.code)+c]
		}
		b.Gemm(false, false, s.parents, k, n, 1, all, n, rows, k, 0, sums, k)
		for q := range s.parents {
			for a, v := range sums[q*k:][:k] {
				in[(p*k+a)*s.parents+q] = v
			}
		}
	}
}

// transposeTo writes the transpose of a matrix with some rows and columns.
func transposeTo(dst, src []float32, rows, columns int) {
	for i := range rows {
		for j, v := range src[i*columns:][:columns] {
			dst[j*rows+i] = v
		}
	}
}
