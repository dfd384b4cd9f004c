package tt

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// A Family is the form of the posterior of the weights of a field. Blocks are
// independent in every family; families differ in the covariance within a block.
type Family string

const (
	Point            Family = "point"             // weights known exactly
	MeanField        Family = "mean-field"        // independent weights
	Multivariate     Family = "multivariate"      // regressions: one covariance over a mode, shared by all (a, b)
	EntityCovariance Family = "entity-covariance" // outer cores: one covariance over ranks per entity
)

// A Posterior describes the uncertainty of the weights of a block: their variances
// and covariances about the means given the data, and their prior.
type Posterior struct {
	Var   []float32           // by weight, laid out as the means; nil with Sigma
	Cov   []float32           // EntityCovariance: r x r per entity, with diagonal Var
	Sigma []*regression.Sigma // Multivariate: one per mode; the covariance is their Kronecker product

	PriorMean float64    // of every weight; see Field.SetPriorMean
	PriorVar  [1]float32 // 0 until it is learned

	// Unseen has the variance of each entry of V' of an entity without training data,
	// where it was estimated (package solver/division): that of the trained slices is too
	// small, because they helped to determine the regression. 0 or nil takes that of the
	// trained slices.
	Unseen []float32
}

// Widened returns a variance of a weight if the precision that the data add to that of the
// prior is divided by factor:
//
//	1 / (1/tau + (1/v - 1/tau) / factor),   tau the prior variance.
func (p *Posterior) Widened(v, factor float64) float64 {
	tau := float64(p.PriorVar[0])
	switch {
	case factor <= 1:
		return v
	case tau == 0: // not learned
		return factor * v
	case v >= tau:
		return v
	}
	return factor * v * tau / (tau + (factor-1)*v)
}

// Arrays returns all learned numbers of the posterior. They share memory with it.
func (p *Posterior) Arrays() [][]float32 {
	if p == nil {
		return nil
	}
	arrays := [][]float32{p.PriorVar[:], p.Var, p.Cov, p.Unseen}
	for _, sigma := range p.Sigma {
		arrays = append(arrays, sigma.Factor, sigma.Diag)
	}
	return arrays
}

// maxCovariances is the largest number of entries of an EntityCovariance posterior.
const maxCovariances = 1 << 28

// SetFamily gives all weights of the field posteriors of a family, with variances
// of zero. Blocks for which the family is not defined are mean-field: free weights
// under Multivariate, inner cores, cores along time and regressions under EntityCovariance.
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

// SetPriorMean sets the prior mean of all free weights, which is otherwise 1 for weighted
// regressions and 0 for other cores. Call it after SetFamily.
func (f *Field) SetPriorMean(mean float64) {
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			if c.FreePosterior != nil {
				c.FreePosterior.PriorMean = mean
			}
		}
	}
}

// Varies reports whether the weights of the train have variances.
func (t *Train) Varies() bool { return t.Cores[0].Slices.Var != nil || t.Cores[0].Slices.Cov != nil }

// SetFamily gives the weights of the core posteriors. outer reports whether the
// core is the first or the last of its train.
func (c *Core) SetFamily(family Family, outer bool) error {
	switch family {
	case Point, MeanField, Multivariate, EntityCovariance:
	default:
		return fielderr.Errorf("uncertainty.inference", "tt: unknown posterior family %q; use %s, %s, %s or %s", family, Point, MeanField, Multivariate, EntityCovariance)
	}
	c.FreePosterior, c.WeightPosterior, c.sideVar, c.unseen = nil, nil, nil, nil
	c.Slices.Var, c.Slices.Cov = nil, nil
	if family == Point {
		return nil
	}
	c.unseen = &lazyPrior{}
	n, size := c.Slices.Len(), c.Slices.Slice()
	entityCovariance := family == EntityCovariance && c.Free != nil && outer && c.Along == nil
	if entityCovariance {
		if float64(c.Slices.N)*float64(size*size) > maxCovariances {
			return fielderr.Errorf("uncertainty.inference", "tt: core %s has %d entities of rank %d: their covariances would have %d entries; use mean-field, or a lower rank", c.Name(), c.Slices.N, size, c.Slices.N*size*size)
		}
		c.Slices.Cov = make([]float32, c.Slices.N*size*size)
	} else {
		c.Slices.Var = make([]float32, n)
	}
	if c.Free != nil {
		c.FreePosterior = &Posterior{Var: make([]float32, n)}
		switch {
		case c.Variant == WLR:
			c.FreePosterior.PriorMean = 1
		case c.Variant == Additive && len(c.Modes) == 1:
			c.FreePosterior.Unseen = make([]float32, size)
		}
		if c.Variant == Plain && !entityCovariance {
			c.FreePosterior.Var = c.Slices.Var
		}
		if entityCovariance {
			c.FreePosterior.Cov = make([]float32, len(c.Slices.Cov))
			if c.Variant == Plain {
				c.FreePosterior.Cov = c.Slices.Cov
			}
		}
	}
	if c.Weight != nil {
		c.sideVar = make([]float32, n)
		c.WeightPosterior = &Posterior{}
		if family == Multivariate {
			c.WeightPosterior.Sigma = c.Map.NewSigmas()
		} else {
			c.WeightPosterior.Var = make([]float32, len(c.Weight))
		}
	}
	return nil
}

// FillVariances sets the variances that are the diagonals of covariances, after the
// covariances were read from a file.
func (c *Core) FillVariances() {
	if s := c.FreePosterior; s != nil && s.Cov != nil && c.Map == nil {
		copy(s.Var, diagonals(s.Cov, c.Slices.Slice()))
	}
}

// refreshVariances brings the variances of G up to date. With mean m' and variance
// s' of V' and mean t and variance s_t of T, they are
//
//	plain s', side s_t, additive s' + s_t, wlr m'^2 s_t + t^2 s' + s' s_t.
func (c *Core) refreshVariances(b backend.Backend, sideChanged bool) {
	if c.FreePosterior != nil {
		c.setUntrainedVariances(b)
	}
	if c.WeightPosterior != nil && sideChanged {
		c.regressionVariances(b, c.Map, c.sideVar)
		copy(c.sideVar[len(c.sideVar)-c.Slices.Slice():], c.varianceAboutPrior(b, c.side, c.sideVar))
	}
	if c.Slices.Cov != nil {
		c.refreshCovariance(b)
		return
	}
	if c.Variant == Plain {
		return
	}
	parallel.Blocks(b.Threads(), len(c.Slices.Var), func(from, to int) {
		dst, sideVar := c.Slices.Var[from:to], c.sideVar[from:to]
		switch c.Variant {
		case Side:
			copy(dst, sideVar)
		case Additive:
			for i, v := range c.FreePosterior.Var[from:to] {
				dst[i] = v + sideVar[i]
			}
		case WLR:
			free, side := c.Free[from:to], c.side[from:to]
			for i, s := range c.FreePosterior.Var[from:to] {
				m, t, st := free[i], side[i], sideVar[i]
				dst[i] = m*m*st + t*t*s + s*st
			}
		}
	})
}

// refreshCovariance brings the covariances of G up to date for a core whose free
// slices have covariances.
func (c *Core) refreshCovariance(b backend.Backend) {
	if c.Variant == Plain {
		return
	}
	r := c.Slices.Slice()
	backend.ParallelFor(b, c.Slices.N, func(e int) {
		dst, free := c.Slices.Cov[e*r*r:][:r*r], c.FreePosterior.Cov[e*r*r:][:r*r]
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

// setUntrainedVariances sets the variances of V' of the prior slice and of entities
// without training data to Unseen, or to the variance of the learned slices about the
// prior slice. O(n R^2).
func (c *Core) setUntrainedVariances(b backend.Backend) {
	size, n := c.Slices.Slice(), c.Slices.N-1
	about := c.varianceAboutPrior(b, c.Free, c.FreePosterior.Var)
	for k, v := range c.FreePosterior.Unseen {
		if v > 0 {
			about[k] = v
		}
	}
	set := func(e int) {
		copy(c.FreePosterior.Var[e*size:][:size], about)
		if cov := c.FreePosterior.Cov; cov != nil {
			at := cov[e*size*size:][:size*size]
			clear(at)
			for k, v := range about {
				at[k*size+k] = v
			}
		}
	}
	set(n) // the prior
	if c.Trained == nil {
		return
	}
	parallel.Blocks(b.Threads(), n, func(from, to int) {
		for e := from; e < to; e++ {
			if !c.trained(e) {
				set(e)
			}
		}
	})
}

// varianceAboutPrior returns the mean of (m - prior)^2 + s over the entities with
// training data. m and s are the means and variances of slices; the last mean is
// the prior slice.
func (c *Core) varianceAboutPrior(b backend.Backend, mean, variance []float32) []float32 {
	size, n := c.Slices.Slice(), c.Slices.N-1
	prior := mean[n*size:][:size]
	sum := c.meanOfTrained(b, func(e int, weight float64, sum []float64) {
		s := variance[e*size:][:size]
		for k, m := range mean[e*size:][:size] {
			d := float64(m) - float64(prior[k])
			sum[k] += weight * (d*d + float64(s[k]))
		}
	})
	about := make([]float32, size)
	for k, v := range sum {
		about[k] = float32(v)
	}
	return about
}

// SetVariance sets all variances to v; size is that of a slice. It leaves the
// off-diagonal entries of Cov as they are.
func (p *Posterior) SetVariance(v float64, size int) {
	for k := range p.Var {
		p.Var[k] = float32(v)
	}
	for e := 0; e < len(p.Cov); e += size * size {
		for i := range size {
			p.Cov[e+i*size+i] = float32(v)
		}
	}
	for q, sigma := range p.Sigma {
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

// Scale adapts the posterior and the prior to weights multiplied by a number.
func (p *Posterior) Scale(threads int, by float64) {
	square := float32(by * by)
	Multiply(threads, p.Var, square)
	Multiply(threads, p.Cov, square)
	Multiply(threads, p.Unseen, square)
	p.PriorVar[0] *= square
	if len(p.Sigma) > 0 {
		first := p.Sigma[0]
		for i := range first.Factor {
			first.Factor[i] *= float32(by)
		}
		for i := range first.Diag {
			first.Diag[i] *= square
		}
	}
}

// Multiply multiplies all values by a factor.
func Multiply(threads int, values []float32, by float32) {
	parallel.Blocks(threads, len(values), func(from, to int) {
		for i := from; i < to; i++ {
			values[i] *= by
		}
	})
}

// diagonals returns the diagonals of size x size matrices.
func diagonals(matrices []float32, size int) []float32 {
	d := make([]float32, len(matrices)/size)
	for i := range d {
		e, k := i/size, i%size
		d[i] = matrices[(e*size+k)*size+k]
	}
	return d
}
