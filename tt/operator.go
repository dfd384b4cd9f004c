package tt

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
)

// An Operator is a matrix applied along a mode, a row for each of its codes:
// the side information of the mode. Row-major.
type Operator interface {
	Rows() int
	Columns() int
	Matrix() []float32
}

// A Map is the linear map from the weights W of a regression to the slices of
// a core,
//
//	T(i, j, ...) = sum over a, b, ... of A(i, a) B(j, b) ... W(a, b, ...),
//
// with one operator a mode, the identity where a mode has none, taken at the
// entities of the core's index. For one mode it is one matrix product. For
// several the modes are summed out from the last to the first, each step over
// the distinct combinations of codes from there on, so that nothing is computed
// for combinations that do not occur.
type Map struct {
	stages []stage // one a mode
	n      int     // entities, without the prior
	width  int     // entries of a slice
}

// stage sums out one mode: class c, a distinct combination of the codes of this
// mode and those after it, has the mode's code and a class of the next stage.
type stage struct {
	op      Operator // nil is the identity
	columns int      // of the operator
	code    []int32
	parent  []int32
	prefix  int // product of the columns of the modes before
	parents int // classes of the next stage

	matrix, squared []float32 // rows of the operator by class, where parents is 1
}

// NewMap returns the map for a core. operators has an entry a mode of the index,
// nil for a mode without side information; width is the size of a slice.
func NewMap(x *Index, operators []Operator, width int) (*Map, error) {
	modes := len(x.modes)
	if len(operators) != modes {
		panic(fmt.Sprintf("tt: %d operators for %d modes", len(operators), modes))
	}
	m := &Map{stages: make([]stage, modes), n: x.classes, width: width}
	prefix := 1
	for q := range m.stages {
		s := &m.stages[q]
		s.op, s.prefix, s.columns = operators[q], prefix, x.sizes[q]
		if s.op != nil {
			if s.op.Rows() != x.sizes[q] {
				panic(fmt.Sprintf("tt: an operator of %d rows for a mode of %d", s.op.Rows(), x.sizes[q]))
			}
			s.columns = s.op.Columns()
		}
		prefix *= s.columns
	}
	if float64(prefix)*float64(width) > 1<<31 {
		return nil, fmt.Errorf("tt: a joint regression would have %d x %d weights; use fewer columns for its modes, or join fewer of them", prefix, width)
	}
	class := make([]int32, x.classes) // of the stage after, by entity
	parents := 1
	for q := modes - 1; q >= 0; q-- {
		s := &m.stages[q]
		s.parents = parents
		seen := map[[2]int32]int32{}
		for e := range class {
			key := [2]int32{x.combos[e*modes+q], class[e]}
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

// Refresh takes the operators' matrices anew, after their hyperparameters
// changed.
func (m *Map) Refresh() {
	for q := range m.stages {
		s := &m.stages[q]
		if s.op == nil || s.parents != 1 {
			continue
		}
		a := s.op.Matrix()
		s.matrix = make([]float32, len(s.code)*s.columns)
		s.squared = make([]float32, len(s.matrix))
		for c, code := range s.code {
			copy(s.matrix[c*s.columns:][:s.columns], a[int(code)*s.columns:][:s.columns])
		}
		for i, v := range s.matrix {
			s.squared[i] = v * v
		}
	}
}

// Uses tells whether an operator is one of the map's.
func (m *Map) Uses(o Operator) bool {
	for _, s := range m.stages {
		if s.op == o {
			return true
		}
	}
	return false
}

func (m *Map) operators() []Operator {
	ops := make([]Operator, len(m.stages))
	for q := range ops {
		ops[q] = m.stages[q].op
	}
	return ops
}

// Weights returns the number of weights W, and Rows how many rows of a slice's
// width they make.
func (m *Map) Weights() int { return m.Rows() * m.width }

// Rows returns the number of rows of W.
func (m *Map) Rows() int {
	last := &m.stages[len(m.stages)-1]
	return last.prefix * last.columns
}

// Systems returns the number of regressions that share no weight: one for each
// combination of codes of the modes without operator.
func (m *Map) Systems() int {
	n := 1
	for q := range m.stages {
		if s := &m.stages[q]; s.op == nil {
			n *= s.columns
		}
	}
	return n
}

// intercept tells whether a row of W multiplies the first column of every
// operator.
func (m *Map) intercept(row int) bool {
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

// Apply writes T = A W to dst, an entity after the other; squared takes the
// squares of the operators' entries instead.
func (m *Map) Apply(b backend.Backend, dst, w []float32, squared bool) {
	in := w
	for q := len(m.stages) - 1; q >= 0; q-- {
		s := &m.stages[q]
		out := dst[:m.n*m.width]
		if q > 0 {
			out = make([]float32, s.prefix*len(s.code)*m.width)
		}
		s.apply(b, out, in, m.width, squared)
		in = out
	}
}

// Adjoint writes A' G to dst, the adjoint of Apply.
func (m *Map) Adjoint(b backend.Backend, dst, g []float32, squared bool) {
	out := g[:m.n*m.width]
	for q := range m.stages {
		s := &m.stages[q]
		in := dst
		if q < len(m.stages)-1 {
			in = make([]float32, s.prefix*s.columns*s.parents*m.width)
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
	case s.parents == 1:
		for p := range s.prefix {
			b.Gemm(false, false, classes, width, s.columns, 1, s.entries(squared), s.columns, in[p*s.columns*width:], width, 0, out[p*classes*width:], width)
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
	if s.op != nil && s.parents == 1 {
		for p := range s.prefix {
			b.Gemm(true, false, s.columns, width, classes, 1, s.entries(squared), s.columns, out[p*classes*width:], width, 0, in[p*s.columns*width:], width)
		}
		return
	}
	clear(in)
	if s.op == nil {
		for p := range s.prefix {
			for c := range classes {
				to := ((p*s.columns+int(s.code[c]))*s.parents + int(s.parent[c])) * width
				copy(in[to:][:width], out[(p*classes+c)*width:][:width])
			}
		}
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

func (s *stage) entries(squared bool) []float32 {
	if squared {
		return s.squared
	}
	return s.matrix
}
