package tt

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
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
	arrays := dst.Work.take(b.Threads(), 2*(len(terms)+1), n)
	next := func() []float32 {
		array := arrays[0]
		arrays = arrays[1:]
		return array
	}
	var shapes []backend.Shape
	job := &backend.Job{SecondMoments: true, Mean: next(), Var: next()}
	f.effectMoments(b, dst, terms, codes, next)
	for k, t := range f.Terms {
		if terms[k].Mean != nil {
			continue
		}
		entities := t.lookup(nil, b.Threads(), codes)
		for p, c := range t.Cores {
			dst.found.add(c.Index, entities[p])
		}
		slices, index := t.localize(b, codes, entities)
		if len(slices) == 1 {
			terms[k] = Moments{Mean: next(), Var: next()}
			parallel.Parts(b.Threads(), n, func(from, to int) { terms[k].gather(slices[0], index[0][from:to], from) })
			continue
		}
		unseen := t.newUnseenCells(b, codes, entities, slices, index)
		if len(slices) == 2 && slices[0].Cov == nil && slices[1].Cov == nil {
			terms[k] = Moments{Mean: next(), Var: next()}
			terms[k].pair(b, slices, index)
			unseen.setVariance(b, terms[k].Var)
			continue
		}
		shapes = shapes[:0] // the last plan is not needed any more
		for _, s := range slices {
			shapes = append(shapes, s.Shape)
		}
		plan := momentPlan(b.Threads(), shapes, index)
		selectSlices(plan, slices, large)
		b.Pass(plan, slices, job)
		terms[k] = Moments{Mean: next(), Var: next()}
		backend.Scatter(b, plan, terms[k].Mean, job.Mean)
		backend.Scatter(b, plan, terms[k].Var, job.Var)
		unseen.setVariance(b, terms[k].Var)
	}
	terms = append(terms, f.seriesMoments(b, codes, dst.found)...)
	parallel.Ranges(b.Threads(), n, func(_, from, to int) {
		for i := from; i < to; i++ {
			m, v := f.Combine(terms, i)
			dst.Mean[i], dst.Var[i] = float32(m), float32(v)
		}
	})
}

// momentPlan plans cells from the end of the train whose passes with second moments cost
// less.
func momentPlan(threads int, shapes []backend.Shape, index [][]int32) *backend.Plan {
	p := backend.NewPlanOn(nil, threads, shapes, index, backend.LeafFirst)
	other := func() *backend.Plan { return backend.NewPlanOn(nil, threads, shapes, index, backend.LeafLast) }
	if len(shapes) == 3 && p.Owner == 1 {
		if otherWork(threads, p) < p.SecondMomentWork() {
			return other()
		}
		return p
	}
	if q := other(); q.SecondMomentWork() < p.SecondMomentWork() {
		return q
	}
	return p
}

// otherWork returns the SecondMomentWork of the plan from the other end of a train of three
// cores, whose nodes are the combinations of a slice of the middle core, by which the
// cells of p are sorted, and one of its leaf core.
func otherWork(threads int, p *backend.Plan) float64 {
	middle := p.Entity[1]
	combinations := make([]int, max(threads, 1))
	parallel.Ranges(threads, p.Nodes(), func(t, from, to int) {
		next := func(j int) int { // the first node from j on with another middle entity than the one before
			for j > 0 && j < len(middle) && middle[j] == middle[j-1] {
				j++
			}
			return j
		}
		last := make([]int32, p.Shapes[p.Leaf].N) // by leaf entity: 1 + its last middle entity
		n := 0
		for j, end := next(from), next(to); j < end; j++ {
			for _, e := range p.LeafEntity[p.Start[j]:p.Start[j+1]] {
				if last[e] != middle[j]+1 {
					last[e] = middle[j] + 1
					n++
				}
			}
		}
		combinations[t] = n
	})
	total := 0
	for _, n := range combinations {
		total += n
	}
	s, r := p.Shapes[1], float64(p.Shapes[2-p.Leaf].Slice())
	return 3*float64(p.Cells())*r*r + 3*float64(total)*float64(s.Slice()*(s.Left+s.Right))
}

// pair sets the moments of a train of two cores without covariances: with m, s the mean
// and the variance of a slice of the first core and n, t those of the other,
//
//	E f = m.n,   Var f = m^2.t + s.(n^2 + t).
func (m *Moments) pair(b backend.Backend, cores []backend.Slices, index [][]int32) {
	r := cores[0].Slice()
	none := make([]float32, r)
	row := func(values []float32, e int32) []float32 {
		if values == nil {
			return none
		}
		return values[int(e)*r:][:r]
	}
	parallel.Ranges(b.Threads(), len(m.Mean), func(_, from, to int) {
		for i := from; i < to; i++ {
			d, e := index[0][i], index[1][i]
			left, right := row(cores[0].Mean, d), row(cores[1].Mean, e)
			leftVar, rightVar := row(cores[0].Var, d), row(cores[1].Var, e)
			var mean, variance float64
			for k, x := range left {
				x, y, t := float64(x), float64(right[k]), float64(rightVar[k])
				mean += x * y
				variance += x*x*t + float64(leftVar[k])*(y*y+t)
			}
			m.Mean[i], m.Var[i] = float32(mean), float32(variance)
		}
	})
}

// effectMoments sets the moments of the effects without side information, all in one loop: one of them takes
// hardly longer than it takes to start a loop.
func (f *Field) effectMoments(b backend.Backend, dst Moments, terms []Moments, codes [][]int32, next func() []float32) {
	var effects []int
	kept := make([][]int32, len(terms))
	for k, t := range f.Terms {
		if c := t.Cores[0]; len(t.Cores) == 1 && c.Map == nil {
			effects = append(effects, k)
			terms[k] = Moments{Mean: next(), Var: next()}
			if dst.found.keeps(c.Index) {
				kept[k] = make([]int32, len(dst.Mean))
				dst.found.add(c.Index, kept[k])
			}
		}
	}
	if len(effects) == 0 {
		return
	}
	parallel.Parts(b.Threads(), len(dst.Mean), func(from, to int) {
		var memory [1024]int32
		for ; from < to; from += len(memory) {
			for _, k := range effects {
				entities := memory[:min(to-from, len(memory))]
				if kept[k] != nil {
					entities = kept[k][from:][:len(entities)]
				}
				c := f.Terms[k].Cores[0]
				c.Index.LookupFrom(entities, codes, from)
				terms[k].gather(c.Slices, entities, from)
			}
		}
	})
}

// gather sets the moments of a train of one core, whose slices are single numbers, from the given cell on.
func (m *Moments) gather(s backend.Slices, index []int32, from int) {
	variance := s.Var
	if variance == nil {
		variance = s.Cov
	}
	mean, spread := m.Mean[from:], m.Var[from:]
	for i, e := range index {
		mean[i] = s.Mean[e]
		spread[i] = 0
		if variance != nil {
			spread[i] = variance[e]
		}
	}
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
		m, v := terms[k].at(i)
		if k >= len(f.Group) { // a group of its own
			mean += m
			variance += v
			continue
		}
		if !f.leads(k) {
			continue // counted with the first of its group
		}
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
