package update

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Observed are the training rows of a fit: their codes, the weights that they had in the
// fit, of mean 1, nil for 1, and their values on the standardised scale.
type Observed struct {
	Codes  [][]int32
	Y      []float32
	Weight []float32

	Chunk *tt.Chunk // the rows, if they are planned already
}

// Statistics returns the ledger of a fitted model: for every outer core with slices of
// several independent weights the correlations of their precision matrices,
//
//	P = 1/tau + 1/s2 sum_n w_n (x x' + C).
//
// It costs one pass with second moments per core. Cores whose correlations would together
// take more room than all weights are left out, the largest first; an update leaves them
// as they are. noise is the variance of a row of weight 1, and weight the mean weight of
// the training rows.
func Statistics(b backend.Backend, m *model.Model, rows Observed, noise, weight float64) *ledger.Ledger {
	l := &ledger.Ledger{Noise: noise, Weight: weight}
	type place struct{ term, core, values int }
	var places []place
	room := 0
	for k, t := range m.Field().Terms {
		for p, c := range t.Cores {
			room += 2 * c.Slices.Len()
			r := c.Slices.Slice()
			if p != 0 && p != len(t.Cores)-1 || c.Free == nil || c.Slices.Var == nil || r == 1 || c.Along != nil {
				continue
			}
			places = append(places, place{k, p, c.TrainedEntities() * r * (r - 1) / 2})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return a.values - b.values })
	for _, at := range places {
		if room -= at.values; room < 0 {
			break
		}
		l.Relations = append(l.Relations, ledger.Relation{Term: at.term, Core: at.core, Values: relations(b, m.Field().Terms[at.term], at.term, at.core, rows, noise)})
	}
	l.Curves, l.PerID = curves(b, m, rows, noise)
	slices.SortFunc(l.Relations, func(a, b ledger.Relation) int {
		if a.Term != b.Term {
			return a.Term - b.Term
		}
		return a.Core - b.Core
	})
	return l
}

// relations returns the correlations of the precision matrices of a core.
func relations(b backend.Backend, t *tt.Train, term, core int, rows Observed, noise float64) []float32 {
	c := t.Cores[core]
	plan, gather, free := planned(b, t, term, core, rows)
	defer free()
	target := backend.Make[float32](b, len(rows.Y))
	gather(target, rows.Y)
	var weight []float32
	if rows.Weight != nil {
		weight = backend.Make[float32](b, len(rows.Y))
		gather(weight, rows.Weight)
	}
	r, shape := c.Slices.Slice(), c.Slices.Shape
	grad := make([]backend.Slices, len(t.Cores))
	grad[core] = backend.Slices{Shape: shape, Mean: make([]float32, shape.Len()), Cov: backend.Make[float32](b, shape.N*r*r)}
	defer backend.FreeAll(b, [][]float32{grad[core].Cov})
	b.Pass(plan, t.Slices(), &backend.Job{Adjoint: backend.Residual, SecondMoments: true, Target: target, Weight: weight, Grad: grad})
	backend.FreeAll(b, [][]float32{target, weight})
	n := c.TrainedEntities()
	half := r * (r - 1) / 2
	values := make([]float32, n*half)
	var side []float32
	if c.Variant == tt.WLR {
		side = make([]float32, shape.Len())
		c.Map.Apply(b, side, c.Weight, false)
	}
	backend.ParallelFor(b, n, func(e int) {
		own := values[e*half:][:half]
		variance, _ := moving(c, side, int32(e))
		at := 0
		for i := range r {
			for j := range i {
				h := -2 * float64(grad[core].Cov[(e*r+i)*r+j]) // the adjoint of the variance is -w/2
				v := h / noise * math.Sqrt(float64(variance[i])*float64(variance[j]))
				own[at] = float32(math.Max(-1, math.Min(1, v)))
				at++
			}
		}
	})
	return values
}

// planned returns a plan of rows with the covariances of a core, of which each rank of the backend
// has a part, the function that copies values to its order, and one that releases it.
func planned(b backend.Backend, t *tt.Train, term, core int, rows Observed) (plan *backend.Plan, gather func(dst, src []float32), free func()) {
	if rows.Chunk != nil {
		if plan := rows.Chunk.Plan(term); slices.Equal(plan.Shapes, t.Shapes()) && plan.HasCovariances(core, t.Slices()) {
			return plan, func(dst, src []float32) { rows.Chunk.Gather(b, term, dst, src) }, func() {}
		}
	}
	end := backend.LeafFirst
	if core != 0 {
		end = backend.LeafLast
	}
	if spread := observed.NewSpread(b, len(rows.Y)); spread != nil {
		plan := spread.Plan(t.Shapes(), t.LookupRows(rows.Codes), end)
		return plan, func(dst, src []float32) { spread.Gather(plan, dst, src) }, plan.Free
	}
	index := t.LookupOn(b, b.Threads(), rows.Codes)
	plan = backend.NewPlanOn(b, b.Threads(), t.Shapes(), index, end)
	backend.FreeAll(b, index)
	return plan, func(dst, src []float32) { backend.Gather(b, plan, dst, src) }, plan.Free
}

// HasPrecisions reports whether the precisions of rows are not the same for all rows of a weight.
func HasPrecisions(m *model.Model) bool {
	return lawOf(m, &ledger.Ledger{Noise: 1, Weight: 1}) != nil || m.Spec().Uncertainty.NoiseUse == "fit"
}

// Precisions returns the precisions of rows at the moments of the field, see [HasPrecisions]: those
// of the sites of a likelihood, or of a noise model that the fit used.
func Precisions(b backend.Backend, m *model.Model, rows ledger.Rows, z tt.Moments, weight float64) []float32 {
	s := &state{fitted: m, book: &ledger.Ledger{Noise: 1, Weight: weight}, rows: rows}
	s.law = lawOf(m, s.book)
	n := rows.Len()
	s.mean, s.variance = make([]float64, n), make([]float64, n)
	for i := range n {
		s.mean[i], s.variance[i] = float64(z.Mean[i]), float64(z.Var[i])
	}
	out := make([]float32, n)
	backend.ParallelFor(b, n, func(i int) {
		w := 0.0
		if s.law != nil {
			_, w = s.lawSite(int32(i), s.mean[i], s.variance[i], false)
		} else {
			w = s.ownWeight(int32(i))
		}
		out[i] = float32(w)
	})
	return out
}
