// Package regression is the map T = A W of weights on side information to the slices of a core, with a posterior of the
// weights whose covariance is a Kronecker product.
package regression

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// An Operator is the side information of a mode: a row-major matrix with one row
// per code, applied along the mode.
type Operator interface {
	Rows() int
	Columns() int
	Matrix() []float32
}

// A LinearMap is the linear map T = A W from the weights W of a regression to the
// slices T of the occurring combinations of a core,
//
//	T(i, j, ...) = sum over a, b, ... of A(i, a) B(j, b) ... W(a, b, ...),
//
// with one operator per mode, which is the identity for a mode without side
// information. For one mode the map is one matrix product. Several modes are summed
// out from the last to the first, and each step covers the distinct combinations of
// codes of the modes from there on. Nothing is computed for combinations that do
// not occur.
type LinearMap struct {
	stages []stage // one per mode
	n      int     // entities, without the prior
	width  int     // entries of a slice

	between []scratch // [q]: what stage q + 1 passes to stage q, or back
}

// stage sums out one mode. A class is a distinct combination of the codes of this
// mode and those after it. Class c has code[c] in this mode and class parent[c] in
// the next stage.
type stage struct {
	op      Operator // nil is the identity
	columns int      // of the operator
	code    []int32
	parent  []int32
	prefix  int // product of the columns of the modes before
	parents int // classes of the next stage

	matrix []float32 // rows of the operator by class, if parents is 1 and they are few or in order
	narrow *narrow   // for slices of few numbers; nil if they have more
	rows   *scratch  // of eachRows
}

// NewLinearMap returns the map for a core. operators has one entry per mode of the
// index, nil for a mode without side information; width is the size of a slice.
func NewLinearMap(x *entity.Index, operators []Operator, width int) (*LinearMap, error) {
	modes := len(x.Axes())
	if len(operators) != modes {
		panic(fmt.Sprintf("regression: %d operators for %d modes", len(operators), modes))
	}
	m := &LinearMap{stages: make([]stage, modes), between: make([]scratch, modes-1), n: int(x.Prior()), width: width}
	prefix := 1
	for q := range m.stages {
		s := &m.stages[q]
		s.op, s.prefix, s.columns, s.rows = operators[q], prefix, x.Axes()[q].Size, &scratch{}
		if s.op != nil {
			if s.op.Rows() != x.Axes()[q].Size {
				panic(fmt.Sprintf("regression: an operator of %d rows for a mode of %d codes", s.op.Rows(), x.Axes()[q].Size))
			}
			s.columns = s.op.Columns()
		}
		prefix *= s.columns
	}
	if float64(prefix)*float64(width) > 1<<31 {
		return nil, fielderr.Errorf("side.columns", "tt: a joint regression would have %d x %d weights; use fewer columns for its modes, or join fewer modes", prefix, width)
	}
	class := make([]int32, int(x.Prior())) // by entity, in the stage after q
	parents := 1
	for q := modes - 1; q >= 0; q-- {
		s := &m.stages[q]
		s.parents = parents
		seen := map[[2]int32]int32{}
		for e := range class {
			key := [2]int32{x.Combinations()[e*modes+q], class[e]}
			c, ok := seen[key]
			if !ok {
				c = int32(len(s.code))
				seen[key] = c
				s.code, s.parent = append(s.code, key[0]), append(s.parent, key[1])
			}
			class[e] = c
		}
		parents = len(s.code)
	}
	m.Refresh()
	return m, nil
}

// Refresh reads the matrices of the operators again, after a change of their
// hyperparameters.
func (m *LinearMap) Refresh() {
	for q := range m.stages {
		s := &m.stages[q]
		s.narrow = s.newNarrow(m.width)
		if s.op == nil || s.parents != 1 || s.narrow != nil {
			continue
		}
		s.matrix = nil
		switch a := s.op.Matrix(); {
		case s.inOrder(len(a) / s.columns):
			s.matrix = a
		case len(s.code) <= blockRows: // a copy of more rows may be as large as the table
			s.matrix = make([]float32, len(s.code)*s.columns)
			for c := range s.code {
				copy(s.matrix[c*s.columns:], s.row(a, c))
			}
		}
	}
}

// row returns the row of a class in the matrix of the operator.
func (s *stage) row(a []float32, class int) []float32 {
	return a[int(s.code[class])*s.columns:][:s.columns]
}

// inOrder reports whether the classes are the rows of an operator with n rows.
func (s *stage) inOrder(n int) bool {
	for c, code := range s.code {
		if int(code) != c {
			return false
		}
	}
	return len(s.code) == n
}

// Uses reports whether the map has the operator.
func (m *LinearMap) Uses(o Operator) bool {
	for _, s := range m.stages {
		if s.op == o {
			return true
		}
	}
	return false
}

func (m *LinearMap) Operators() []Operator {
	ops := make([]Operator, len(m.stages))
	for q := range ops {
		ops[q] = m.stages[q].op
	}
	return ops
}

// Row returns the row of A of an entity, for a map of one mode with an operator. It shares
// memory with the operator.
func (m *LinearMap) Row(entity int) []float32 {
	s := &m.stages[0]
	return s.row(s.op.Matrix(), entity)
}

// Weights returns the number of weights W.
func (m *LinearMap) Weights() int { return m.Rows() * m.width }

// Rows returns the number of rows of W. A row has the size of a slice.
func (m *LinearMap) Rows() int {
	last := &m.stages[len(m.stages)-1]
	return last.prefix * last.columns
}

// Systems returns the number of regressions that share no weight: one per
// combination of codes of the modes without operator.
func (m *LinearMap) Systems() int {
	n := 1
	for q := range m.stages {
		if s := &m.stages[q]; s.op == nil {
			n *= s.columns
		}
	}
	return n
}

// Intercept reports whether a row of W multiplies the first column of every
// operator.
func (m *LinearMap) Intercept(row int) bool {
	after := m.Rows()
	for q := range m.stages {
		s := &m.stages[q]
		after /= s.columns
		if s.op != nil && row/after%s.columns != 0 {
			return false
		}
	}
	return true
}

// Apply writes T = A W to dst, entity by entity. If squared is set, it uses the
// squares of the entries of the operators.
func (m *LinearMap) Apply(b backend.Backend, dst, w []float32, squared bool) {
	in := w
	for q := len(m.stages) - 1; q >= 0; q-- {
		s := &m.stages[q]
		out := dst[:m.n*m.width]
		if q > 0 {
			out = m.between[q-1].get(s.prefix * len(s.code) * m.width)
			defer m.between[q-1].put(out)
		}
		s.apply(b, out, in, m.width, squared)
		in = out
	}
}

// Adjoint writes A' G to dst, the adjoint of Apply.
func (m *LinearMap) Adjoint(b backend.Backend, dst, g []float32, squared bool) {
	out := g[:m.n*m.width]
	for q := range m.stages {
		s := &m.stages[q]
		in := dst
		if q < len(m.stages)-1 {
			in = m.between[q].get(s.prefix * s.columns * s.parents * m.width)
			defer m.between[q].put(in)
		}
		s.adjoint(b, in, out, m.width, squared)
		out = in
	}
}

// apply computes out(p, c) = sum_a A(code(c), a) in(p, a, parent(c)) for every
// prefix p.
func (s *stage) apply(b backend.Backend, out, in []float32, width int, squared bool) {
	classes := len(s.code)
	switch {
	case s.op == nil:
		backend.ParallelFor(b, s.prefix*classes, func(i int) {
			p, c := i/classes, i%classes
			from := ((p*s.columns+int(s.code[c]))*s.parents + int(s.parent[c])) * width
			copy(out[i*width:][:width], in[from:][:width])
		})
	case s.narrow != nil:
		s.applyNarrow(b, out, in, width, squared)
	case s.parents == 1:
		for p := range s.prefix {
			s.eachRows(b, squared, func(rows []float32, from, n int) {
				b.Gemm(false, false, n, width, s.columns, 1, rows, s.columns, in[p*s.columns*width:], width, 0, out[(p*classes+from)*width:], width)
			})
		}
	default:
		a := s.op.Matrix()
		backend.ParallelFor(b, s.prefix*classes, func(i int) {
			p, c := i/classes, i%classes
			row := a[int(s.code[c])*s.columns:][:s.columns]
			dst := out[i*width:][:width]
			clear(dst)
			for k, v := range row {
				if squared {
					v *= v
				}
				src := in[((p*s.columns+k)*s.parents+int(s.parent[c]))*width:][:width]
				for j, x := range src {
					dst[j] += v * x
				}
			}
		})
	}
}

// adjoint computes in(p, a, q) = sum over classes c of parent q of
// A(code(c), a) out(p, c).
func (s *stage) adjoint(b backend.Backend, in, out []float32, width int, squared bool) {
	classes := len(s.code)
	if s.narrow != nil {
		s.adjointNarrow(b, in, out, width, squared)
		return
	}
	if s.op != nil && s.parents == 1 {
		for p := range s.prefix {
			s.eachRows(b, squared, func(rows []float32, from, n int) {
				b.Gemm(true, false, s.columns, width, n, 1, rows, s.columns, out[(p*classes+from)*width:], width, min(float32(from), 1), in[p*s.columns*width:], width)
			})
		}
		return
	}
	parallel.Blocks(b.Threads(), len(in), func(from, to int) { clear(in[from:to]) })
	if s.op == nil {
		backend.ParallelFor(b, s.prefix*classes, func(i int) {
			p, c := i/classes, i%classes
			to := ((p*s.columns+int(s.code[c]))*s.parents + int(s.parent[c])) * width
			copy(in[to:][:width], out[i*width:][:width])
		})
		return
	}
	a := s.op.Matrix()
	backend.ParallelFor(b, s.prefix*s.columns, func(i int) {
		p, k := i/s.columns, i%s.columns
		for c := range classes {
			v := a[int(s.code[c])*s.columns+k]
			if squared {
				v *= v
			}
			dst := in[(i*s.parents+int(s.parent[c]))*width:][:width]
			for j, x := range out[(p*classes+c)*width:][:width] {
				dst[j] += v * x
			}
		}
	})
}

// blockRows is the number of rows that are copied, or squared, at a time: 8 MiB of 256 columns.
const blockRows = 1 << 13

// eachRows calls visit with all rows of the matrix, or with n copied or squared rows after
// another, the first of which belong to class from.
func (s *stage) eachRows(b backend.Backend, squared bool, visit func(rows []float32, from, n int)) {
	classes := len(s.code)
	if s.matrix != nil && !squared {
		visit(s.matrix, 0, classes)
		return
	}
	a := s.op.Matrix()
	block := s.rows.get(min(classes, blockRows) * s.columns)
	defer s.rows.put(block)
	for from := 0; from < classes; from += blockRows {
		n := min(blockRows, classes-from)
		backend.ParallelFor(b, n, func(c int) {
			dst := block[c*s.columns:][:s.columns]
			copy(dst, s.row(a, from+c))
			if squared {
				for i, v := range dst {
					dst[i] = v * v
				}
			}
		})
		visit(block, from, n)
	}
}
