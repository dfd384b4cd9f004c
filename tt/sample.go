package tt

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/backend"
)

// Sample draws the weights from their posterior and returns the field with these
// weights, known exactly. All cells share the cores of a draw, so a sum over cells
// has the distribution that the posterior gives it. Independent draws of single
// cells would not have it.
//
// Entities without training data and the prior slice are drawn from the covariance of
// the trained ones. All entities that take the prior slice share one draw of it. A
// [Sampler] draws such entities separately and supports a field that was extended.
//
// The result shares indices and maps with f. It is for evaluation only: Refresh
// would reset the drawn slices of entities without training data to their mean. A
// draw costs one normal variate per weight and a product of the operators with W.
// Full covariances over m columns cost m more multiply-adds per weight.
func (f *Field) Sample(b backend.Backend, rng *rand.Rand) *Field {
	drawn := f.sampleTrained(b, rng)
	for k, t := range f.Terms {
		for p, c := range t.Cores {
			c.sampleUnseen(b, rng, drawn.Terms[k].Cores[p])
		}
	}
	return drawn
}

// sampleTrained is Sample for entities with training data. The slices of the others
// are undefined.
func (f *Field) sampleTrained(b backend.Backend, rng *rand.Rand) *Field {
	drawn := &Field{Group: f.Group, Offset: Offset{Mean: f.Offset.Mean}}
	if f.Offset.Var > 0 {
		drawn.Offset.Mean += float32(math.Sqrt(max(1, f.Response)*float64(f.Offset.Var)) * rng.NormFloat64())
	}
	for _, t := range f.Terms {
		train := &Train{}
		for _, c := range t.Cores {
			train.Cores = append(train.Cores, c.sample(b, rng, max(1, f.Response)))
		}
		drawn.Terms = append(drawn.Terms, train)
	}
	return drawn
}

// sampleUnseen draws the slices of entities without training data and the prior slice
// of d, a draw of the core.
func (c *Core) sampleUnseen(b backend.Backend, rng *rand.Rand, d *Core) {
	size := c.Slices.Slice()
	for e := range c.Slices.N {
		g := d.Slices.Mean[e*size:][:size]
		switch prior := e == c.Slices.N-1; {
		case !prior && c.trained(e):
			continue
		case c.Map == nil:
			clear(g)
		case prior:
			c.drawPriorSide(b, rng, g)
		default:
			copy(g, d.side[e*size:][:size])
		}
		if free := c.drawUntrainedFree(b, rng, g); free != nil {
			copy(d.Free[e*size:], free) // combinations computed on demand use that of the prior
		}
	}
}

// sample draws the core from its posterior, widened by a factor.
func (c *Core) sample(b backend.Backend, rng *rand.Rand, factor float64) *Core {
	d := *c
	d.FreePosterior, d.WeightPosterior, d.sideVar = nil, nil, nil
	d.Slices = backend.NewSlices(c.Slices.Shape)
	size := c.Slices.Slice()
	if c.Along != nil && c.FreePosterior != nil {
		d.seed = rng.Uint64()
		d.Free = d.drawPaths(factor)
		d.Slices.Mean = d.Free
		return &d
	}
	if c.Free != nil {
		d.Free = c.FreePosterior.draw(rng, c.Free, size, factor)
	}
	if c.Variant == Plain {
		d.Slices.Mean = d.Free
		return &d
	}
	d.Weight = c.drawWeight(rng, factor)
	d.side = make([]float32, c.Slices.Len())
	c.Map.Apply(b, d.side, d.Weight, false)
	if c.WeightPosterior != nil {
		residual := make([]float32, c.Slices.Len())
		c.Map.AddResidualVariance(residual, float64(c.WeightPosterior.PriorVar[0]))
		addNoise(rng, d.side, residual)
	}
	d.combine(b.Threads())
	return &d
}

// draw returns a draw of weights with the given means: independent ones, or slices
// of the given size with covariances. Variances are widened by a factor.
func (p *Posterior) draw(rng *rand.Rand, mean []float32, size int, factor float64) []float32 {
	x := append([]float32(nil), mean...)
	switch {
	case p == nil:
	case p.Cov == nil:
		for i, v := range p.Var {
			if v > 0 {
				x[i] += float32(math.Sqrt(p.Widened(float64(v), factor)) * rng.NormFloat64())
			}
		}
	default:
		l, z := make([]float64, size*size), make([]float64, size)
		for e := 0; e < len(x); e += size {
			semidefiniteCholesky(l, p.Cov[e*size:], size)
			for i := range z {
				z[i] = rng.NormFloat64()
				sum := 0.0
				for j := range i + 1 {
					sum += l[i*size+j] * z[j]
				}
				if v := float64(p.Cov[e*size+i*size+i]); factor > 1 && v > 0 {
					sum *= math.Sqrt(p.Widened(v, factor) / v)
				}
				x[e+i] += float32(sum)
			}
		}
	}
	return x
}

// addNoise adds normal noise to x. Entries of variance 0 consume no random number.
func addNoise(rng *rand.Rand, x, variance []float32) {
	for i, v := range variance {
		if v == 0 {
			continue
		}
		x[i] += float32(math.Sqrt(float64(v)) * rng.NormFloat64())
	}
}

// drawWeight returns a draw of W. With covariances over the modes it is
// m + z x_q F_q, where F_q F_q' = Sigma_q and z is standard normal; other variances are
// widened by a factor.
func (c *Core) drawWeight(rng *rand.Rand, factor float64) []float32 {
	p := c.WeightPosterior
	if p == nil || p.Sigma == nil {
		return p.draw(rng, c.Weight, c.Slices.Slice(), factor)
	}
	z := make([]float32, len(c.Weight))
	for i := range z {
		z[i] = float32(rng.NormFloat64())
	}
	before := 1
	for _, sigma := range p.Sigma {
		columns := sigma.Columns()
		sigma.MultiplyFactor(z, before, len(z)/(before*columns))
		before *= columns
	}
	for i, m := range c.Weight {
		z[i] += m
	}
	return z
}
