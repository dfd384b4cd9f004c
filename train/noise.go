package train

import (
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/collective"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// newScale fits the scale to the training targets.
func (r *run) newScale() (targetscale.Scale, error) {
	if r.measured != nil {
		return r.measured.Scale(), nil
	}
	switch u := r.spec.Uncertainty; {
	case u.Counts():
		train := r.part(dataset.Train)
		return targetscale.NewCountScale(train.Y, train.W, train.Exposure)
	case u.Likelihood == "bernoulli":
		train := r.part(dataset.Train)
		return targetscale.NewLogitScale(train.Y, train.W)
	case u.Likelihood == "ordinal":
		train := r.part(dataset.Train)
		_, err := targetscale.NewScale(targetscale.Identity, train.Y, train.W) // reports a constant target
		return targetscale.Scale{Transform: targetscale.Ordinal, Spread: 1}, err
	}
	transform, err := targetscale.ParseTransform(r.spec.Transform)
	if err != nil {
		return targetscale.Scale{}, err
	}
	train := r.ownTrain()
	if strings.HasPrefix(r.spec.Transform, "power") {
		train = r.part(dataset.Train)
		transform = transform.WithUnit(train.Y, train.W)
	}
	first, end := collective.OwnRows(r.opt.Ranks, train.Len())
	values := make([]float64, end-first)
	bounds, err := collective.EachOwn(r.opt.Ranks, r.engine.Threads(), train.Len(), func(from, to int) error {
		return transform.Values(values[from-first:to-first], train.Target, from)
	})
	if err != nil {
		return targetscale.Scale{Transform: transform, Spread: 1}, err
	}
	sums := []targetscale.ScaleSums{{}}
	collective.InTurn(r.opt.Ranks, bounds, sums, func(from, to int) {
		w := train.W
		if w != nil {
			w = w[from:to]
		}
		sums[0].Add(values[from-first:to-first], w)
	})
	scale, err := sums[0].Scale(transform, train.Target)
	scale.NonNegative = r.nonNegative()
	return scale, err
}

// nonNegative reports whether predictions are 0 or more: if the specification says so,
// or by default if no target is below 0. Like the domain of a transform, this holds for
// all parts.
func (r *run) nonNegative() bool {
	if r.spec.Data.NonNegative == "no" {
		return false
	}
	negative := false
	for p := range dataset.Part(len(r.parts)) {
		from, to := r.known(p)
		for _, y := range r.parts[p].Y[from:to] { // without a call per row
			if y < 0 {
				negative = true
				break
			}
		}
	}
	return !r.anyRank(negative)
}

// learnNoise fits the noise to expected squared errors. For a posterior the training
// rows give an honest estimate, because its variance is part of the expectation. A
// point estimate overfits its training rows, so its errors on validation rows are
// used, if there are any.
func (r *run) learnNoise(solved solver.Report) {
	u := r.spec.Uncertainty
	switch law := solved.Law.(type) {
	case likelihood.Poisson:
		r.model = r.model.WithNoise(model.Noise{Poisson: &law})
		return
	case likelihood.NegativeBinomial:
		r.model = r.model.WithNoise(model.Noise{Negative: &law})
		return
	case likelihood.ZeroInflated:
		r.model = r.model.WithNoise(model.Noise{Inflated: &law})
		return
	case likelihood.Hurdle:
		r.model = r.model.WithNoise(model.Noise{Hurdle: &law})
		return
	case likelihood.Bernoulli:
		law = r.calibrated(law)
		r.model = r.model.WithNoise(model.Noise{Bernoulli: &law})
		return
	case likelihood.Ordinal:
		r.model = r.model.WithNoise(model.Noise{Ordinal: &law})
		return
	case likelihood.Censored: // as below
		spread := r.model.Scale().Spread
		r.model = r.model.WithNoise(model.Noise{Constant: &likelihood.Constant{Variance: law.Variance * spread * spread * meanWeight(r.part(dataset.Train))}})
		return
	case likelihood.StudentT: // on the standardised scale, for weights of mean 1
		spread := r.model.Scale().Spread
		law.Variance *= spread * spread * meanWeight(r.part(dataset.Train))
		r.model = r.model.WithNoise(model.Noise{Student: &law})
		return
	}
	if v, given := u.NoiseVariance.Value(); given {
		spread := r.model.Scale().Spread
		r.model = r.model.WithNoise(model.Noise{Constant: &likelihood.Constant{Variance: v * spread * spread}})
		return
	}
	source := dataset.Train
	if !u.Bayesian() && r.size(dataset.Valid) > 0 {
		source = dataset.Valid
	}
	var o *solver.Observations
	var z tt.Moments
	if source == dataset.Train {
		o, z = r.predictedTrain()
	} else {
		o, z = r.part(source), r.predicted(source)
	}
	scale := r.model.Scale()
	squared := backend.Make[float32](r.engine, o.Len())
	defer backend.FreeAll(r.engine, [][]float32{squared})
	unit := unitOf(scale)
	_ = collective.EachRow(r.opt.Ranks, r.engine.Threads(), squared, func(from, to int) error {
		for i := from; i < to; i++ {
			d := scale.OnScale(o.Target(i)) - scale.Location(z.Mean[i])
			squared[i] = float32((d*d + r.model.FieldVariance(z, i)) / (unit * unit))
		}
		return nil
	})
	if u.Noise == spec.Auto {
		r.chooseNoise(o, z.Mean, squared)
		return
	}
	r.model = r.model.WithNoise(r.fitNoise(nil, o, z.Mean, squared))
}

// meanWeight returns the mean weight of observations.
func meanWeight(o *solver.Observations) float64 {
	if o.W == nil {
		return 1
	}
	sum := 0.0
	for i := range o.Len() {
		sum += weightOf(o, i)
	}
	return sum / float64(o.Len())
}

// calibrationRows is the largest number of rows that probabilities are calibrated on.
const calibrationRows = 20_000

// calibrated calibrates probabilities on the validation set, if there is one. Fits that
// are only compared do without.
func (r *run) calibrated(law likelihood.Bernoulli) likelihood.Bernoulli {
	if r.size(dataset.Valid) == 0 || r.opt.Compare {
		return law
	}
	o, z := fitdata.Thinned(r.part(dataset.Valid), r.predicted(dataset.Valid), calibrationRows)
	cells := likelihood.Cells{Y: o.Y, Weight: o.W, Mean: make([]float32, o.Len()), Variance: z.Var}
	for i, m := range z.Mean {
		cells.Mean[i] = float32(r.model.Scale().Location(m))
	}
	return law.Calibrated(cells, func(n int, work func(int)) { backend.ParallelFor(r.engine, n, work) })
}

// unitOf returns a power of 2 near the spread of a scale. Squared errors are fitted in
// this unit, because their range would exceed that of float32 for targets of 1e20, and
// because the floors of noise models are relative to 1. Multiplication by a power of 2
// rounds nothing.
func unitOf(s targetscale.Scale) float64 {
	_, exponent := math.Frexp(s.Spread)
	return math.Ldexp(1, exponent)
}

// fitNoise fits the noise to the expected squared errors of observations, whose
// predictions on the standardised scale are given. The errors are in squares of unitOf. Factors of entities begin with
// those of start unless it is nil.
func (r *run) fitNoise(start *likelihood.ByEntity, o *solver.Observations, mean, squared []float32) model.Noise {
	errors := likelihood.Errors{Squared: squared, Weight: o.W}
	unit := unitOf(r.model.Scale())
	square := unit * unit
	entities, codes, sizes := r.noiseEntities(o, r.model.NoiseModes())
	var factors []likelihood.ModeFactors
	if start != nil {
		factors = start.Modes
	}
	if !r.spec.Uncertainty.NoiseByPower() {
		if entities == nil {
			constant := likelihood.FitConstant(errors, r.engine.Threads())
			constant.Variance *= square
			return model.Noise{Constant: &constant}
		}
		byEntity := likelihood.FitByEntity(errors, codes, sizes, factors, r.engine.Threads())
		byEntity.Variance *= square
		return model.Noise{Entity: &byEntity, Entities: entities}
	}
	scale := r.model.Scale()
	level := make([]float32, o.Len())
	backend.ParallelFor(r.engine, len(level), func(i int) { level[i] = float32(scale.Location(mean[i]) / unit) })
	noise := model.Noise{Power: &likelihood.Power{}, Entities: entities}
	if entities == nil {
		*noise.Power = likelihood.FitPower(errors, level, r.engine.Threads())
	} else {
		noise.Entity = &likelihood.ByEntity{}
		*noise.Power, *noise.Entity = likelihood.FitPowerByEntity(errors, level, codes, sizes, factors, r.engine.Threads())
	}
	noise.Power.Floor *= unit
	noise.Power.Scale *= square * math.Pow(unit, -noise.Power.Exponent)
	return noise
}

// noiseEntities returns the indexes of factors of the noise, given by their modes, the entities of
// observations in each, and their numbers.
func (r *run) noiseEntities(o *solver.Observations, factors [][]int) (indexes []noisemodel.EntityIndex, codes [][]int32, sizes []int) {
	for _, modes := range factors {
		if len(modes) == 1 {
			indexes, codes, sizes = append(indexes, noisemodel.ModeCode(modes[0])), append(codes, o.Codes[modes[0]]), append(sizes, r.data.Table().Dicts[modes[0]].Len())
			continue
		}
		x := r.combinations(modes)
		of := make([]int32, o.Len())
		parallel.Blocks(r.engine.Threads(), len(of), func(from, to int) { x.LookupFrom(of[from:to], o.Codes, from) })
		indexes, codes, sizes = append(indexes, x), append(codes, of), append(sizes, x.Entities()-1)
	}
	return indexes, codes, sizes
}

// combinations returns the index of the combinations of modes in the training set, that of
// a term if there is one.
func (r *run) combinations(modes []int) *entity.Index {
	if x := r.model.CombinationsOf(modes); x != nil {
		return x
	}
	sizes := make([]int, len(r.data.Table().Dicts))
	for i, d := range r.data.Table().Dicts {
		sizes[i] = d.Len()
	}
	x, err := entity.NewIndex(modes, sizes, r.part(dataset.Train).Codes)
	if err != nil {
		panic("train: " + err.Error()) // the packing of all modes was checked
	}
	return x
}

// noiseModel returns the noise of the training rows for a solver that weights them
// by it; nil for other solvers.
func (r *run) noiseModel() solver.NoiseModel {
	u := r.spec.Uncertainty
	if u.NoiseUse != "fit" || u.Noise == "constant" || !u.Bayesian() || u.OwnNoise() {
		return nil
	}
	train, scale := r.part(dataset.Train), r.model.Scale()
	shared := r.sharedErrors()
	return func(mean, squared []float32) ([]float64, float64) {
		onScale, unit := make([]float32, len(squared)), unitOf(scale)
		for i, e := range squared {
			onScale[i] = e * float32(scale.Spread/unit*scale.Spread/unit)
		}
		noise := r.fitNoise(nil, train, mean, onScale)
		variance, rows := make([]float64, len(mean)), noise.Rows(train.Codes, nil, func(i int) float64 { return scale.Location(mean[i]) })
		for i := range mean {
			variance[i] = rows.UnitVariance(i)
		}
		return variance, shared(mean, squared)
	}
}
