package train

import (
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A noise model replaces a simpler one from a gain in mean log density on the validation
// set of leastNoiseGain, and of chanceNoiseGain in the sum over its rows.
const (
	leastNoiseGain  = 0.002
	chanceNoiseGain = 3
)

// chooseNoise fits noise models to the expected squared errors of training rows and
// keeps the one with the highest mean log density on the validation set. It starts with
// the better of constant and power, and adds factors of entities one at a time, each the
// best of those left: of modes, and of combinations of modes that a term has. The power goes
// if the factors do without it. The noise of a point estimate, and of a fit without a
// validation set, is constant.
func (r *run) chooseNoise(o *solver.Observations, mean, squared []float32) {
	n := r.size(dataset.Valid)
	if !r.spec.Uncertainty.Bayesian() || n == 0 {
		r.setNoise("constant", r.noiseOf("constant", nil, o, mean, squared))
		return
	}
	least := leastNoiseGain + chanceNoiseGain/float64(n)
	best, start := r.bestNoise(o, mean, squared, least)
	noise := r.noiseOf(best, start.Entity, o, mean, squared)
	r.setNoise(best, noise)
	if factors, found := strings.CutPrefix(best, "power:"); found { // entities may explain what size seemed to
		density := r.validDensity()
		byEntity := r.noiseOf("entity:"+factors, noise.Entity, o, mean, squared)
		r.setNoise("entity:"+factors, byEntity)
		if r.validDensity() < density-least {
			r.setNoise(best, noise)
		}
	}
}

// bestNoise returns the kind of noise that chooseNoise keeps, and one of that kind. A factor that is tried is
// fitted to the errors divided by the noise so far, and dropped for good if it gains less
// than the least gain. Cost: a pass over the training and the validation set per try.
func (r *run) bestNoise(o *solver.Observations, mean, squared []float32, least float64) (string, model.Noise) {
	base, kind := "entity", "constant"
	noise := r.noiseOf("constant", nil, o, mean, squared)
	r.setNoise(kind, noise)
	highest := r.validDensity()
	power := r.noiseOf("power", nil, o, mean, squared)
	r.setNoise("power", power)
	if density := r.validDensity(); density > highest+least {
		base, kind, noise, highest = "power", "power", power, density
	}
	candidates, list := r.noiseCandidates(), ""
	for range spec.MaxNoiseFactors {
		relative := r.relativeErrors(o, mean, squared, noise)
		now, nowKind, nowHighest := noise, kind, highest
		candidates = slices.DeleteFunc(candidates, func(factor string) bool {
			name := base + ":" + strings.TrimPrefix(list+","+factor, ",")
			more := r.withFactor(name, noise, o, relative)
			r.setNoise(name, more)
			density := r.validDensity()
			if density > nowHighest {
				now, nowKind, nowHighest = more, name, density
			}
			return !(density > highest+least)
		})
		if nowHighest <= highest+least {
			break
		}
		noise, kind, highest = now, nowKind, nowHighest
		_, list, _ = strings.Cut(kind, ":")
		candidates = slices.DeleteFunc(candidates, func(factor string) bool { return slices.Contains(strings.Split(list, ","), factor) })
	}
	return kind, noise
}

// relativeErrors returns expected squared errors, in squares of unitOf, divided by a noise
// variance.
func (r *run) relativeErrors(o *solver.Observations, mean, squared []float32, noise model.Noise) []float32 {
	relative := make([]float32, len(squared))
	scale := r.model.Scale()
	square := unitOf(scale) * unitOf(scale)
	parallel.Ranges(r.engine.Threads(), len(relative), func(_, from, to int) {
		rows := noise.Rows(o.Codes, nil, func(i int) float64 { return scale.Location(mean[i]) })
		for i := from; i < to; i++ {
			relative[i] = float32(float64(squared[i]) * square / rows.UnitVariance(i))
		}
	})
	return relative
}

// withFactor returns a noise with the last factor of a kind, fitted to relative errors.
func (r *run) withFactor(kind string, noise model.Noise, o *solver.Observations, relative []float32) model.Noise {
	r.model = r.model.WithNoiseKind(kind)
	factors := r.model.NoiseModes()
	index, codes, sizes := r.noiseEntities(o, factors[len(factors)-1:])
	factor := likelihood.FitByEntity(likelihood.Errors{Squared: relative, Weight: o.W}, codes, sizes, nil, r.engine.Threads())
	switch {
	case noise.Entity != nil:
		factor.Variance *= noise.Entity.Variance
		factor.Modes = append(slices.Clone(noise.Entity.Modes), factor.Modes...)
	case noise.Constant != nil:
		factor.Variance *= noise.Constant.Variance
	}
	return model.Noise{Power: noise.Power, Entity: &factor, Entities: append(slices.Clone(noise.Entities), index...)}
}

// noiseCandidates returns the factors of noise that are tried: modes of cells, and the
// combinations of them over which a term has weights.
func (r *run) noiseCandidates() []string {
	names := r.spec.ModeNames()[:r.data.CellModes()]
	candidates := slices.Clone(names)
	for i, a := range names {
		for _, b := range names[i+1:] {
			if r.model.CombinationsOf(spec.Positions([]string{a, b}, names)) != nil {
				candidates = append(candidates, a+"*"+b)
			}
		}
	}
	return candidates
}

// noiseOf fits a noise model of the given kind, whose factors of entities begin with those of start unless it is nil.
func (r *run) noiseOf(kind string, start *likelihood.ByEntity, o *solver.Observations, mean, squared []float32) model.Noise {
	r.spec.Uncertainty.Noise = kind
	r.model = r.model.WithNoiseKind(kind)
	return r.fitNoise(start, o, mean, squared)
}

// setNoise gives the model a noise model of the given kind.
func (r *run) setNoise(kind string, n model.Noise) {
	r.spec.Uncertainty.Noise = kind
	r.model = r.model.WithNoiseKind(kind).WithNoise(n)
}

// validDensity returns the mean log density of the validation set on the modelling
// scale.
func (r *run) validDensity() float64 {
	o, z, scale := r.part(dataset.Valid), r.predicted(dataset.Valid), r.model.Scale()
	noise := r.model.Noise()
	type sums struct{ density, rows float64 }
	s := parallel.ReduceBy(parallel.Block/16, r.engine.Threads(), o.Len(), func(from, to int) (s sums) {
		rows := noise.Rows(o.Codes, nil, func(i int) float64 { return scale.Location(z.Mean[i]) })
		for i := from; i < to; i++ {
			location := scale.Location(z.Mean[i])
			w := weightOf(o, i)
			if w == 0 {
				continue
			}
			v := r.model.FieldVariance(z, i) + rows.UnitVariance(i)/w
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
