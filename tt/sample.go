package tt

import (
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/backend"
)

// Sample draws the weights from their posterior and returns the field they
// make, known exactly. All cells share the cores of a draw, so that what is
// summed over cells has the spread that the posterior gives the sum; draws of
// single cells would not.
//
// Entities without training data and the prior's slice are drawn from variances
// of their own. Whatever takes the prior's slice shares one draw of it; a
// [Sampler] tells such entities apart, and can do with a field that was extended.
//
// The field shares indices and maps with f. It is for evaluation: Refresh would
// take the drawn slices of entities without training data back to their mean. A
// draw costs a normal variate a weight and a product of the operators with W,
// with full covariances over m columns m more multiply-adds a weight.
func (f *Field) Sample(b backend.Backend, rng *rand.Rand) *Field {
	drawn := &Field{Group: f.Group}
	for _, t := range f.Terms {
		train := &Train{}
		for _, c := range t.Cores {
			train.Cores = append(train.Cores, c.sample(b, rng))
		}
		drawn.Terms = append(drawn.Terms, train)
	}
	return drawn
}

func (c *Core) sample(b backend.Backend, rng *rand.Rand) *Core {
	d := *c
	d.FreeSpread, d.WeightSpread, d.sideVar = nil, nil, nil
	d.Slices = backend.NewSlices(c.Slices.Shape)
	size := c.Slices.Slice()
	if c.Free != nil {
		d.Free = c.FreeSpread.draw(rng, c.Free, size)
	}
	if c.Variant == Plain {
		d.Slices.Mean = d.Free
		return &d
	}
	d.Weight = c.drawWeight(rng)
	d.side = make([]float32, c.Slices.Len())
	c.Map.Apply(b, d.side, d.Weight, false)
	if c.WeightSpread != nil {
		lost := make([]float32, c.Slices.Len())
		c.Map.addLost(lost, float64(c.WeightSpread.PriorVar[0]))
		addNoise(rng, d.side, lost)
	}
	d.combine()
	c.drawPrior(rng, d.Slices.Mean)
	return &d
}

// drawPrior draws the prior's slice of a regression from its own moments: there
// is no side information to take it from.
func (c *Core) drawPrior(rng *rand.Rand, dst []float32) {
	size := c.Slices.Slice()
	last := func(values []float32, size int) []float32 {
		if values == nil {
			return nil
		}
		return values[len(values)-size:]
	}
	var spread *Spread
	if c.WeightSpread != nil {
		spread = &Spread{Var: last(c.Slices.Var, size), Cov: last(c.Slices.Cov, size*size)}
	}
	copy(last(dst, size), spread.draw(rng, last(c.Slices.Mean, size), size))
}

// draw returns independent weights, or slices with covariances, about mean.
func (s *Spread) draw(rng *rand.Rand, mean []float32, size int) []float32 {
	x := append([]float32(nil), mean...)
	switch {
	case s == nil:
	case s.Cov == nil:
		addNoise(rng, x, s.Var)
	default:
		l, z := make([]float64, size*size), make([]float64, size)
		for e := 0; e < len(x); e += size {
			semiCholesky(l, s.Cov[e*size:], size)
			for i := range z {
				z[i] = rng.NormFloat64()
				sum := 0.0
				for j := range i + 1 {
					sum += l[i*size+j] * z[j]
				}
				x[e+i] += float32(sum)
			}
		}
	}
	return x
}

func addNoise(rng *rand.Rand, x, variance []float32) {
	for i, v := range variance {
		if v == 0 {
			continue
		}
		x[i] += float32(math.Sqrt(float64(v)) * rng.NormFloat64())
	}
}

// drawWeight returns a draw of W: with covariances over the modes, m + z x_q F_q
// where F_q F_q' = Sigma_q.
func (c *Core) drawWeight(rng *rand.Rand) []float32 {
	s := c.WeightSpread
	if s == nil || s.Sigma == nil {
		return s.draw(rng, c.Weight, c.Slices.Slice())
	}
	z := make([]float32, len(c.Weight))
	for i := range z {
		z[i] = float32(rng.NormFloat64())
	}
	before := 1
	for _, sigma := range s.Sigma {
		columns := sigma.Columns()
		sigma.color(z, before, len(z)/(before*columns))
		before *= columns
	}
	for i, m := range c.Weight {
		z[i] += m
	}
	return z
}

// color multiplies z, before x columns x after, by F along its middle axis.
func (s *Sigma) color(z []float32, before, after int) {
	columns := s.Columns()
	for p := range before {
		block := z[p*columns*after:][:columns*after]
		for i := s.Lead - 1; i >= 0; i-- { // B is lower triangular: rows above are still z
			row := block[i*after:][:after]
			for k := range row {
				row[k] *= s.Factor[i*s.Lead+i]
			}
			for j := range i {
				f := s.Factor[i*s.Lead+j]
				for k, v := range block[j*after:][:after] {
					row[k] += f * v
				}
			}
		}
		for i, v := range s.Diag {
			sd := float32(math.Sqrt(float64(v)))
			for k := range after {
				block[(s.Lead+i)*after+k] *= sd
			}
		}
	}
}
