package kft

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/internal/stream"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// newScale fits the scale to the training targets.
func (r *fitting) newScale() (model.Scale, error) {
	train := r.parts[dataset.Train]
	if r.spec.Uncertainty.Counts() {
		return model.NewCountScale(train.Y, train.W)
	}
	return model.NewScale(r.spec.Transform, train.Y, train.W)
}

// countRows returns the number of rows of each code, by mode.
func countRows(codes [][]int32, sizes []int) [][]int32 {
	counts := make([][]int32, len(codes))
	for m, column := range codes {
		counts[m] = make([]int32, sizes[m])
		for _, c := range column {
			if c >= 0 {
				counts[m][c]++
			}
		}
	}
	return counts
}

// leastConformal is the number of valid rows from which a posterior has a
// conformal layer where the specification does not say.
const leastConformal = 2000

// resolveConformal decides what was left open, and notes it in the specification.
func (r *fitting) resolveConformal() {
	u := &r.spec.Uncertainty
	if u.Conformal != "auto" {
		return
	}
	u.Conformal = "none"
	switch n := r.parts[dataset.Valid].Len(); {
	case !u.Bayesian():
	case n >= leastConformal:
		u.Conformal = "group:mean"
	default:
		r.warnings = append(r.warnings, fmt.Sprintf("intervals are the model's own: %d valid rows are few to check them by (%d are taken as enough); --conformal split does so anyway", n, leastConformal))
	}
}

// holdOut takes half of the valid rows, chosen by the seed, for the conformal layer
// and for nothing else.
func (r *fitting) holdOut() error {
	if r.spec.Uncertainty.Conformal == "none" {
		return nil
	}
	valid := r.parts[dataset.Valid]
	n := valid.Len()
	if needed := calibrate.NeededFor(calibrate.Levels[0]); n/2 < needed {
		return fmt.Errorf("the conformal layer takes half of the valid rows, and there are %d: a 90 %% interval needs %d; give a larger valid part by --split, or set --conformal none", n, 2*needed)
	}
	order := stream.New(r.spec.Seed, "conformal").Perm(n)
	slices.Sort(order[:n/2])
	slices.Sort(order[n/2:])
	r.held, r.parts[dataset.Valid] = pickRows(valid, order[:n/2]), pickRows(valid, order[n/2:])
	return nil
}

func pickRows(o fit.Observations, rows []int) fit.Observations {
	out := fit.Observations{Codes: make([][]int32, len(o.Codes)), Y: make([]float32, len(rows))}
	for m := range o.Codes {
		out.Codes[m] = make([]int32, len(rows))
	}
	if o.W != nil {
		out.W = make([]float32, len(rows))
	}
	for i, row := range rows {
		out.Y[i] = o.Y[row]
		for m := range o.Codes {
			out.Codes[m][i] = o.Codes[m][row]
		}
		if o.W != nil {
			out.W[i] = o.W[row]
		}
	}
	return out
}

// mostCounts is how many training rows of counts are measured: the median of a
// mixture of counts takes long, and the figure is for orientation.
const mostCounts = 50_000

// thinned returns at most mostCounts rows, evenly spaced.
func thinned(o *fit.Observations, z tt.Moments) (*fit.Observations, tt.Moments) {
	if o.Len() <= mostCounts {
		return o, z
	}
	rows := make([]int, mostCounts)
	thin := tt.Moments{Mean: make([]float32, mostCounts), Var: make([]float32, mostCounts)}
	for i := range rows {
		rows[i] = i * o.Len() / mostCounts
		thin.Mean[i], thin.Var[i] = z.Mean[rows[i]], z.Var[rows[i]]
	}
	picked := pickRows(*o, rows)
	return &picked, thin
}

// predicted returns the field's moments at the rows of a part, computed once.
func (r *fitting) predicted(p dataset.Part) tt.Moments {
	if _, ok := r.moments[p]; !ok {
		if r.moments == nil {
			r.moments = map[dataset.Part]tt.Moments{}
		}
		r.moments[p] = r.model.moments(r.engine, r.parts[p].Codes)
	}
	return r.moments[p]
}

// learnNoise fits the noise to expected squared errors. Those of a posterior are
// honest on training rows, for its variance is in them; a point has learned its
// training rows by heart, so that its errors are those of valid rows, where there
// are any.
func (r *fitting) learnNoise(solved fit.Report) error {
	m, u := r.model, r.spec.Uncertainty
	switch u.Likelihood {
	case "poisson":
		m.uncertain.Poisson = &likelihood.Poisson{}
		return nil
	case "negative-binomial":
		m.uncertain.Negative = &likelihood.NegativeBinomial{Size: solved.Size}
		return nil
	}
	source := dataset.Train
	if !u.Bayesian() && r.parts[dataset.Valid].Len() > 0 {
		source = dataset.Valid
	}
	o, z := &r.parts[source], r.predicted(source)
	squared := make([]float32, o.Len())
	for i := range squared {
		d := m.scale.OnScale(float64(o.Y[i])) - m.scale.Level(z.Mean[i])
		v := 0.0
		if z.Var != nil {
			v = m.scale.Spread * m.scale.Spread * float64(z.Var[i])
		}
		squared[i] = float32(d*d + v)
	}
	m.fitNoise(o, z.Mean, squared)
	return nil
}

// fitNoise sets the noise by the expected squared errors of observations whose
// predictions are given.
func (m *Model) fitNoise(o *fit.Observations, mean, squared []float32) {
	errors := likelihood.Errors{Squared: squared, Weight: o.W}
	switch modes := m.uncertain.noiseModes; {
	case len(modes) > 0:
		var codes [][]int32
		var sizes []int
		for _, mode := range modes {
			codes, sizes = append(codes, o.Codes[mode]), append(sizes, len(m.seen[mode]))
		}
		fitted := likelihood.FitByEntity(errors, codes, sizes)
		m.uncertain.Entity = &fitted
	case m.spec.Uncertainty.Noise == "power":
		level := make([]float32, o.Len())
		for i := range level {
			level[i] = float32(m.scale.Level(mean[i]))
		}
		fitted := likelihood.FitPower(errors, level)
		m.uncertain.Power = &fitted
	default:
		fitted := likelihood.FitConstant(errors)
		m.uncertain.Constant = &fitted
	}
}

// noiseModel returns the noise of the training rows for a solver that weighs them
// by it; nil where it does not.
func (r *fitting) noiseModel() fit.NoiseModel {
	u := r.spec.Uncertainty
	if u.NoiseUse != "fit" || u.Noise == "constant" || !u.Bayesian() || u.Counts() {
		return nil
	}
	train := &r.parts[dataset.Train]
	return func(mean, squared []float32) []float64 {
		m := r.model
		onScale := make([]float32, len(squared))
		for i, e := range squared {
			onScale[i] = e * float32(m.scale.Spread*m.scale.Spread)
		}
		m.fitNoise(train, mean, onScale)
		variance := make([]float64, len(mean))
		for i, z := range mean {
			variance[i] = m.uncertain.noise(m.scale.Level(z), train.Codes, i)
		}
		return variance
	}
}

// learnLayer makes the conformal layer of the rows held out for it.
func (r *fitting) learnLayer() error {
	if r.spec.Uncertainty.Conformal == "none" {
		return nil
	}
	layer, err := r.model.newLayer(r.engine, r.held, r.spec.Uncertainty.Conformal)
	r.model.uncertain.layer = layer
	return err
}

// A layer by the size of predictions has meanBins groups, fewer where they would
// have fewer rows than rowsABin each.
const (
	meanBins = 20
	rowsABin = 2 * calibrate.LeastGroup
)

// newLayer makes a conformal layer of rows that were used for nothing else.
func (m *Model) newLayer(b backend.Backend, o fit.Observations, kind string) (*calibrate.Layer, error) {
	z := m.moments(b, o.Codes)
	rows := layerRows{score: make([]float64, o.Len()), location: make([]float64, o.Len()), entity: o.Codes[m.uncertain.layerMode]}
	backend.Each(b, o.Len(), func(i int) {
		p := m.bare(z, o.Codes, i)
		rows.score[i], rows.location[i] = p.Score(float64(o.Y[i]), m.spec.Seed, uint64(i)), p.Location()
	})
	return rows.layer(kind)
}
