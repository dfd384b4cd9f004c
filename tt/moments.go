package tt

import "github.com/kernel-fried-tensor/kft/backend"

// EvaluateMoments writes the mean and the variance of the field at any cells to
// dst. It plans the cells: for three cores it costs O(R^3) per distinct combination
// of all entities but one, and O(R^2) per cell.
func (f *Field) EvaluateMoments(b backend.Backend, dst Moments, codes [][]int32) {
	n := len(dst.Mean)
	terms := make([]Moments, len(f.Terms))
	mean, variance := make([]float32, n), make([]float32, n)
	for k, t := range f.Terms {
		slices, index := t.localized(b, codes)
		shapes := make([]backend.Shape, len(slices))
		for p, s := range slices {
			shapes[p] = s.Shape
		}
		plan := cheaper(shapes, index, (*backend.Plan).SecondMomentWork)
		b.Pass(plan, slices, &backend.Job{SecondMoments: true, Mean: mean, Var: variance})
		terms[k] = Moments{Mean: make([]float32, n), Var: make([]float32, n)}
		plan.Scatter(terms[k].Mean, mean)
		plan.Scatter(terms[k].Var, variance)
	}
	backend.ParallelFor(b, n, func(i int) {
		m, v := f.Combine(terms, i)
		dst.Mean[i], dst.Var[i] = float32(m), float32(v)
	})
}

// Combine returns the mean and the variance of the field at cell i, given those of
// its terms. The factors of a group multiply, with
//
//	Var(s r) = s^2 Vr + r^2 Vs + Vs Vr,
//
// and groups add.
func (f *Field) Combine(terms []Moments, i int) (mean, variance float64) {
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
