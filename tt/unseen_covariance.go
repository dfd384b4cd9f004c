package tt

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt/factor"
)

// An unseen entity has the mean and the covariance of the trained slices. The
// entries of a slice are correlated among trained entities, so its covariance is
//
//	F F' + diag(rest)
//
// with the variances of the slices on its diagonal. Outer cores have as many columns
// F as they need, inner cores at most maxPriorColumns: their covariance has R^4
// entries. Correlations are estimated from at most maxPriorEntities entities.
const (
	maxPriorColumns  = 64
	maxPriorEntities = 4096
)

// prior holds the moments of an unseen entity of a core.
type prior struct {
	side, sideVar          []float32      // T of an unknown id
	freeFactor, sideFactor factor.Columns // of V', and of T of an unknown id
	factor                 factor.Columns // of the slice of an unknown id

	freeProduct, product []float64 // F F' of V' and of the slice, for an outer core; nil without columns
}

// lazyPrior computes the prior of a core when a cell first needs it. Refresh renews
// it.
type lazyPrior struct {
	once sync.Once
	prior
}

// priorMoments returns the moments of an unseen entity.
func (c *Core) priorMoments(b backend.Backend) *prior {
	lazy := c.unseen
	if lazy == nil { // no family was set
		return &prior{}
	}
	lazy.once.Do(func() {
		lazy.prior = c.computePrior(b)
		if size := c.Slices.Slice(); c.outer() {
			lazy.freeProduct, lazy.product = lazy.freeFactor.Product(size), lazy.factor.Product(size)
		}
	})
	return &lazy.prior
}

func (c *Core) computePrior(b backend.Backend) (p prior) {
	base, err := c.trainedOnly(b)
	if err != nil {
		panic(err) // the core itself could not have been built
	}
	size := c.Slices.Slice()
	last := func(values []float32) []float32 { return values[len(values)-size:] }
	if base.FreePosterior != nil {
		p.freeFactor = base.correlatedPart(b, base.Free, base.FreePosterior.Var, base.FreePosterior.Cov)
		p.factor = p.freeFactor
	}
	if base.WeightPosterior == nil {
		return p
	}
	p.side, p.sideVar = last(base.side), last(base.sideVar)
	p.sideFactor = base.correlatedPart(b, base.side, base.sideVar, nil)
	limit := c.maxPriorColumns()
	free, side := p.freeFactor.Diagonal(size), p.sideFactor.Diagonal(size)
	switch c.Variant {
	case Side:
		p.factor = p.sideFactor
	case Additive:
		for k := range free {
			free[k] += side[k]
		}
		p.factor = factor.Pivoted(free, limit, func(dst []float64, j int) {
			p.freeFactor.AddColumn(dst, j)
			p.sideFactor.AddColumn(dst, j)
		})
	case WLR:
		m, t := last(base.Free), p.side
		entry := func(free, side float64, i, j int) float64 {
			return free*float64(t[i])*float64(t[j]) + side*float64(m[i])*float64(m[j]) + free*side
		}
		diagonal := make([]float64, size)
		for i := range diagonal {
			diagonal[i] = entry(free[i], side[i], i, i)
		}
		p.factor = factor.Pivoted(diagonal, limit, func(dst []float64, j int) {
			clear(free)
			clear(side)
			p.freeFactor.AddColumn(free, j)
			p.sideFactor.AddColumn(side, j)
			for i := range dst {
				dst[i] += entry(free[i], side[i], i, j)
			}
		})
	}
	return p
}

// maxPriorColumns returns the largest number of columns of a factor.
func (c *Core) maxPriorColumns() int {
	if size := c.Slices.Slice(); c.outer() || size < maxPriorColumns {
		return size
	}
	return maxPriorColumns
}

// outer reports whether the slices of the core are vectors.
func (c *Core) outer() bool { return c.Slices.Left == 1 || c.Slices.Right == 1 }

// correlatedPart returns the factor of the covariance of slices with the given means
// about the last, which is the prior. variance and cov, unless nil, are those of each
// slice. All entities but the last have training data.
func (c *Core) correlatedPart(b backend.Backend, mean, variance, cov []float32) factor.Columns {
	size, n := c.Slices.Slice(), c.Slices.N-1
	if size == 1 || n < 2 {
		return nil
	}
	count := min(n, maxPriorEntities)
	deviations := make([]float32, count*size)
	diagonal, within := make([]float64, size), make([]float64, size)
	var covariance []float64 // mean over the entities
	if cov != nil {
		covariance = make([]float64, size*size)
	}
	center := mean[n*size:][:size]
	parallel.Ranges(b.Threads(), size, func(_, from, to int) { // entries, so that sums do not depend on the threads
		for i := range count {
			e := i * n / count
			row := deviations[i*size:][:size]
			for k := from; k < to; k++ {
				row[k] = mean[e*size+k] - center[k]
				diagonal[k] += float64(row[k]) * float64(row[k]) / float64(count)
				within[k] += float64(variance[e*size+k]) / float64(count)
			}
			for k := from * size; k < to*size && covariance != nil; k++ {
				covariance[k] += float64(cov[e*size*size+k]) / float64(count)
			}
		}
	})
	pick, column := make([]float32, count), make([]float32, size)
	whole := append([]float64(nil), diagonal...)
	for k := range whole {
		if covariance != nil {
			whole[k] += covariance[k*size+k]
		}
	}
	columns := factor.Pivoted(whole, c.maxPriorColumns(), func(dst []float64, j int) {
		for i := range pick {
			pick[i] = deviations[i*size+j]
		}
		b.Gemm(false, false, 1, size, count, 1/float32(count), pick, count, deviations, size, 0, column, size)
		for i, v := range column {
			dst[i] += float64(v)
			if covariance != nil {
				dst[i] += covariance[j*size+i]
			}
		}
	})
	// The entities used have other variances than all entities.
	about := variance[n*size:][:size]
	for k := range size {
		if used := diagonal[k] + within[k]; used > 0 {
			scale := float32(math.Sqrt(float64(about[k]) / used))
			for j := k; j < len(columns); j += size {
				columns[j] *= scale
			}
		}
	}
	return columns
}

// addFactorNoise adds normal noise to x with the covariance that has the factor and the
// given variances.
func addFactorNoise(rng *rand.Rand, f factor.Columns, x, variance []float32) {
	rest := append([]float32(nil), variance...)
	f.AddNoise(rng, x, rest)
	addNoise(rng, x, rest)
}

// drawPriorSide sets g to a draw of T for an unknown id.
func (c *Core) drawPriorSide(b backend.Backend, rng *rand.Rand, g []float32) {
	size := len(g)
	copy(g, c.side[len(c.side)-size:])
	if c.sideVar != nil {
		addFactorNoise(rng, c.priorMoments(b).sideFactor, g, c.sideVar[len(c.sideVar)-size:])
	}
}

// drawUntrainedFree draws V' of an entity without training data, and combines it with
// its regression g, which it replaces by the slice. It returns V'.
func (c *Core) drawUntrainedFree(b backend.Backend, rng *rand.Rand, g []float32) []float32 {
	if c.Free == nil {
		return nil
	}
	size := len(g)
	free := append([]float32(nil), c.Free[len(c.Free)-size:]...)
	if p := c.FreePosterior; p != nil {
		addFactorNoise(rng, c.priorMoments(b).freeFactor, free, p.Var[len(p.Var)-size:])
	}
	for i, v := range free {
		if c.Variant == WLR {
			g[i] *= v
		} else {
			g[i] += v
		}
	}
	return free
}
