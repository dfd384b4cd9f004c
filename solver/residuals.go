package solver

import (
	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt"
)

// residuals holds the values of all terms at the training observations, and the
// target that the other terms leave for one of them. Arrays of the length of the data
// are in package observed.
type residuals struct {
	d      *data
	obs    *observed.Data
	terms  []termValues
	points bool // posteriors: variances are taken as zero

	knownLoss *float64 // nil if it has to be computed
}

// termValues holds the values of a term at the training observations.
type termValues struct {
	train *tt.Train
	*observed.Term
}

// newResiduals plans the observations. equations says that outer cores are solved by
// their normal equations.
func newResiduals(d *data, train Observations, equations bool) residuals {
	partners := d.field.Partners
	if d.field.Group == nil {
		partners = nil
	}
	a := residuals{d: d, obs: observed.New(d.b, d.y, d.w, partners)}
	keep := d.sites != nil || d.noiseWeights != nil || d.field.Group != nil
	terms := make([]termValues, len(d.field.Terms))
	shared := !keep && len(d.series) == 0 && a.obs.Divide()
	if d.divided && !shared {
		panic("solver: divided observations of a problem that needs them all")
	}
	// The loops of a plan use all threads. Two plans at a time, one of which works where the other has one thread.
	atOnce := min(d.b.Threads(), 2)
	if shared {
		atOnce = 1 // all ranks plan in the same order
	}
	parallel.For(atOnce, len(terms), func(k int) {
		t := d.field.Terms[k]
		opt := observed.Options{SecondMoments: t.Varies(), Variances: keep, Equations: equations}
		if shared {
			terms[k] = termValues{t, a.obs.ShareTerm(t.Slices(), t.LookupRows(train.Codes), opt)}
			return
		}
		index := d.entities[k]
		if index == nil {
			index = t.LookupOn(d.b, d.b.Threads(), train.Codes)
		}
		terms[k] = termValues{t, observed.NewTerm(d.b, t.Slices(), index, opt)}
		d.entities[k] = nil // plans take their place
	})
	for _, s := range d.series {
		a.obs.Added = append(a.obs.Added, s.values)
	}
	a.setTerms(terms)
	return a
}

// setTerms selects the terms of the field.
func (a *residuals) setTerms(terms []termValues) {
	a.terms, a.obs.Terms = terms, nil
	for _, t := range terms {
		a.obs.Terms = append(a.obs.Terms, t.Term)
	}
	a.changed()
}

// changed forgets what depends on the values of the terms and the offset.
func (a *residuals) changed() {
	a.obs.Changed()
	a.knownLoss = nil
}

func (a *residuals) evaluateAll() {
	for k := range a.terms {
		a.evaluate(k)
	}
	for _, s := range a.d.series {
		s.evaluate(a.d.b.Threads(), a.points)
	}
	a.changed()
}

// evaluate recomputes the values of term k.
func (a *residuals) evaluate(k int) {
	a.d.passes++
	a.knownLoss = nil
	t := a.terms[k].train
	a.obs.Refresh(k, t.Slices(), t.Varies() && !a.points)
}

// evaluateBalanced recomputes the values of terms whose weights may have been balanced: a
// run resumed at this point computes them from the balanced weights. The scale of a
// single core is not moved.
func (a *residuals) evaluateBalanced() {
	for k := range a.terms {
		if cores := a.terms[k].train.Cores; len(cores) > 1 || cores[0].Map != nil {
			a.evaluate(k)
		}
	}
	a.changed()
}

// noTerm makes residualFor subtract all terms.
const noTerm = observed.None

// residualFor sets target and weight for term k.
func (a *residuals) residualFor(k int) { a.obs.Target(k, a.d.field.Offset.Mean) }

// loss returns the summed training loss, for posteriors its expectation.
func (a *residuals) loss() float64 {
	if a.knownLoss == nil {
		loss := 0.0
		if a.d.field.Group == nil {
			loss = a.expectedLoss(a.obs.Residuals(a.d.field.Offset.Mean))
		} else {
			loss = a.productLoss()
		}
		a.knownLoss = &loss
	}
	return *a.knownLoss
}

// expectedLoss returns the loss of a field without products, given the sums of its
// residuals.
func (a *residuals) expectedLoss(s observed.Sums) float64 {
	return s.Square + float64(a.d.field.Offset.Var)*s.Weight + a.obs.Spreads()
}

// productLoss returns the loss of a field with products of terms.
func (a *residuals) productLoss() float64 {
	a.residualFor(noTerm)
	target, _ := a.obs.Values()
	moments := a.moments()
	return a.obs.Sum(func(n int) float64 {
		r := float64(target[n])
		_, v := a.d.field.Combine(moments, n)
		return weightAt(a.d.w, n) * (r*r + v)
	})
}

// moments returns the values of all terms.
func (a *residuals) moments() []tt.Moments {
	var m []tt.Moments
	for _, terms := range [][]*observed.Term{a.obs.Terms, a.obs.Added} {
		for _, t := range terms {
			m = append(m, tt.Moments{Mean: t.Mean, Var: t.Variance})
		}
	}
	return m
}
