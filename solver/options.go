package solver

import (
	"errors"
	"math"
	"time"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Options configure Solve.
type Options struct {
	Solver        string // "als" or "adam" for point estimates, "cavi" or "adam" for posteriors
	Ridge         *Ridge // the penalty; nil to search for one on the validation set
	PenaltySearch PenaltySearch
	Sweeps        int     // maximum number of sweeps; for adam, of epochs
	Patience      int     // sweeps without improvement before a run stops
	CGSteps       int     // als, cavi: conjugate gradient steps per block
	LearningRate  float64 // adam: the initial step size
	Batch         float64 // adam: share of the data per minibatch
	Schedule      Schedule
	Seed          uint64
	NoiseVariance float64 // of a posterior with Gaussian noise; 0 to learn it
	PriorVariance float64 // of a posterior, of the weights of every block; 0 to learn that of each
	// ProductCovariance makes adam use the paper's parametrisation of covariances over modes.
	ProductCovariance bool

	Likelihood *Likelihood // cavi: nil means Gaussian noise
	Prune      bool        // cavi: remove components and terms that the evidence bound can do without
	Start      Start       // cavi: how the first run begins, as in the report of another
	From       *tt.Field   // cavi: a field with the posterior of fewer of the observations, from which the first run starts; nil for none
	FromSweeps int         // cavi: maximum number of sweeps of a run that starts from such a field
	Noise      NoiseModel  // cavi: weights observations by their inverse noise variance; nil means equal noise
	Correlated bool        // errors of observations may be correlated, see NoiseModel

	TimeBudget time.Duration // 0 means no limit; the run stops before the next block

	Resume          *State          // a saved state to continue from
	Checkpointer    Checkpointer    // nil saves nothing
	CheckpointEvery time.Duration   // minimum time between two saves
	Agree           func(Stop) Stop // over several processes: the reason to stop that all follow; nil for one
	Progress        func(Event)     // called after each block and sweep; nil for no reports
	now             func() time.Time
}

func (o *Options) validate() error {
	sweeps := "fit.sweeps"
	if o.Solver == "adam" {
		sweeps = "fit.epochs"
	}
	switch {
	case o.Solver != "als" && o.Solver != "adam" && o.Solver != "cavi":
		return fielderr.Errorf("fit.solver", "solver: unknown solver %q; use als, adam or cavi", o.Solver)
	case o.Ridge == nil && o.Solver != "cavi" && len(o.PenaltySearch.Kinds) == 0:
		return errors.New("solver: no penalty and no kinds of penalty to search; set Ridge or PenaltySearch.Kinds")
	case !validVariance(o.NoiseVariance):
		return fielderr.Errorf("uncertainty.noise-variance", "solver: the noise variance %g is not finite and above 0; use such a number, or 0 to learn it", o.NoiseVariance)
	case !validVariance(o.PriorVariance):
		return fielderr.Errorf("uncertainty.prior-variance", "solver: the prior variance %g is not finite and above 0; use such a number, or 0 to learn it", o.PriorVariance)
	case o.NoiseVariance > 0 && (o.Likelihood != nil || o.Noise != nil):
		return fielderr.Errorf("uncertainty.noise-variance", "solver: a given noise variance requires Gaussian noise that is equal for all observations; use 0 to learn it")
	case o.Sweeps < 1:
		return fielderr.Errorf(sweeps, "solver: %s is %d; use 1 or more", sweeps, o.Sweeps)
	case o.Patience < 1:
		return fielderr.Errorf("fit.patience", "solver: fit.patience is %d; use 1 or more", o.Patience)
	case o.Solver != "adam" && o.CGSteps < 1:
		return fielderr.Errorf("fit.cg-steps", "solver: fit.cg-steps is %d; use 1 or more", o.CGSteps)
	case o.Solver == "adam" && !(o.LearningRate > 0):
		return fielderr.Errorf("fit.learning-rate", "solver: fit.learning-rate is %g; use a positive number", o.LearningRate)
	case o.Solver == "adam" && !(o.Batch > 0 && o.Batch <= 1):
		return fielderr.Errorf("fit.batch", "solver: fit.batch is %g; use a number above 0 and at most 1", o.Batch)
	case o.Solver == "adam" && o.Schedule != Blocks && o.Schedule != Joint:
		return fielderr.Errorf("fit.schedule", "solver: unknown schedule %q; use block or joint", o.Schedule)
	}
	if o.Ridge != nil {
		return o.Ridge.Validate()
	}
	return nil
}

// validVariance reports whether a variance is 0 (learned) or a positive float32.
func validVariance(v float64) bool {
	return v == 0 || float32(v) > 0 && !math.IsInf(float64(float32(v)), 0)
}
