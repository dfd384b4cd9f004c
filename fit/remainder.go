package fit

import (
	"slices"
	"sync"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// remainder holds the values of all terms at the training observations, and
// what they leave to one of them. Solvers that visit one block at a time share
// it.
type remainder struct {
	d     *data
	terms []termAt

	rest   []float32 // what a term's factor should be, by observation
	weight []float32 // and with what weight; nil means 1
	y, w   []float32 // the same in plan order
}

// termAt is a term at the training observations.
type termAt struct {
	train       *tt.Train
	first, last *backend.Plan
	pass        *backend.Plan // the cheaper of the two
	mean        []float32     // by observation
	variance    []float32     // nil where the weights are known exactly
}

func newRemainder(d *data, train Observations) remainder {
	a := remainder{d: d}
	n := len(d.y)
	a.rest, a.y = make([]float32, n), make([]float32, n)
	if d.w != nil || d.field.Group != nil {
		a.weight, a.w = make([]float32, n), make([]float32, n)
	}
	for _, t := range d.field.Terms {
		index := t.Lookup(train.Codes)
		term := termAt{train: t, mean: make([]float32, n)}
		work := (*backend.Plan).Work
		if t.Varies() {
			term.variance = make([]float32, n)
			work = (*backend.Plan).SecondWork
		}
		var wait sync.WaitGroup
		wait.Go(func() { term.first = backend.NewPlan(t.Shapes(), index, backend.First) })
		if len(t.Cores) > 1 {
			term.last = backend.NewPlan(t.Shapes(), index, backend.Last)
		}
		wait.Wait()
		term.pass = term.first
		if term.last != nil && work(term.last) < work(term.first) {
			term.pass = term.last
		}
		a.terms = append(a.terms, term)
	}
	return a
}

func (a *remainder) evaluateAll() {
	for k := range a.terms {
		a.evaluate(k)
	}
}

// evaluate brings a term's values up to date.
func (a *remainder) evaluate(k int) {
	t := &a.terms[k]
	job := &backend.Job{Mean: a.y}
	if t.variance != nil {
		if a.w == nil {
			a.w = make([]float32, len(a.y))
		}
		job.Second, job.Var = true, a.w
	}
	a.d.pass(t.pass, t.train.Slices(), job)
	t.pass.Scatter(t.mean, a.y)
	if t.variance != nil {
		t.pass.Scatter(t.variance, a.w)
	}
}

// tinyFactor is the square of partners' values below which an observation does
// not count for a factor.
const tinyFactor = 1e-12

// noTerm leaves out no term.
const noTerm = -1

// leave fills rest and weight with what is left for a term: y minus the other
// groups, times E m / E m^2 for the term's partners m, with weight w E m^2.
func (a *remainder) leave(k int) {
	copy(a.rest, a.d.y)
	var partners []int
	if k != noTerm {
		partners = a.d.field.Partners(k)
	}
	for j := range a.terms {
		if j == k || slices.Contains(partners, j) {
			continue
		}
		others := a.d.field.Partners(j)
		if len(others) > 0 && others[0] < j {
			continue // counted with its group's first
		}
		for n, f := range a.terms[j].mean {
			for _, o := range others {
				f *= a.terms[o].mean[n]
			}
			a.rest[n] -= f
		}
	}
	if a.weight == nil {
		return
	}
	for n := range a.weight {
		w, m, square := float32(weightAt(a.d.w, n)), float32(1), float32(1)
		for _, j := range partners {
			f := a.terms[j].mean[n]
			m *= f
			square *= f*f + a.terms[j].varianceAt(n)
		}
		if square < tinyFactor {
			a.weight[n], a.rest[n] = 0, 0 // says nothing of this factor, and a quotient would overflow
			continue
		}
		a.weight[n] = w * square
		a.rest[n] *= m / square
	}
}

func (t *termAt) varianceAt(n int) float32 {
	if t.variance == nil {
		return 0
	}
	return t.variance[n]
}

// loss returns the summed loss of the training data, where the weights vary its
// expectation.
func (a *remainder) loss() float64 {
	a.leave(noTerm)
	moments := a.moments()
	sum := 0.0
	for n, r := range a.rest {
		_, v := a.d.field.Combine(moments, n)
		sum += weightAt(a.d.w, n) * (float64(r)*float64(r) + v)
	}
	return sum
}

// moments returns the terms' values at the observations.
func (a *remainder) moments() []tt.Moments {
	m := make([]tt.Moments, len(a.terms))
	for k := range m {
		m[k] = tt.Moments{Mean: a.terms[k].mean, Var: a.terms[k].variance}
	}
	return m
}
