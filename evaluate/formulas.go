package evaluate

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/flat"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// Formulas are formulas of package baseline and the rows that they are fitted to and measured on.
type Formulas struct {
	Names   []string // modes of cells, the first ones of the rows: formulas of covariates are no rules of thumb
	Sizes   []int
	Parts   [3]Rows // by dataset.Part
	Time    *baseline.Time
	Between *baseline.Time
	Chosen  baseline.Chosen // settings of a first training, which validation rows chose
	Scale   targetscale.Scale
	Finite  bool          // the target has few values, so that a median is a rounded mean
	First   *model.Record // of the first training, if this is a refit
	Threads int
	Ranks   backend.Ranks // processes that divide the work; nil for one
}

// Measure fits the formulas and measures them, the best first. It also returns their settings.
func (a *Formulas) Measure() ([]model.BaselineScores, baseline.Chosen) {
	threads, n := a.Threads, len(a.Names)
	table := baseline.Table{Names: a.Names, Sizes: a.Sizes, Time: a.Time, Between: a.Between, Threads: threads, Chosen: a.Chosen}
	if a.Ranks != nil {
		table.Peers = a.Ranks
	}
	center := a.center()
	table.Parts = [3]baseline.Rows{formulaRows(a.Parts[dataset.Train], center), formulaRows(a.Parts[dataset.Valid], center), {Codes: a.Parts[dataset.Test].Codes}}
	for p := range table.Parts {
		table.Parts[p].Codes = table.Parts[p].Codes[:n]
	}
	formulas := baseline.Fit(table)
	scores := make([]model.BaselineScores, len(formulas))
	onScale := [3][]float64{}
	held := len(a.Parts[dataset.Valid].Y)+len(a.Parts[dataset.Test].Y) > 0
	measures, rank := a.whoMeasures(formulas)
	for p := range dataset.Part(len(a.Parts)) {
		if p != dataset.Train || !held || measures[0] == rank { // training rows measure the first formula alone
			onScale[p] = a.onScale(threads, a.Parts[p])
		}
	}
	parallel.For(threads, len(formulas), func(k int) {
		if measures[k] != rank {
			return
		}
		s := &scores[k]
		s.Name, s.Setting, s.Best = formulas[k].Name, formulas[k].Setting, k == 0
		median := math.Round // of a probability
		if !a.Finite {
			s.Median = a.median(&formulas[k], center)
			median = s.Median.Of
		}
		for p, to := range []*metrics.Score{&s.Train, &s.Valid, &s.Test} {
			var sums formulaSums
			if dataset.Part(p) != dataset.Train || k == 0 || !held {
				sums = parallel.Reduce(threads, len(a.Parts[dataset.Part(p)].Y), func(from, end int) formulaSums {
					return a.measure(&formulas[k], center, median, dataset.Part(p), onScale[p], from, end)
				}, formulaSums.add)
			}
			*to = sums.point.Score()
			to.Binary = sums.binary.Binary()
		}
	})
	a.shareScores(scores, measures)
	return scores, baseline.ChosenOf(formulas)
}

// whoMeasures returns the rank that measures each formula: the one that has fitted it alone, and
// otherwise each in turn. The second result is this rank.
func (a *Formulas) whoMeasures(formulas []baseline.Formula) (ranks []int, own int) {
	ranks = make([]int, len(formulas))
	if a.Ranks == nil {
		return ranks, 0
	}
	has := make([]bool, len(formulas)*a.Ranks.Size())
	for k := range formulas {
		has[a.Ranks.Rank()*len(formulas)+k] = !formulas[k].Elsewhere()
	}
	backend.GatherValues(a.Ranks, has, backend.Even(a.Ranks.Size(), a.Ranks.Size()), len(formulas))
	for k := range ranks {
		for ranks[k] = k % a.Ranks.Size(); !has[ranks[k]*len(formulas)+k]; {
			ranks[k] = (ranks[k] + 1) % a.Ranks.Size()
		}
	}
	return ranks, a.Ranks.Rank()
}

// shareScores completes scores, of which each rank has some, on all of them.
func (a *Formulas) shareScores(scores []model.BaselineScores, measures []int) {
	if a.Ranks == nil {
		return
	}
	for rank, text := range peers.Texts(a.Ranks, flat.Encode(&scores)) {
		var all []model.BaselineScores
		if err := flat.Decode(text, &all); err != nil {
			panic("evaluate: " + err.Error()) // all ranks run the same program
		}
		for k := range scores {
			if measures[k] == rank {
				scores[k] = all[k]
			}
		}
	}
}

// onScale returns targets on the modelling scale.
func (a *Formulas) onScale(threads int, o Rows) []float64 {
	scale := a.Scale
	out := make([]float64, len(o.Y))
	parallel.Ranges(threads, len(out), func(_, from, to int) {
		for i := from; i < to; i++ {
			out[i] = scale.OnScale(o.Target(i))
		}
	})
	return out
}

// center returns what the formulas subtract from the targets. It is 0 unless
// float32 is too coarse for the targets. The formulas then fit differences from the mean,
// and adjust by differences, because factors need the targets themselves; but factors of
// values that far from 0 are differences in all but name. Rates are never so far from 0.
func (a *Formulas) center() float64 {
	train := a.Parts[dataset.Train]
	if train.Low == nil || train.Exposure != nil || len(train.Y) == 0 {
		return 0
	}
	first, sum := train.Target(0), 0.0
	for i := range len(train.Y) {
		sum += train.Target(i) - first
	}
	return first + sum/float64(len(train.Y))
}

// formulaSums are what the measures of a formula need.
type formulaSums struct {
	point  metrics.PointSums
	binary metrics.BinarySums
}

func (s formulaSums) add(o formulaSums) formulaSums {
	s.point.Merge(&o.point)
	s.binary.Merge(&o.binary)
	return s
}

// measure measures a formula, which was fitted to differences from center, on the
// rows [from, to) of a part. Means are measured by R2 and RMSE, medians by MAE, as those of
// the model.
func (a *Formulas) measure(f *baseline.Formula, center float64, median func(float64) float64, part dataset.Part, onScale []float64, from, to int) (sums formulaSums) {
	scale := a.Scale
	o := a.Parts[part]
	a.eachPrediction(f, center, part, from, to, 1, func(i int, v float64) {
		if o.Censored != nil && o.Censored[i] > 0 {
			return // its error is not known
		}
		sums.point.Add(o.Target(i), o.weight(i), v, median(v), onScale[i], scale.OnScale(v))
		if scale.Transform == targetscale.Logit {
			sums.binary.Add(o.Target(i), o.weight(i), v)
		}
	})
	return sums
}

// eachPrediction calls add with the predictions of a formula for the rows [first, last) of
// a part, or for every so many rows.
func (a *Formulas) eachPrediction(f *baseline.Formula, center float64, part dataset.Part, first, last, every int, add func(i int, v float64)) {
	o := a.Parts[part]
	var space [1024]float64
	for from := first; from < last; from += len(space) {
		predicted := space[:min(len(space), last-from)]
		f.Predict(baseline.Part(part), from, predicted)
		for k, v := range predicted {
			i := from + k
			if i%every != 0 {
				continue
			}
			if o.Exposure != nil {
				v *= float64(o.Exposure[i])
			}
			add(i, v+center)
		}
	}
}

// medianRows is the number of rows from which the median of a formula is estimated.
// Later periods must have leastLater of them, because few tell the trend or the shock
// that they share from the skewness of the values.
// Of fewer than leastHeld validation rows a refit does not take the median: its error is larger than the difference between
// rows that a formula was fitted to and new ones.
const (
	medianRows = 50_000
	leastLater = 2_000
	leastHeld  = 200
)

// median returns the function from the mean of a formula to its median: the factor,
// or with negative values the shift, with the least absolute error on the validation set,
// or on the training set without one. Otherwise a model would beat the formula in MAE by
// predicting a median alone. After few rows of later periods the mean is the median.
// Errors on the rows that a formula was fitted to are none of new rows, so a refit takes the medians of the first training, unless these are of few rows. Formulas
// of the last values do not predict the periods before them, so after a split by time without a validation set the mean is the median.
func (a *Formulas) median(f *baseline.Formula, center float64) *model.Median {
	part := dataset.Valid
	if len(a.Parts[part].Y) == 0 {
		part = dataset.Train
	}
	o := a.Parts[part]
	switch few := a.Time != nil && len(o.Y) < leastLater; {
	case a.First != nil && (part == dataset.Train || few) && (a.Time != nil || a.First.Valid.N >= leastHeld):
		return a.First.MedianOf(f.Name)
	case a.Time != nil && part == dataset.Train || few:
		return nil
	}
	var shifts, factors []weighted
	positive := true
	a.eachPrediction(f, center, part, 0, len(o.Y), 1+len(o.Y)/medianRows, func(i int, v float64) {
		y, w := o.Target(i), o.weight(i)
		positive = positive && y >= 0 && v >= 0
		shifts = append(shifts, weighted{y - v, w})
		if v > 0 {
			factors = append(factors, weighted{y / v, w * v})
		}
	})
	if positive {
		return &model.Median{Factor: weightedMedian(factors, 1)}
	}
	return &model.Median{Factor: 1, Shift: weightedMedian(shifts, 0)}
}

// weighted is a value with its weight.
type weighted struct{ value, weight float64 }

// weightedMedian returns the smallest value up to which half of the weight lies, or the
// default without any weight. It sorts the values.
func weightedMedian(values []weighted, otherwise float64) float64 {
	slices.SortFunc(values, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	total, sum := 0.0, 0.0
	for _, v := range values {
		total += v.weight
	}
	for _, v := range values {
		if sum += v.weight; sum >= total/2 && total > 0 {
			return v.value
		}
	}
	return otherwise
}

// formulaRows returns the values and weights that the formulas are fitted to. With
// exposures these are rates, weighted by the exposure; the squared error of a row is
// that of its value, not of its rate. Weights are scaled to mean 1, so that their unit
// does not matter. The values are differences from center.
func formulaRows(o Rows, center float64) baseline.Rows {
	rows := baseline.Rows{Codes: o.Codes, Y: o.Y}
	if center != 0 {
		rows.Y = make([]float32, len(o.Y))
		for i := range rows.Y {
			rows.Y[i] = float32(o.Target(i) - center)
		}
	}
	if o.W == nil && o.Exposure == nil {
		return rows
	}
	rows.W = make([]float32, len(o.Y))
	if o.Exposure != nil {
		rows.Y, rows.Loss = make([]float32, len(o.Y)), make([]float32, len(o.Y))
	}
	total := 0.0
	for i := range o.Y {
		weight := o.weight(i)
		if o.Exposure != nil {
			exposure := float64(o.Exposure[i])
			rows.Y[i] = float32(float64(o.Y[i]) / exposure)
			rows.Loss[i] = float32(weight * exposure * exposure)
			weight *= exposure
		}
		rows.W[i] = float32(weight)
		total += weight
	}
	for i := range rows.W {
		rows.W[i] = float32(float64(rows.W[i]) * float64(len(o.Y)) / total)
	}
	return rows
}
