package train

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/heaping"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/train/collective"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// Factors of values are learned from tables of whole numbers with this many training and
// validation rows or more, and kept if they lower the CRPS of at most heapingRows
// validation rows by a share of leastHeapingGain.
const (
	leastHeapingRows  = 10_000
	leastHeapingValid = 1_000
	heapingRows       = 20_000
	leastHeapingGain  = 0.005
)

// learnHeaping gives the model factors of values, if the target is heaped.
func (r *run) learnHeaping() {
	train, valid := r.ownTrain(), r.part(dataset.Valid)
	noise := r.model.Noise()
	if r.opt.Compare || r.spec.Uncertainty.Heaping == "none" || !r.spec.Uncertainty.Bayesian() || noise.Count() != nil || noise.Finite() != nil || noise.Student != nil || r.spec.Data.Censored != "" || r.data.Scales() != nil ||
		train.Len() < leastHeapingRows || valid.Len() < leastHeapingValid || !r.model.Scale().NonNegative || !r.wholeNumbers() {
		return
	}
	heaped := r.model.WithHeaping(r.heaping())
	if heaped.Heaping() == nil {
		return
	}
	o, z := fitdata.Thinned(valid, r.predicted(dataset.Valid), heapingRows)
	if crpsOf(r.engine, heaped, o, z) < (1-leastHeapingGain)*crpsOf(r.engine, r.model, o, z) {
		r.model = heaped.WithHeaping(r.calibratedHeaping(heaped))
	}
}

// calibratedHeaping returns the factors of a model with levels that are corrected on the
// rows held out for the conformal correction, if there are enough of them.
func (r *run) calibratedHeaping(heaped *model.Model) *heaping.Table {
	table, o := heaped.Heaping(), &r.held
	if o.Len() < leastHeapingValid {
		return table
	}
	z := heaped.Moments(r.engine, o.Codes)
	rows := model.Rows{Codes: o.Codes, Weight: o.W, Exposure: o.Exposure, Horizon: r.heldHorizon}
	each := func(m *model.Model, see func(i int, d *predictive.Distribution)) {
		const piece = 1 << 12 // a row takes a microsecond
		parallel.For(r.engine.Threads(), (o.Len()+piece-1)/piece, func(k int) {
			cells := m.Distributions(z, rows)
			for i := k * piece; i < min(o.Len(), (k+1)*piece); i++ {
				see(i, cells.At(i))
			}
		})
	}
	pit := make([]float64, o.Len())
	each(heaped, func(i int, d *predictive.Distribution) { pit[i] = d.PIT(o.Target(i), r.spec.Seed, uint64(i)) })
	table = table.Calibrated(r.engine.Threads(), pit)
	below, upTo := pit, make([]float64, o.Len())
	each(heaped.WithHeaping(table), func(i int, d *predictive.Distribution) { below[i], upTo[i] = d.CDFLimits(o.Target(i)) })
	return table.WithBorder(r.engine.Threads(), below, upTo)
}

// wholeNumbers reports whether all targets of training rows are.
func (r *run) wholeNumbers() bool {
	whole := true
	o := r.ownTrain()
	from, to := r.known(dataset.Train)
	for i := from; i < to && whole; i++ {
		y := o.Target(i)
		whole = y == math.Trunc(y)
	}
	return !r.anyRank(!whole)
}

// crpsOf returns the mean CRPS of rows without weights.
func crpsOf(b backend.Backend, m *model.Model, o *solver.Observations, z tt.Moments) float64 {
	rows := model.Rows{Codes: o.Codes, Weight: o.W, Exposure: o.Exposure}
	const piece = 512 // rows: one takes microseconds
	sums := make([]float64, max(1, (o.Len()+piece-1)/piece))
	parallel.For(b.Threads(), len(sums), func(p int) {
		cells := m.Distributions(z, rows)
		for i := p * piece; i < min(o.Len(), (p+1)*piece); i++ {
			sums[p] += cells.At(i).CRPS(o.Target(i))
		}
	})
	return parallel.Tree(sums, func(a, b float64) float64 { return a + b }) / float64(o.Len())
}

// heaping learns factors of values from the training rows: of all rows, of each mode that
// has a future, and of the finest combination of these modes over which a term has weights.
func (r *run) heaping() *heaping.Table {
	time := r.data.TimeMode()
	var factors []heaping.Factor
	var modes []int
	for mode := range r.data.CellModes() {
		if mode == time || r.data.IsCalendar(mode) {
			continue
		}
		modes = append(modes, mode)
		factors = append(factors, heaping.Factor{Modes: []int{mode}, Index: noisemodel.ModeCode(mode), Entities: r.data.Table().Dicts[mode].Len()})
	}
	train, z := r.predictedTrain()
	if x := r.finest(modes); x != nil {
		train, z = r.part(dataset.Train), r.predicted(dataset.Train) // pairs count all rows
		var of []int
		for _, a := range x.Axes() {
			of = append(of, a.Mode)
		}
		factors = append(factors, heaping.Factor{Modes: of, Index: x, Entities: x.Entities() - 1, Pair: true})
	}
	given := model.Rows{Codes: train.Codes, Weight: train.W, Exposure: train.Exposure}
	return heaping.Learn(r.engine.Threads(), r.model.Scale().Transform, heaping.Rows{Codes: train.Codes, Len: train.Len(), Target: train.Target, Pages: r.pages, Group: collective.Group(r.opt.Ranks),
		Distributions: func() func(int) *predictive.Distribution {
			cells := r.model.Distributions(z, given)
			return cells.At
		}}, factors)
}

// finest returns the index of a term over all of the modes or, if there is none, over the
// first two of them that have one.
func (r *run) finest(modes []int) *entity.Index {
	if len(modes) < 2 {
		return nil
	}
	if x := r.model.CombinationsOf(modes); x != nil {
		return x
	}
	for i, a := range modes {
		for _, b := range modes[i+1:] {
			if x := r.model.CombinationsOf([]int{a, b}); x != nil {
				return x
			}
		}
	}
	return nil
}
