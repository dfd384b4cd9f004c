package fit

import (
	"errors"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// phase is what adam moves, as in the paper: in the first half of the epochs the
// means of a posterior, its variances at their start; in the second half the
// variances about the best means. Both follow the gradient of the exact evidence
// bound. Noise and prior variances take their closed forms after every epoch of
// either, see learn, and kernels their steps.
//
// The first phase is judged as a point's run is: by validation data where there
// is some. It ends early where the means no longer improve. The second is judged
// by the evidence bound in any case: the error of means that stay as they are
// says nothing of variances, and the bound cannot be fitted too well.
//
// In the second phase variances move by their logarithms. A covariance over a
// mode is B B', B = diag(d) C with C unit lower triangular; it moves by log d and
// the entries of C, so that steps have no unit. Slices of outer cores keep
// independent weights, also in the family rows.
type phase int

const (
	points phase = iota
	means
	variances
)

// validatePosterior refuses what adam does not do.
func (o *Options) validatePosterior(d *data) error {
	switch {
	case o.Counts != nil || o.Noise != nil:
		return errors.New("fit: adam knows Gaussian noise of one variance; use cavi for counts and for noise that weighs the data")
	case d.varies() && o.Sweeps < 2:
		return errors.New("fit: adam needs 2 epochs or more for a posterior, for its means and its variances")
	}
	return nil
}

// rowsByAdam says what becomes of the family rows.
func rowsByAdam(d *data) []string {
	for _, at := range blockNames(d.field) {
		if _, b := d.varying(at); b.Spread.Cov != nil {
			return []string{"adam keeps the weights of an entity independent, as with mean-field; rows needs --solver cavi for their covariances"}
		}
	}
	return nil
}

// startPosterior makes room for the gradients by variances.
func (a *adam) startPosterior() {
	for _, cores := range a.grad {
		for p := range cores {
			cores[p].Var = make([]float32, cores[p].Len())
		}
	}
	a.d.expected = func() float64 {
		a.latest = math.NaN()
		return a.loss()
	}
}

// beginPosterior finds out the phase of the run. The block that turns to the
// second one is still of the first.
func (a *adam) beginPosterior() {
	if a.d.noise[0] == 0 {
		a.d.startPosterior()
	}
	a.d.phase = means
	if a.run.Sweep > a.half || a.run.Sweep == a.half && a.run.Block > 0 {
		a.d.phase = variances
	}
}

// learn gives noise and priors their closed forms. It costs a pass over all
// cells, which is that of the loss. As long as the variances are those of the
// start, priors only widen: a prior that follows means without their variances
// draws them to nothing.
func (a *adam) learn() {
	a.d.learnNoise(a.loss())
	for _, at := range a.names {
		_, b := a.d.varying(at)
		before := b.Spread.PriorVar[0]
		a.d.learnPrior(at)
		if a.d.phase == means {
			b.Spread.PriorVar[0] = max(before, b.Spread.PriorVar[0])
		}
	}
}

// hurry ends the first phase where it stopped improving.
func (a *adam) hurry() {
	run := a.run
	if a.d.phase == means && run.BestSweep >= 0 && run.Sweep+1-run.BestSweep > a.patience {
		run.Sweep, run.BestSweep = a.half-1, a.half-1
	}
}

// turn begins the second phase, from the best means.
func (a *adam) turn() {
	run := a.run
	if len(run.Best) > 0 {
		a.cause = a.d.restore(run.Best)
	}
	a.d.phase, a.latest = variances, math.NaN()
	a.learn()
	a.remember()
	run.Rate, run.BestSweep = a.rate, run.Sweep-1
	run.BestScore, run.Best = a.score(a.loss()), a.d.flatten(run.Best)
}

// addVariance adds to the gradient g of a weighted regression's slices, M times
// an own part of mean x, what their variance v (M^2 + s) + s x^2 has of x:
// 2 s x for every unit of variance, s the multiplier's variance. It takes the
// place of M.
func (a *adam) addVariance(b *tt.Block, g backend.Slices, at []float32) {
	own := b.Value
	if b.Map != nil {
		own = make([]float32, len(at))
		b.Map.Apply(a.d.b, own, b.Value, false)
	}
	for i, s := range b.MultiplierVar {
		at[i] = at[i]*b.Multiplier[i] + 2*g.Var[i]*s*own[i]
	}
	b.Multiplier = nil
}

// spread moves the variances of a block, given the gradient of
// -1/2 sum w E (y - f)^2 by the slices. The objective is, as for means, twice the
// noise times the negative bound an observation: a variance s with prior tau
// pays (s2/N) (s/tau - log s).
func (a *adam) spread(c *tt.Core, b tt.Block, g backend.Slices, offset int, rate float64, batch int) {
	gradient, at := make([]float32, len(b.Value)), slices.Clone(g.Var)
	b.Adjoint(a.d.b, gradient, at, true)
	data, pays, tau := -2/float64(batch), float64(a.d.noise[0])/float64(len(a.d.y)), float64(b.Spread.PriorVar[0])
	size := c.Slices.Slice()
	if b.Spread.Sigma != nil {
		// Adjoint left the gradient by the variances of T in the slices.
		a.spreadSigmas(b, at, offset, rate, data, float64(size)*pays, tau)
		return
	}
	a.scale(b.Spread.Var, offset, rate, func(i int, s float64) float64 {
		return s*(data*float64(gradient[i])+pays/tau) - pays
	})
	for i := range len(b.Spread.Cov) / size {
		b.Spread.Cov[i*size+i%size] = b.Spread.Var[i]
	}
}

// scale moves the logarithms of variances, given the derivative by that of the
// i-th where it is s.
func (a *adam) scale(values []float32, offset int, rate float64, derivative func(i int, s float64) float64) {
	m, v := a.run.Memory[0][offset:], a.run.Memory[1][offset:]
	backend.Each(a.d.b, len(values), func(i int) {
		s := float64(values[i])
		values[i] = float32(s * math.Exp(-rate*float64(direction(&m[i], &v[i], float32(derivative(i, s))))))
	})
}

// spreadSigmas moves covariances over modes, given the gradient by the variances
// of T and what a logarithm of a variance pays.
func (a *adam) spreadSigmas(b tt.Block, g []float32, offset int, rate, data, pays, tau float64) {
	for q, sigma := range b.Spread.Sigma {
		factor, diag := b.Map.PullSigma(a.d.b, b.Spread.Sigma, q, g)
		trace, copies := pays/tau, pays // of Sigma's place in the product
		for p, other := range b.Spread.Sigma {
			if p != q {
				trace *= other.Trace()
				copies *= float64(other.Columns())
			}
		}
		lead := sigma.Lead
		m, v := a.run.Memory[0][offset:], a.run.Memory[1][offset:]
		backend.Each(a.d.b, lead, func(i int) {
			row, from := sigma.Factor[i*lead:][:i+1], i*lead
			old, along := float64(row[i]), 0.0
			by := func(j int) float64 { return data*float64(factor[from+j]) + 2*trace*float64(row[j]) }
			for j, x := range row {
				along += by(j) * float64(x)
			}
			now := old * math.Exp(-rate*float64(direction(&m[from+i], &v[from+i], float32(along-2*copies))))
			for j := range i {
				c := float64(row[j])/old - rate*float64(direction(&m[from+j], &v[from+j], float32(by(j)*old)))
				row[j] = float32(now * c)
			}
			row[i] = float32(now)
		})
		offset += len(sigma.Factor)
		a.scale(sigma.Diag, offset, rate, func(i int, s float64) float64 {
			return s*(data*float64(diag[i])+trace) - copies
		})
		offset += len(sigma.Diag)
	}
}
