package tt

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A Family is the form of the posterior of a field's weights: independent
// blocks, and in each block
type Family string

const (
	Point        Family = "point"        // weights known exactly
	MeanField    Family = "mean-field"   // independent weights
	Multivariate Family = "multivariate" // regressions: one covariance over a mode, shared by all (a, b)
	Rows         Family = "rows"         // outer cores: a covariance over the rank axis for each entity
)

// A Spread says how a block's weights vary about their means, and how they did
// before data.
type Spread struct {
	Var   []float32 // of each weight, in the form of the means; nil with Sigma
	Cov   []float32 // Rows: r x r an entity, of which Var is the diagonal
	Sigma []*Sigma  // Multivariate: one a mode; their Kronecker product is the covariance

	PriorMean float64    // of every weight
	PriorVar  [1]float32 // 0 until it is learned
}

// Arrays returns all numbers of the spread that are learned; they share memory
// with it.
func (s *Spread) Arrays() [][]float32 {
	if s == nil {
		return nil
	}
	arrays := [][]float32{s.PriorVar[:], s.Var, s.Cov}
	for _, sigma := range s.Sigma {
		arrays = append(arrays, sigma.Factor, sigma.Diag)
	}
	return arrays
}

// maxCovariances bounds the entries of a Rows posterior.
const maxCovariances = 1 << 28

// SetFamily gives all weights of the field posteriors of a family. A family
// that is not defined for a block (Multivariate for free weights, Rows for inner
// cores and regressions) is mean-field there. Variances are zero.
func (f *Field) SetFamily(family Family) error {
	for _, t := range f.Terms {
		for p, c := range t.Cores {
			if err := c.SetFamily(family, p == 0 || p == len(t.Cores)-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// Varies tells whether the train's weights have variances.
func (t *Train) Varies() bool { return t.Cores[0].Slices.Var != nil || t.Cores[0].Slices.Cov != nil }

// SetFamily gives the core's weights posteriors; outer tells whether the core is
// the first or the last of its train.
func (c *Core) SetFamily(family Family, outer bool) error {
	c.FreeSpread, c.WeightSpread, c.sideVar = nil, nil, nil
	c.Slices.Var, c.Slices.Cov = nil, nil
	if family == Point {
		return nil
	}
	n, size := c.Slices.Len(), c.Slices.Slice()
	rows := family == Rows && c.Free != nil && outer
	if rows {
		if float64(c.Slices.N)*float64(size*size) > maxCovariances {
			return fmt.Errorf("tt: core %s has %d entities of rank %d: their covariances would have %d entries; use mean-field, or a lower rank", c.Name(), c.Slices.N, size, c.Slices.N*size*size)
		}
		c.Slices.Cov = make([]float32, c.Slices.N*size*size)
	} else {
		c.Slices.Var = make([]float32, n)
	}
	if c.Free != nil {
		c.FreeSpread = &Spread{Var: make([]float32, n)}
		if c.Variant == WLR {
			c.FreeSpread.PriorMean = 1
		}
		if c.Variant == Plain && !rows {
			c.FreeSpread.Var = c.Slices.Var
		}
		if rows {
			c.FreeSpread.Cov = make([]float32, len(c.Slices.Cov))
			if c.Variant == Plain {
				c.FreeSpread.Cov = c.Slices.Cov
			}
		}
	}
	if c.Weight != nil {
		c.sideVar = make([]float32, n)
		c.WeightSpread = &Spread{}
		if family == Multivariate {
			c.WeightSpread.Sigma = c.Map.newSigmas()
		} else {
			c.WeightSpread.Var = make([]float32, len(c.Weight))
		}
	}
	return nil
}

// CompleteSpread fills in what follows from arrays that were read: the variances
// that are diagonals of covariances.
func (c *Core) CompleteSpread() {
	if s := c.FreeSpread; s != nil && s.Cov != nil && c.Map == nil {
		copy(s.Var, diagonals(s.Cov, c.Slices.Slice()))
	}
}

// refreshSpread brings the variances of G up to date:
//
//	side s_t, free s', sum s' + s_t, product m'^2 s_t + t^2 s' + s' s_t.
func (c *Core) refreshSpread(b backend.Backend, sideChanged bool) {
	if c.FreeSpread != nil {
		c.spreadPriorVar()
	}
	if c.WeightSpread != nil && sideChanged {
		c.regressionVariance(b, c.Map, c.sideVar)
		copy(c.sideVar[len(c.sideVar)-c.Slices.Slice():], c.aboutPrior(c.side, c.sideVar))
	}
	if c.Slices.Cov != nil {
		c.refreshCovariance(b)
		return
	}
	dst := c.Slices.Var
	switch c.Variant {
	case Side:
		copy(dst, c.sideVar)
	case Additive:
		for i, v := range c.FreeSpread.Var {
			dst[i] = v + c.sideVar[i]
		}
	case WLR:
		for i, s := range c.FreeSpread.Var {
			m, t, st := c.Free[i], c.side[i], c.sideVar[i]
			dst[i] = m*m*st + t*t*s + s*st
		}
	}
}

// refreshCovariance does the same for a core whose free slices have
// covariances.
func (c *Core) refreshCovariance(b backend.Backend) {
	if c.Variant == Plain {
		return
	}
	r := c.Slices.Slice()
	backend.ParallelFor(b, c.Slices.N, func(e int) {
		dst, free := c.Slices.Cov[e*r*r:][:r*r], c.FreeSpread.Cov[e*r*r:][:r*r]
		m, t, st := c.Free[e*r:][:r], c.side[e*r:][:r], c.sideVar[e*r:][:r]
		copy(dst, free)
		for i := range r {
			if c.Variant == Additive {
				dst[i*r+i] += st[i]
				continue
			}
			for j := range r {
				dst[i*r+j] *= t[i] * t[j]
			}
			dst[i*r+i] += st[i] * (m[i]*m[i] + free[i*r+i])
		}
	})
}

// spreadPriorVar sets the variances of V' of the prior's slice, and of entities
// without training data, to those of the learned slices about it. O(n R^2).
func (c *Core) spreadPriorVar() {
	size, n := c.Slices.Slice(), c.Slices.N-1
	about := c.aboutPrior(c.Free, c.FreeSpread.Var)
	for e := range n + 1 {
		if e < n && c.trained(e) {
			continue
		}
		copy(c.FreeSpread.Var[e*size:][:size], about)
		if cov := c.FreeSpread.Cov; cov != nil {
			at := cov[e*size*size:][:size*size]
			clear(at)
			for k, v := range about {
				at[k*size+k] = v
			}
		}
	}
}

// aboutPrior returns the mean of (m - prior)^2 + s over entities with training
// data, m and s the means and variances of slices of which the last is the
// prior's.
func (c *Core) aboutPrior(mean, variance []float32) []float32 {
	size, n := c.Slices.Slice(), c.Slices.N-1
	sum, count := make([]float64, size), 0
	prior := mean[n*size:][:size]
	for e := range n {
		if !c.trained(e) {
			continue
		}
		count++
		s := variance[e*size:][:size]
		for k, m := range mean[e*size:][:size] {
			d := float64(m) - float64(prior[k])
			sum[k] += d*d + float64(s[k])
		}
	}
	about := make([]float32, size)
	for k, v := range sum {
		about[k] = float32(v / float64(max(count, 1)))
	}
	return about
}

// Start sets all variances to v; size is that of a slice.
func (s *Spread) Start(v float64, size int) {
	for k := range s.Var {
		s.Var[k] = float32(v)
	}
	for e := 0; e < len(s.Cov); e += size * size {
		for i := range size {
			s.Cov[e+i*size+i] = float32(v)
		}
	}
	for q, sigma := range s.Sigma {
		d := 1.0
		if q == 0 {
			d = v
		}
		clear(sigma.Factor)
		for i := range sigma.Lead {
			sigma.Factor[i*sigma.Lead+i] = float32(math.Sqrt(d))
		}
		for i := range sigma.Diag {
			sigma.Diag[i] = float32(d)
		}
	}
}

// Scale multiplies the weights, and their prior, by a number.
func (s *Spread) Scale(by float64) {
	square := float32(by * by)
	for i := range s.Var {
		s.Var[i] *= square
	}
	for i := range s.Cov {
		s.Cov[i] *= square
	}
	s.PriorVar[0] *= square
	if len(s.Sigma) > 0 {
		first := s.Sigma[0]
		for i := range first.Factor {
			first.Factor[i] *= float32(by)
		}
		for i := range first.Diag {
			first.Diag[i] *= square
		}
	}
}

// diagonals returns those of size x size matrices.
func diagonals(matrices []float32, size int) []float32 {
	d := make([]float32, len(matrices)/size)
	for i := range d {
		e, k := i/size, i%size
		d[i] = matrices[(e*size+k)*size+k]
	}
	return d
}
