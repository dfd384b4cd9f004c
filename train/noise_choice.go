package train

import (
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
)

// A noise model replaces a simpler one from a gain in mean log density on the validation
// set of leastNoiseGain, and of chanceNoiseGain in the sum over its rows.
const (
	leastNoiseGain  = 0.002
	chanceNoiseGain = 3
)

// chooseNoise fits noise models to the expected squared errors of training rows and
// keeps the one with the highest mean log density on the validation set: constant, power,
// per entity of one mode, and of the best mode with another. The noise of a point
// estimate, and of a fit without a validation set, is constant.
func (r *run) chooseNoise(o *solver.Observations, mean, squared []float32) {
	best, highest := "constant", math.Inf(-1)
	try := func(kind string, gain float64) bool {
		r.setNoise(kind, r.noiseOf(kind, o, mean, squared))
		if density := r.validDensity(); density > highest+gain {
			best, highest = kind, density
			return true
		}
		return false
	}
	if n := r.parts[dataset.Valid].Len(); r.spec.Uncertainty.Bayesian() && n > 0 {
		least := leastNoiseGain + chanceNoiseGain/float64(n)
		try("constant", 0)
		try("power", least)
		first := ""
		names := r.spec.ModeNames()[:r.data.cellModes()]
		for _, mode := range names {
			if try("entity:"+mode, least) {
				first = mode
			}
		}
		for _, mode := range names {
			if first != "" && mode != first {
				try(strings.Join(inOrder(names, first, mode), ","), least)
			}
		}
	}
	r.setNoise(best, r.noiseOf(best, o, mean, squared))
}

// inOrder returns the noise of two modes, in the order of the list of modes.
func inOrder(names []string, a, b string) []string {
	for _, name := range names {
		if name == b {
			return []string{"entity:" + b, a}
		}
		if name == a {
			break
		}
	}
	return []string{"entity:" + a, b}
}

// noiseOf fits a noise model of the given kind.
func (r *run) noiseOf(kind string, o *solver.Observations, mean, squared []float32) model.Noise {
	r.spec.Uncertainty.Noise = kind
	r.model = r.model.WithNoiseKind(kind)
	return r.fitNoise(o, mean, squared)
}

// setNoise gives the model a noise model of the given kind.
func (r *run) setNoise(kind string, n model.Noise) {
	r.spec.Uncertainty.Noise = kind
	r.model = r.model.WithNoiseKind(kind).WithNoise(n)
}

// validDensity returns the mean log density of the validation set on the modelling
// scale.
func (r *run) validDensity() float64 {
	o, z, scale := &r.parts[dataset.Valid], r.predicted(dataset.Valid), r.model.Scale()
	noise, modes := r.model.Noise(), r.model.NoiseModes()
	type sums struct{ density, rows float64 }
	s := parallel.Reduce(r.engine.Threads(), o.Len(), func(from, to int) (s sums) {
		for i := from; i < to; i++ {
			location := scale.Location(z.Mean[i])
			w := weightOf(o, i)
			if w == 0 {
				continue
			}
			v := r.model.FieldVariance(z, i) + noise.UnitVariance(modes, location, o.Codes, i)/w
			d := scale.OnScale(o.Target(i)) - location
			s.density += -0.5 * (math.Log(2*math.Pi*v) + d*d/v)
			s.rows++
		}
		return s
	}, func(a, b sums) sums { return sums{a.density + b.density, a.rows + b.rows} })
	if s.rows == 0 || math.IsNaN(s.density) {
		return math.Inf(-1)
	}
	return s.density / s.rows
}
