package solver

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt"
)

// residuals holds the values of all terms at the training observations, and the
// target that the other terms leave for one of them.
type residuals struct {
	d      *data
	terms  []termValues
	points bool // posteriors: variances are taken as zero

	target                 []float32 // the target of the current term, per observation
	weight                 []float32 // its weight; nil means 1
	planTarget, planWeight []float32 // target and weight in plan order
}

// termValues holds the values of a term at the training observations.
type termValues struct {
	train               *tt.Train
	firstPlan, lastPlan *backend.Plan
	cheapest            *backend.Plan // the cheaper of the two
	mean                []float32     // per observation
	variance            []float32     // nil for point estimates
}

func newResiduals(d *data, train Observations) residuals {
	a := residuals{d: d}
	n := len(d.y)
	a.target, a.planTarget = make([]float32, n), make([]float32, n)
	if d.w != nil || d.field.Group != nil {
		a.weight, a.planWeight = make([]float32, n), make([]float32, n)
	}
	for _, t := range d.field.Terms {
		index := t.Lookup(train.Codes)
		term := termValues{train: t, mean: make([]float32, n)}
		work := (*backend.Plan).Work
		if t.Varies() {
			term.variance = make([]float32, n)
			work = (*backend.Plan).SecondMomentWork
		}
		plans := []**backend.Plan{&term.firstPlan, &term.lastPlan}[:min(len(t.Cores), 2)]
		parallel.For(len(plans), len(plans), func(i int) {
			*plans[i] = backend.NewPlan(t.Shapes(), index, [...]backend.LeafEnd{backend.LeafFirst, backend.LeafLast}[i])
		})
		term.cheapest = term.firstPlan
		if term.lastPlan != nil && work(term.lastPlan) < work(term.firstPlan) {
			term.cheapest = term.lastPlan
		}
		a.terms = append(a.terms, term)
	}
	return a
}

func (a *residuals) evaluateAll() {
	for k := range a.terms {
		a.evaluate(k)
	}
	for _, s := range a.d.series {
		s.evaluate(a.d.b.Threads(), a.points)
	}
}

// evaluate recomputes the values of term k, with planTarget and planWeight as
// scratch memory.
func (a *residuals) evaluate(k int) {
	t := &a.terms[k]
	job := &backend.Job{Mean: a.planTarget}
	varies := t.variance != nil && !a.points
	if varies {
		if a.planWeight == nil {
			a.planWeight = make([]float32, len(a.planTarget))
		}
		job.SecondMoments, job.Var = true, a.planWeight
	}
	a.d.pass(t.cheapest, t.train.Slices(), job)
	t.cheapest.Scatter(t.mean, a.planTarget)
	if varies {
		t.cheapest.Scatter(t.variance, a.planWeight)
	} else {
		clear(t.variance)
	}
}

// tinyFactor is the smallest mean square of the partners' product for which an
// observation contributes to a factor.
const tinyFactor = 1e-12

// noTerm makes residualFor subtract all terms.
const noTerm = -1

// residualFor sets target and weight for term k. The target is y minus the offset and
// the other groups, times E m / E m^2, where m is the product of the term's partners; the
// weight is w E m^2.
func (a *residuals) residualFor(k int) {
	var partners []int
	if k != noTerm {
		partners = a.d.field.Partners(k)
	}
	type product struct {
		lead    []float32
		factors [][]float32
	}
	var products []product // of the other groups
	for j := range a.terms {
		others := a.d.field.Partners(j)
		if j == k || slices.Contains(partners, j) || len(others) > 0 && others[0] < j {
			continue // its own group, or counted with the first term of its group
		}
		p := product{lead: a.terms[j].mean}
		for _, o := range others {
			p.factors = append(p.factors, a.terms[o].mean)
		}
		products = append(products, p)
	}
	for _, s := range a.d.series {
		products = append(products, product{lead: s.mean})
	}
	offset := a.d.field.Offset.Mean
	parallel.Ranges(a.d.b.Threads(), len(a.d.y), func(_, from, to int) {
		target := a.target[from:to]
		for n, y := range a.d.y[from:to] {
			target[n] = y - offset
		}
		for _, p := range products {
			if len(p.factors) == 0 {
				for n, f := range p.lead[from:to] {
					target[n] -= f
				}
				continue
			}
			for n := from; n < to; n++ {
				f := p.lead[n]
				for _, o := range p.factors {
					f *= o[n]
				}
				a.target[n] -= f
			}
		}
		if a.weight != nil {
			a.weighFor(partners, from, to)
		}
	})
}

// weighFor sets the weights of some observations for a term with the given partners, and
// divides their targets by the partners.
func (a *residuals) weighFor(partners []int, from, to int) {
	for n := from; n < to; n++ {
		w, m, square := float32(weightAt(a.d.w, n)), float32(1), float32(1)
		for _, j := range partners {
			f := a.terms[j].mean[n]
			m *= f
			square *= f*f + a.terms[j].varianceAt(n)
		}
		if square < tinyFactor {
			a.weight[n], a.target[n] = 0, 0 // no information about this factor, and the quotient would overflow
			continue
		}
		a.weight[n] = w * square
		a.target[n] *= m / square
	}
}

func (t *termValues) varianceAt(n int) float32 {
	if t.variance == nil {
		return 0
	}
	return t.variance[n]
}

// loss returns the summed training loss, for posteriors its expectation.
func (a *residuals) loss() float64 {
	a.residualFor(noTerm)
	moments := a.moments()
	return a.sum(func(n int) float64 {
		r := float64(a.target[n])
		v := 0.0
		if a.d.field.Group == nil {
			v = float64(a.d.field.Offset.Var)
			for k := range moments {
				if moments[k].Var != nil {
					v += float64(moments[k].Var[n])
				}
			}
		} else {
			_, v = a.d.field.Combine(moments, n)
		}
		return weightAt(a.d.w, n) * (r*r + v)
	})
}

// sumBlock is the number of observations of one partial sum.
const sumBlock = 1 << 15

// sum adds a value of every observation. Partial sums depend on the number of
// observations only, so the result is the same for any number of threads.
func (a *residuals) sum(value func(n int) float64) float64 {
	n := len(a.d.y)
	parts := make([]float64, (n+sumBlock-1)/sumBlock)
	parallel.For(a.d.b.Threads(), len(parts), func(p int) {
		s := 0.0
		for i := p * sumBlock; i < min(n, (p+1)*sumBlock); i++ {
			s += value(i)
		}
		parts[p] = s
	})
	total := 0.0
	for _, s := range parts {
		total += s
	}
	return total
}

// moments returns the values of all terms.
func (a *residuals) moments() []tt.Moments {
	m := make([]tt.Moments, 0, len(a.terms)+len(a.d.series))
	for k := range a.terms {
		m = append(m, tt.Moments{Mean: a.terms[k].mean, Var: a.terms[k].variance})
	}
	for _, s := range a.d.series {
		m = append(m, tt.Moments{Mean: s.mean, Var: s.variance})
	}
	return m
}
