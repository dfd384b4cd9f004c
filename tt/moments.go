package tt

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// EvaluateMoments writes the mean and the variance of the field at any cells to
// dst. It plans the cells: for three cores it costs O(R^3) per distinct combination
// of all entities but one, and O(R^2) per cell. For few cells the cost does not
// depend on the size of the cores, but for the first cell with an entity without
// training data after Refresh.
func (f *Field) EvaluateMoments(b backend.Backend, dst Moments, codes [][]int32) {
	large := minSelectEntities
	if len(dst.Mean) > maxSelectCells {
		large = math.MaxInt
	}
	f.evaluateMoments(b, dst, codes, large)
}

// evaluateMoments is EvaluateMoments. Of cores with at least large entities, the
// backend only sees the slices that the cells use.
func (f *Field) evaluateMoments(b backend.Backend, dst Moments, codes [][]int32, large int) {
	n := len(dst.Mean)
	terms := make([]Moments, len(f.Terms))
	memory := make([]float32, 2*n*(len(terms)+1))
	next := func() []float32 {
		part := memory[:n:n]
		memory = memory[n:]
		return part
	}
	var shapes []backend.Shape
	job := &backend.Job{SecondMoments: true, Mean: next(), Var: next()}
	for k, t := range f.Terms {
		entities := t.LookupParallel(b.Threads(), codes)
		slices, index := t.localize(b, codes, entities)
		if len(slices) == 1 {
			terms[k] = Moments{Mean: next(), Var: next()}
			terms[k].gather(b, slices[0], index[0])
			continue
		}
		unseen := t.newUnseenCells(b, codes, entities, slices, index)
		shapes = shapes[:0] // the last plan is not needed any more
		for _, s := range slices {
			shapes = append(shapes, s.Shape)
		}
		plan := cheaper(b, shapes, index, (*backend.Plan).SecondMomentWork)
		selectSlices(plan, slices, large)
		b.Pass(plan, slices, job)
		terms[k] = Moments{Mean: next(), Var: next()}
		backend.Scatter(b, plan, terms[k].Mean, job.Mean)
		backend.Scatter(b, plan, terms[k].Var, job.Var)
		unseen.setVariance(b, terms[k].Var)
	}
	terms = append(terms, f.seriesMoments(b, codes)...)
	backend.ParallelFor(b, n, func(i int) {
		m, v := f.Combine(terms, i)
		dst.Mean[i], dst.Var[i] = float32(m), float32(v)
	})
}

// gather sets the moments of a train of one core, whose slices are single numbers.
func (m *Moments) gather(b backend.Backend, s backend.Slices, index []int32) {
	variance := s.Var
	if variance == nil {
		variance = s.Cov
	}
	backend.ParallelFor(b, len(index), func(i int) {
		e := index[i]
		m.Mean[i] = s.Mean[e]
		if variance != nil {
			m.Var[i] = variance[e]
		}
	})
}

// Combine returns the mean and the variance of the field at cell i, given those of
// its terms. The factors of a group multiply, with
//
//	Var(s r) = s^2 Vr + r^2 Vs + Vs Vr,
//
// and groups and the offset add.
func (f *Field) Combine(terms []Moments, i int) (mean, variance float64) {
	mean, variance = float64(f.Offset.Mean), float64(f.Offset.Var)
	for k := range terms {
		if !f.leads(k) {
			continue // counted with the first of its group
		}
		m, v := terms[k].at(i)
		for _, j := range f.Partners(k) {
			o, w := terms[j].at(i)
			m, v = m*o, m*m*w+o*o*v+v*w
		}
		mean += m
		variance += v
	}
	return mean, variance
}

func (m *Moments) at(i int) (mean, variance float64) {
	if m.Var == nil {
		return float64(m.Mean[i]), 0
	}
	return float64(m.Mean[i]), float64(m.Var[i])
}
