package fit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/kernel-fried-tensor/kft/internal/stream"
)

// DivergedError says that no finite weights were found.
type DivergedError struct {
	Block string
	Sweep int
	Unit  string // what Sweep counts: sweep or epoch
	Cause string
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("fit: diverged in %s %d at %s: %s", e.Unit, e.Sweep+1, e.Block, e.Cause)
}

// maxRestarts is how often a diverging run goes back to its best weights.
const maxRestarts = 4

// failed ends a run whose weights are no longer finite, with the best of those
// before, or an error where there are none.
func (s *session) failed(cause error) (Stop, error) {
	run := &s.state.Run
	err := &DivergedError{Block: s.blockName(run.Block), Sweep: run.Sweep, Unit: s.unit(), Cause: cause.Error()}
	if len(run.Best) == 0 {
		return Diverged, err
	}
	s.warn = append(s.warn, err.Error()+"; the weights of the best sweep before are kept")
	return Diverged, s.d.restore(run.Best)
}

// mend returns to the best weights, or to a new and smaller start, with a
// smaller rate.
func (s *session) mend(p Point) error {
	run := &s.state.Run
	run.Restarts++
	if run.Restarts > maxRestarts && run.BestSweep < 0 {
		return &DivergedError{Block: s.s.blockName(s.s.blocks() - 1), Sweep: run.Sweep, Unit: s.unit(), Cause: s.cause(p)}
	}
	run.Rate /= 4
	if run.BestSweep >= 0 {
		if err := s.d.restore(run.Best); err != nil {
			return err
		}
	} else {
		s.d.field.Draw(s.d.b, func(k int) *rand.Rand {
			return stream.New(s.opt.Seed, "restart", uint64(k), uint64(run.Restarts))
		}, math.Pow(0.1, float64(run.Restarts)))
	}
	s.s.forget()
	s.s.begin(run, s.ridge())
	return nil
}

// cause says how a run diverged and what may help.
func (s *session) cause(p Point) string {
	text := "the error is no finite number"
	if score := max(p.Score, p.Train); score < math.Inf(1) { // false for NaN too
		text = fmt.Sprintf("the error grew to %.2g times the target's variance", score)
	}
	if s.opt.Solver != "adam" {
		if s.opt.Solver == "cavi" {
			return text + "; give lower ranks"
		}
		return text + "; give a larger --lambda, or lower ranks"
	}
	return fmt.Sprintf("%s, also at a rate of %.2g; give a smaller --rate, a larger --lambda, or lower ranks", text, s.state.Run.Rate)
}
