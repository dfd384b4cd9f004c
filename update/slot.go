package update

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A mover is a block that rows can move.
type mover interface {
	// relax moves the block to its optimum while all others are fixed, and returns by
	// how much it moved in units of its standard deviation.
	relax(s *state) (float64, error)
}

// A takenOutError reports a removed row that leaves a block without a posterior.
type takenOutError struct{ row int32 }

func (*takenOutError) Error() string {
	return "a row to remove is neither a row of the fit nor of an update"
}

// A block is an outer core whose slices move.
type block struct {
	term, core int
	r          int
	relations  []float32 // of the trained entities; nil if the slices have covariances or one entry; of curves per id their precisions
	known      map[int32]*slot
	fresh      map[string]*slot // by combination of codes
	slots      []*slot

	// Of curves, which move by the weights of a system; nil for slices.
	parts   []part
	shared  bool               // of all rows
	systems map[string][]int32 // entities with training data of each system, by its key
}

// A slot is the slice of one entity: its prior, and what rows say about it.
type slot struct {
	block  *block
	entity int32   // in the fitted core, -1 for one without training data
	combo  []int32 // of a fresh one

	mean   []float64 // of the fit
	prior  []float64 // precision, r x r
	info   []float64 // sum of w (x x' + C)
	delta  []float64
	factor []float64 // of prior + info
	stale  bool      // the factor
	spread []float64 // variances at the fit, of curves, once they are needed
	rows   []slotRow
}

type slotRow struct {
	row int32
	x   []float64
}

// moving returns the variances of what moves in slice e of a trained core, at the level of
// the slice: those of the free weights.
func moving(c *tt.Core, t []float32, e int32) (variance, cov []float32) {
	size := c.Slices.Slice()
	p := c.FreePosterior
	if p.Cov != nil {
		cov = p.Cov[int(e)*size*size:][:size*size]
	}
	variance = p.Var[int(e)*size:][:size]
	if c.Variant != tt.WLR {
		return variance, cov
	}
	scaled := make([]float32, size)
	for i, v := range variance {
		m := t[int(e)*size+i]
		scaled[i] = v * m * m
	}
	if cov == nil {
		return scaled, nil
	}
	whole := make([]float32, size*size)
	for i := range size {
		for j := range size {
			whole[i*size+j] = cov[i*size+j] * t[int(e)*size+i] * t[int(e)*size+j]
		}
	}
	return scaled, whole
}

// leastVariance keeps precisions finite, relative to the variance of the standardised
// target.
const leastVariance = 1e-12

// precisionOf returns the precision matrix that belongs to the variances of a mean-field
// posterior, 1/P_ii, and the relations between them.
func precisionOf(variance, relations []float32) []float64 {
	r := len(variance)
	p, root := make([]float64, r*r), make([]float64, r)
	for i, v := range variance {
		d := 1 / math.Max(float64(v), leastVariance)
		p[i*r+i], root[i] = d, math.Sqrt(d)
	}
	k := 0
	for i := range r {
		for j := range i {
			if relations != nil {
				p[i*r+j] = float64(relations[k]) * root[i] * root[j]
				p[j*r+i] = p[i*r+j]
			}
			k++
		}
	}
	// Rounding can leave a matrix that is not positive definite.
	for share := 1e-6; ; share *= 10 {
		if cholesky.Factor(append([]float64(nil), p...), r) {
			return p
		}
		for i := range r {
			p[i*r+i] += share * root[i] * root[i]
		}
	}
}

// invert returns the inverse of a positive definite matrix whose diagonal is raised until
// it is one.
func invert(a []float64, r int) []float64 {
	l, out := append([]float64(nil), a...), make([]float64, r*r)
	for raise := leastVariance; !cholesky.Factor(l, r); raise *= 10 {
		copy(l, a)
		for i := range r {
			l[i*r+i] += raise * math.Max(1, a[i*r+i])
		}
	}
	cholesky.Inverse(l, r, out)
	return out
}

// add adds a row with precision w, which may be negative.
func (s *slot) add(w float64, d design) {
	r := s.block.r
	for i, x := range d.x {
		to := s.info[i*r:][:r]
		for j, y := range d.x {
			v := x * y
			if d.c != nil {
				v += d.c[i*r+j]
			}
			to[j] += w * v
		}
	}
	for _, c := range d.spread {
		c.addTo(s.info, r, w)
	}
	s.stale = true
}

// refresh factorises the posterior precision.
func (s *slot) refresh(st *state) error {
	if !s.stale {
		return nil
	}
	if s.factor == nil {
		s.factor = make([]float64, len(s.prior))
	}
	for i, p := range s.prior {
		s.factor[i] = p + s.info[i]
	}
	if !cholesky.Factor(s.factor, s.block.r) {
		failed := &takenOutError{}
		for _, at := range s.rows {
			if st.weight[at.row] < 0 {
				failed.row = at.row
			}
		}
		return failed
	}
	s.stale = false
	return nil
}

func (s *slot) relax(st *state) (float64, error) {
	if err := s.refresh(st); err != nil {
		return 0, err
	}
	r := s.block.r
	var space [64]float64
	goal := space[:0]
	for range r {
		goal = append(goal, 0)
	}
	for _, at := range s.rows {
		own := st.target[at.row] - st.mean[at.row] // of a removed row, as the fit left it
		if st.weight[at.row] > 0 {
			own -= st.moved[at.row]
			for i, x := range at.x {
				own += x * s.delta[i]
			}
		}
		own *= st.weight[at.row]
		for i, x := range at.x {
			goal[i] += x * own
		}
	}
	cholesky.Solve(s.factor, r, goal)
	size := 0.0
	for i, g := range goal {
		d := g - s.delta[i]
		size = math.Max(size, math.Abs(d)*math.Sqrt(s.prior[i*r+i]+s.info[i*r+i]))
	}
	if size == 0 {
		return 0, nil
	}
	for _, at := range s.rows {
		change := 0.0
		for i, x := range at.x {
			change += x * (goal[i] - s.delta[i])
		}
		st.moved[at.row] += change
	}
	copy(s.delta, goal)
	return size, nil
}

// quadratic returns x'A^-1 x for the inverse of the posterior precision.
func (s *slot) quadratic(st *state, x []float64) float64 {
	if s.refresh(st) != nil {
		return 0
	}
	y := append([]float64(nil), x...)
	cholesky.Solve(s.factor, s.block.r, y)
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// distance returns how far the slice moved, as the root mean square of its moves in
// standard deviations of the fit.
func (s *slot) distance() float64 { return s.distanceOf(0, len(s.delta)) }

// distanceOf is distance of n weights from the given one on.
func (s *slot) distanceOf(at, n int) float64 {
	sum := 0.0
	for i, d := range s.delta[at:][:n] {
		if d != 0 {
			sum += d * d * s.precisionAt(at+i)
		}
	}
	return math.Sqrt(sum / float64(n))
}

// precisionAt returns the precision of a weight at the fit: given all others of a slice, as in a mean-field
// posterior, and alone for curves, whose weights training rows couple.
func (s *slot) precisionAt(i int) float64 {
	r := s.block.r
	if s.block.parts == nil {
		return s.prior[i*r+i]
	}
	if s.spread == nil {
		inverse := invert(s.prior, r)
		for k := range r {
			s.spread = append(s.spread, inverse[k*r+k])
		}
	}
	return 1 / s.spread[i]
}
