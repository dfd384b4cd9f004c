package tt

import (
	"cmp"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// unseenCells are the cells of a term with an entity whose slice has correlated
// entries because it has no training data. A pass of the backend takes entries as
// independent. The variance of these cells follows from the mean u and the covariance
// C of the product of the slices so far,
//
//	u <- u G,   C <- G'C G + diag(sum_a (u_a^2 + C_aa) rest_ab) + sum_k F_k'(uu' + C) F_k,
//
// where the slice has the mean G and the covariance FF' + diag(rest). Cells are sorted,
// so that cells with the same first slices share their products: O(K R^3) per distinct
// product and O(R^2) per cell.
type unseenCells struct {
	cores []unseenCore
	index [][]int32 // entities of the cells, by core in slices
	cells []int32
}

// unseenCore is a core in the order of a chain.
type unseenCore struct {
	slices      backend.Slices
	left, right int
	transposed  bool // the chain runs from the last core to the first
	outer       bool

	kind []uint8 // by row: whether its entity has training data; see the constants
	*prior
	scale []float32 // mean of V' of a wlr core; nil for others
}

// Kinds of entities.
const (
	trainedEntity   = iota
	describedEntity // without training data, with a regression of its own
	unknownEntity
)

// newUnseenCells finds the cells, given the entities of the rows of codes, and the
// localised slices and entities. It returns nil if there are none.
func (t *Train) newUnseenCells(b backend.Backend, codes, entities [][]int32, local []backend.Slices, index [][]int32) *unseenCells {
	if !t.Varies() || len(t.Cores) == 1 {
		return nil // a slice of one entry
	}
	u := &unseenCells{cores: make([]unseenCore, len(t.Cores)), index: index}
	n := len(codes[0])
	for p, c := range t.Cores {
		u.cores[p] = unseenCore{slices: local[p], left: c.Slices.Left, right: c.Slices.Right, outer: c.outer(), prior: &prior{}, kind: make([]uint8, n)}
	}
	unseen := make([][]int32, (n+parallel.Block-1)/parallel.Block) // rows with an entity without training data, by block
	parallel.Blocks(b.Threads(), n, func(from, to int) {
		var rows []int32
		for row := from; row < to; row++ {
			trained := true
			for p, c := range t.Cores {
				if kind := c.kindOf(codes, row, entities[p][row]); kind != trainedEntity {
					u.cores[p].kind[row], trained = kind, false
				}
			}
			if !trained {
				rows = append(rows, int32(row))
			}
		}
		unseen[from/parallel.Block] = rows
	})
	known := make([]bool, len(t.Cores)) // the priors that are needed
	for _, rows := range unseen {
		for _, row := range rows {
			affected := false
			for p := range u.cores {
				at := &u.cores[p]
				if at.kind[row] == trainedEntity {
					continue
				}
				if !known[p] {
					known[p], at.prior = true, t.Cores[p].priorMoments(b)
					at.scale = t.Cores[p].priorMultiplier()
				}
				factor := at.factor
				if at.kind[row] == describedEntity {
					factor = at.freeFactor
				}
				affected = affected || len(factor) > 0
			}
			if affected {
				u.cells = append(u.cells, row)
			}
		}
	}
	if u.cells == nil {
		return nil
	}
	return u
}

// kindOf returns the kind of the entity e of a row.
func (c *Core) kindOf(codes [][]int32, row int, e int32) uint8 {
	switch {
	case e != c.Index.Prior() && c.trained(int(e)):
		return trainedEntity
	case e != c.Index.Prior() || c.combinationOnDemand(codes, row, e):
		return describedEntity
	}
	return unknownEntity
}

// priorMultiplier returns V' of the prior slice of a wlr core, nil for others.
func (c *Core) priorMultiplier() []float32 {
	if c.Variant != WLR {
		return nil
	}
	return c.Free[len(c.Free)-c.Slices.Slice():]
}

// setVariance sets the variances of the cells.
func (u *unseenCells) setVariance(b backend.Backend, dst []float32) {
	if u == nil {
		return
	}
	forward := u.sorted()
	work := u.work(forward)
	u.reverse()
	if backward := u.sorted(); u.work(backward) < work {
		forward = backward
	} else {
		u.reverse()
	}
	// A range starts with products of its own, and the same ones: no bit depends on
	// the number of threads.
	parallel.Ranges(b.Threads(), len(forward), func(_, from, to int) {
		chain := newUnseenChain(u.cores)
		for i := from; i < to; i++ {
			keep := 0
			if i > from {
				keep = u.common(forward[i-1], forward[i])
			}
			dst[forward[i]] = float32(chain.variance(b, u, forward[i], keep))
		}
	})
}

// reverse turns the direction of the chain.
func (u *unseenCells) reverse() {
	u.index = slices.Clone(u.index)
	slices.Reverse(u.index)
	slices.Reverse(u.cores)
	for p := range u.cores {
		c := &u.cores[p]
		c.left, c.right, c.transposed = c.right, c.left, !c.transposed
	}
}

// sorted returns the cells in the order of their entities.
func (u *unseenCells) sorted() []int32 {
	order := slices.Clone(u.cells)
	slices.SortFunc(order, func(a, b int32) int {
		for _, column := range u.index {
			if column[a] != column[b] {
				return cmp.Compare(column[a], column[b])
			}
		}
		return cmp.Compare(a, b)
	})
	return order
}

// common returns the number of slices that two cells share from the first on, without
// the last core.
func (u *unseenCells) common(a, b int32) int {
	for p, column := range u.index[:len(u.index)-1] {
		if column[a] != column[b] {
			return p
		}
	}
	return len(u.index) - 1
}

// work counts the operations for sorted cells.
func (u *unseenCells) work(order []int32) float64 {
	sum := 0.0
	for i := range order {
		keep := 0
		if i > 0 {
			keep = u.common(order[i-1], order[i])
		}
		for p := keep; p < len(u.cores)-1; p++ {
			c := &u.cores[p]
			each := float64(c.left * c.right * (c.left + c.right))
			if !c.outer && c.kind[order[i]] != trainedEntity {
				each *= 1 + float64(len(c.factor)/c.slices.Slice())
			}
			sum += each
		}
	}
	return sum
}

// unseenChain holds the products of the slices of a cell.
type unseenChain struct {
	mean, cov                           [][]float64 // after each core
	g, v                                []float64   // slice, its variances
	full                                []float64   // covariance of the slice of an outer core
	slice, second, factor, product, sum []float32
}

func newUnseenChain(cores []unseenCore) *unseenChain {
	s := &unseenChain{}
	most, rank, columns := 0, 1, 0
	for _, c := range cores {
		s.mean = append(s.mean, make([]float64, c.right))
		s.cov = append(s.cov, make([]float64, c.right*c.right))
		most, rank = max(most, c.slices.Slice()), max(rank, c.left, c.right)
		columns = max(columns, len(c.factor), len(c.freeFactor))
	}
	s.g, s.v, s.slice = make([]float64, most), make([]float64, most), make([]float32, most)
	s.full = make([]float64, rank*rank)
	s.second, s.sum = make([]float32, rank*rank), make([]float32, rank*rank)
	s.factor, s.product = make([]float32, columns), make([]float32, max(columns, most))
	return s
}

// variance returns the variance of a cell. The products of the first keep cores are
// those of the cell before.
func (s *unseenChain) variance(b backend.Backend, u *unseenCells, cell int32, keep int) float64 {
	last := len(u.cores) - 1
	for p := keep; p <= last; p++ {
		c := &u.cores[p]
		factor := s.load(c, int(u.index[p][cell]), c.kind[cell])
		if p == 0 {
			copy(s.mean[0], s.g)
			copy(s.cov[0], s.full)
			continue
		}
		mean, cov := s.mean[p-1], s.cov[p-1]
		if p == last {
			sum := 0.0
			for i, m := range mean {
				for j, n := range mean {
					v := cov[i*len(mean)+j]
					sum += s.g[i]*v*s.g[j] + s.full[i*len(mean)+j]*(m*n+v)
				}
			}
			return max(sum, 0)
		}
		s.step(b, c, factor, p)
	}
	return 0
}

// step multiplies the product of the cores before inner core p by its slice.
func (s *unseenChain) step(b backend.Backend, c *unseenCore, factor []float32, p int) {
	l, r := c.left, c.right
	mean, cov, nextMean, next := s.mean[p-1], s.cov[p-1], s.mean[p], s.cov[p]
	clear(nextMean)
	for i := range l {
		for k := range r {
			nextMean[k] += mean[i] * s.g[i*r+k]
		}
		for j := range l {
			s.second[i*l+j] = float32(cov[i*l+j])
		}
	}
	for i, v := range s.g[:l*r] {
		s.slice[i] = float32(v)
	}
	b.Gemm(false, false, l, r, l, 1, s.second, l, s.slice, r, 0, s.product, r)
	b.Gemm(true, false, r, r, l, 1, s.slice, r, s.product, r, 0, s.sum, r)
	for i, v := range s.sum[:r*r] {
		next[i] = float64(v)
	}
	for i := range l {
		square := mean[i]*mean[i] + cov[i*l+i]
		for k := range r {
			next[k*r+k] += square * s.v[i*r+k]
		}
	}
	columns := len(factor) / (l * r)
	if columns == 0 {
		return
	}
	for i := range l {
		for j := range l {
			s.second[i*l+j] = float32(mean[i]*mean[j] + cov[i*l+j])
		}
	}
	b.Gemm(false, false, l, columns*r, l, 1, s.second, l, factor, columns*r, 0, s.product, columns*r)
	b.Gemm(true, false, r, r, l*columns, 1, factor, r, s.product, r, 0, s.sum, r)
	for i, v := range s.sum[:r*r] {
		next[i] += float64(v)
	}
}

// load reads the slice of an entity of a kind. For an outer core it sets full to the covariance
// of the slice. For an inner core it returns the factor, laid out by row, column of
// the factor and column of the slice, and sets v to the variances beside it.
func (s *unseenChain) load(c *unseenCore, e int, kind uint8) []float32 {
	size := c.slices.Slice()
	mean := c.slices.Mean[e*size:][:size]
	var factor []float32
	var product []float64
	switch kind {
	case describedEntity:
		factor, product = c.freeFactor, c.freeProduct
	case unknownEntity:
		factor, product = c.factor, c.product
	}
	scale := func(int) float32 { return 1 }
	if kind == describedEntity && c.scale != nil {
		scale = func(k int) float32 { // the regression
			if c.scale[k] == 0 {
				return 0
			}
			return mean[k] / c.scale[k]
		}
	}
	for k := range size {
		at, variance := c.place(k), 0.0
		if c.slices.Cov != nil {
			variance = float64(c.slices.Cov[(e*size+k)*size+k])
		} else {
			variance = float64(c.slices.Var[e*size+k])
		}
		s.g[at], s.v[at] = float64(mean[k]), variance
	}
	if !c.outer {
		columns := len(factor) / size
		for k := range size {
			at, f := c.place(k), scale(k)
			i, j := at/c.right, at%c.right
			for q := range columns {
				v := f * factor[q*size+k]
				s.factor[(i*columns+q)*c.right+j] = v
				s.v[at] = max(s.v[at]-float64(v)*float64(v), 0)
			}
		}
		return s.factor[:columns*size]
	}
	for i := range size {
		for j := range i {
			v := 0.0
			if c.slices.Cov != nil && kind == trainedEntity {
				v = float64(c.slices.Cov[(e*size+i)*size+j])
			}
			if product != nil {
				v = product[i*size+j] * float64(scale(i)) * float64(scale(j))
			}
			s.full[i*size+j], s.full[j*size+i] = v, v
		}
		s.full[i*size+i] = s.v[i]
	}
	return nil
}

// place returns the place of entry k of a slice in the direction of the chain.
func (c *unseenCore) place(k int) int {
	if !c.transposed {
		return k
	}
	left, right := c.slices.Left, c.slices.Right
	return k%right*left + k/right
}
