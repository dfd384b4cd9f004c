package solver

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/solver/moments"
	"github.com/kernel-fried-tensor/kft/tt"
)

// phase is the set of parameters that adam updates. As in the KFT paper, these are
// the means of a posterior in the first half of the epochs, with the variances at
// their start values, and the variances around the best means in the second half.
// Both phases follow the gradient of the exact evidence bound. After every epoch the
// noise and the prior variances take their closed forms (see learnNoiseAndPriors)
// and the kernels take their steps.
//
// The first phase uses the validation set, if there is one, for early stopping, and
// ends when the means no longer improve. The second phase always uses the evidence
// bound: the validation error of fixed means carries no information about the
// variances, and the bound cannot overfit.
//
// In the second phase variances are updated on the log scale. A covariance over a
// mode is B B' with B = diag(d) C and C unit lower triangular; log d and the
// entries of C are updated, so steps have no unit. Slices of outer cores keep
// independent weights, also in the entity-covariance family.
type phase int

const (
	pointEstimate phase = iota
	means
	variances
)

// validatePosterior rejects options that adam does not support.
func (o *Options) validatePosterior(d *data) error {
	switch {
	case o.Likelihood != nil || o.Noise != nil:
		return fielderr.Errorf("fit.solver", "solver: adam supports only Gaussian noise of one variance; set fit.solver to cavi for counts and for noise that weights the data")
	case d.hasPosterior() && o.Sweeps < 2:
		return fielderr.Errorf("fit.epochs", "solver: adam needs at least 2 epochs for a posterior, one for the means and one for the variances; increase fit.epochs")
	}
	return nil
}

// entityCovarianceWarning warns that adam ignores the entity-covariance family.
func entityCovarianceWarning(d *data) []string {
	for _, at := range blockIDs(d.field) {
		if _, b := d.posteriorBlock(at); b.Posterior.Cov != nil {
			return []string{"adam treats the weights of an entity as independent, as in mean-field; set fit.solver to cavi for entity-covariance"}
		}
	}
	return nil
}

// startPosterior allocates the gradients with respect to variances.
func (a *adam) startPosterior() {
	for _, cores := range a.grad {
		for p := range cores {
			cores[p].Var = make([]float32, cores[p].Len())
		}
	}
	a.d.expectedLoss = func() float64 {
		a.knownLoss = math.NaN()
		return a.loss()
	}
}

// beginPosterior determines the phase of the run. The block that switches to the
// second phase still belongs to the first.
func (a *adam) beginPosterior() {
	if a.d.noise[0] == 0 {
		a.d.startPosterior()
	}
	a.d.phase = a.phaseOf(a.run)
}

// phaseOf returns the phase that a run has reached.
func (a *adam) phaseOf(r *Run) phase {
	if r.Sweep > a.switchEpoch || r.Sweep == a.switchEpoch && r.Block > 0 {
		return variances
	}
	return means
}

// learnNoiseAndPriors sets the noise and the prior variances to their closed forms.
// It costs one pass over all cells, for the loss. While the variances have their
// start values, priors may only widen: a prior that follows the means without their
// variances would shrink them to zero.
func (a *adam) learnNoiseAndPriors() {
	a.d.learnNoise(a.loss())
	for _, at := range a.ids {
		_, b := a.d.posteriorBlock(at)
		before := b.Posterior.PriorVar[0]
		a.d.learnPrior(at)
		if a.d.phase == means {
			b.Posterior.PriorVar[0] = max(before, b.Posterior.PriorVar[0])
		}
	}
}

// endMeansPhaseEarly ends the first phase when it no longer improves.
func (a *adam) endMeansPhaseEarly() {
	run := a.run
	if a.d.phase == means && run.BestSweep >= 0 && run.Sweep+1-run.BestSweep > a.patience {
		run.Sweep, run.BestSweep = a.switchEpoch-1, a.switchEpoch-1
	}
}

// beginVariancesPhase starts the second phase from the best means.
func (a *adam) beginVariancesPhase() {
	run := a.run
	if len(run.Best) > 0 {
		a.err = a.d.restore(run.Best)
	}
	a.d.phase, a.knownLoss = variances, math.NaN()
	a.learnNoiseAndPriors()
	a.resetMoments()
	run.Rate, run.BestSweep = a.startRate, run.Sweep-1
	run.BestScore, run.Best = a.score(a.loss()), a.d.flatten(run.Best)
}

// addVariance completes the gradient g of the slices of a weighted regression.
// A slice is M x, with variance v (M^2 + s) + s x^2, where s is the variance of the
// multiplier M and x the mean of the block's own factor. The variance contributes
// 2 s x per unit of its gradient. The result already includes the factor M.
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

// updateVariances updates the variances of a block, given the gradient of
// -1/2 sum w E (y - f)^2 with respect to the slices. As for means, the objective is
// twice the noise s2 times the negative bound per observation: a variance s with
// prior variance tau contributes (s2/N) (s/tau - log s).
func (a *adam) updateVariances(c *tt.Core, b tt.Block, g backend.Slices, offset int, rate float64, batch int) {
	gradient, at := make([]float32, len(b.Value)), slices.Clone(g.Var)
	b.Adjoint(a.d.b, gradient, at, true)
	data, perLog, tau := -2/float64(batch), float64(a.d.noise[0])/float64(len(a.d.y)), float64(b.Posterior.PriorVar[0])
	size := c.Slices.Slice()
	if b.Posterior.Sigma != nil {
		// Adjoint left the gradient with respect to the variances of T in at.
		a.updateCovariances(b, at, offset, rate, data, float64(size)*perLog, tau)
		return
	}
	a.steps(offset, rate).LogVariances(b.Posterior.Var, func(i int, s float64) float64 {
		return s*(data*float64(gradient[i])+perLog/tau) - perLog
	})
	for i := range len(b.Posterior.Cov) / size {
		b.Posterior.Cov[i*size+i%size] = b.Posterior.Var[i]
	}
}

// steps returns the steps of the parameters whose moments begin at an offset.
func (a *adam) steps(offset int, rate float64) moments.Steps {
	return moments.Steps{Backend: a.d.b, Rate: rate, M: a.run.Memory[0][offset:], V: a.run.Memory[1][offset:]}
}

// updateCovariances updates covariances over modes, given the gradient g with
// respect to the variances of T. perLog is the cost of one unit of log variance.
func (a *adam) updateCovariances(b tt.Block, g []float32, offset int, rate, data, perLog, tau float64) {
	for q, sigma := range b.Posterior.Sigma {
		factor, diag := b.Map.SigmaGradient(a.d.b, b.Posterior.Sigma, q, g)
		trace, copies := perLog/tau, perLog // factors of this Sigma in the Kronecker product
		for p, other := range b.Posterior.Sigma {
			if p != q {
				trace *= other.Trace()
				copies *= float64(other.Columns())
			}
		}
		f := moments.Factor{Gradient: factor, Data: data, Trace: trace, Copies: copies}
		if a.product {
			a.steps(offset, rate).Product(sigma, f, a.run.Memory[2][offset:])
		} else {
			a.steps(offset, rate).Triangular(sigma, f)
		}
		offset += len(sigma.Factor)
		a.steps(offset, rate).LogVariances(sigma.Diag, func(i int, s float64) float64 {
			return s*(data*float64(diag[i])+trace) - copies
		})
		offset += len(sigma.Diag)
		if a.product {
			offset += sigma.Lead
		}
	}
}
