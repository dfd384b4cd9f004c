package solver

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// DivergedError reports that no finite weights were found.
type DivergedError struct {
	Solver string
	Block  string
	Sweep  int    // from 0
	Unit   string // unit of Sweep: "sweep" or "epoch"
	Cause  string
}

// ErrDiverged is the sentinel of [DivergedError].
var ErrDiverged = errors.New("training diverged")

// Unwrap returns ErrDiverged.
func (e *DivergedError) Unwrap() error { return ErrDiverged }

func (e *DivergedError) Error() string {
	return fmt.Sprintf("solver: diverged in %s %d at %s: %s", e.Unit, e.Sweep+1, e.Block, e.Cause)
}

// FieldPath returns the path of the specification field whose change is most
// likely to help.
func (e *DivergedError) FieldPath() string {
	switch e.Solver {
	case "adam":
		return "fit.learning-rate"
	case "cavi": // has no penalty; lower ranks help
		return "terms"
	}
	return "fit.lambda"
}

// maxRestarts is how often a diverging run returns to its best weights.
const maxRestarts = 4

// endFailedRun ends a run whose weights are not finite. It restores the best earlier
// weights, or returns an error if there are none.
func (dr *driver) endFailedRun(cause error) (Stop, error) {
	run := &dr.state.Run
	err := dr.divergedError(dr.blockName(run.Block), cause.Error())
	if len(run.Best) == 0 {
		return Diverged, err
	}
	dr.warnings = append(dr.warnings, err.Error()+"; the weights of the best earlier sweep were restored")
	return Diverged, dr.d.restore(run.Best)
}

// recoverFromDivergence returns to the best weights, or to a new and smaller start,
// with a smaller learning rate.
func (dr *driver) recoverFromDivergence(p Point) error {
	run := &dr.state.Run
	run.Restarts++
	if run.Restarts > maxRestarts && run.BestSweep < 0 {
		return dr.divergedError(dr.method.blockName(dr.method.blocks()-1), dr.divergenceCause(p))
	}
	run.Rate /= 4
	if run.BestSweep >= 0 {
		if err := dr.d.restore(run.Best); err != nil {
			return err
		}
	} else {
		dr.d.field.Initialize(dr.d.b, func(k int) *rand.Rand {
			return randstream.New(dr.opt.Seed, "restart", uint64(k), uint64(run.Restarts))
		}, math.Pow(0.1, float64(run.Restarts)))
	}
	dr.method.forget()
	dr.method.begin(run, dr.ridge())
	return nil
}

func (dr *driver) divergedError(block, cause string) *DivergedError {
	return &DivergedError{Solver: dr.opt.Solver, Block: block, Sweep: dr.state.Run.Sweep, Unit: dr.sweepWord(), Cause: cause}
}

// divergenceCause describes how a run diverged and what may help.
func (dr *driver) divergenceCause(p Point) string {
	text := "the error is not finite"
	if score := max(p.Score, p.Train); score < math.Inf(1) { // false for NaN
		text = fmt.Sprintf("the error grew to %.2g times the target's variance", score)
	}
	switch dr.opt.Solver {
	case "adam":
		return fmt.Sprintf("%s, even at a learning rate of %.2g; decrease fit.learning-rate, increase fit.lambda or use lower ranks in terms", text, dr.state.Run.Rate)
	case "cavi":
		return text + "; use lower ranks in terms"
	}
	return text + "; increase fit.lambda or use lower ranks in terms"
}
