package solver

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A Point records a run at the end of a sweep.
type Point struct {
	Sweep int     `json:"sweep"`
	Train float64 `json:"train"` // mean squared error on the training data
	Valid float64 `json:"valid"` // the same on the validation set; 0 without one
	Score float64 `json:"score"` // lower is better: Valid, or the penalized training error

	// Bound is the evidence lower bound per observation, for posteriors.
	Bound float64 `json:"bound,omitempty"`
}

// State is everything that a run needs to continue after any block with identical
// results, given the same problem and options.
type State struct {
	Trials []Trial // penalties tried so far
	Run    Run     // the current run: a trial, or the last run
	Leader Run     // the best trial so far
	Done   bool
	Stop   Stop // why the last run ended, if Done
}

// Run is one optimization from start values.
type Run struct {
	Sweep, Block int // the next ones
	Points       []Point
	BestSweep    int
	BestScore    float64
	Raised       int64       // singular systems solved with a raised diagonal
	Restarts     int         // returns to the best weights after divergence
	Rate         float64     // adam: current learning rate; cavi with counts: share of new sites
	Step         int64       // adam: steps taken
	Weights      []float32   // all cores in sequence; nil while the field has them
	Shape        [][]int     // cavi: ranks of the terms, nil for a removed one; nil as in the specification
	PruneAt      int         // cavi: the sweep from which parts may be removed again
	Best         []float32   // the same at BestSweep; empty before the first sweep ends
	BestMeans    []float32   // cavi: predictions of the validation set at BestScore, if it has few rows
	Memory       [][]float32 // adam: moments of the gradient; cavi: sites or noise weights

	// cavi: the attempt, from 0, its number of sweeps of als before the posterior, and
	// the next of them; the best validation score of these and of all such sweeps; why
	// the attempt ended.
	Attempt, StartSweeps, StartSweep int
	Tempered                         bool // the first sweeps take the noise as smaller than it is
	WideCurves                       bool // curves per id start with a wide prior
	StartScore, Reference            float64
	Stop                             Stop
}

// Checkpointer stores the state of a run. Save must be atomic.
type Checkpointer interface {
	Save(*State) error
}

// flatten copies all weights and their variances into one slice. It reuses dst.
func flatten(threads int, dst []float32, f *tt.Field) []float32 {
	arrays, n := f.Arrays(), 0
	for _, a := range arrays {
		n += len(a)
	}
	if cap(dst) < n {
		dst = paged.Make[float32](nil, n+n/64+64) // room for what follows the weights
	}
	dst = dst[:n]
	parallel.Copy(threads, cut(dst, arrays), arrays)
	return dst
}

// cut cuts pieces of the lengths of arrays off.
func cut(values []float32, arrays [][]float32) (pieces [][]float32) {
	for _, a := range arrays {
		pieces, values = append(pieces, values[:len(a)]), values[len(a):]
	}
	return pieces
}

// restore sets all weights from one slice and returns the rest of it.
func restore(be backend.Backend, f *tt.Field, src []float32) []float32 {
	arrays := f.Arrays()
	parallel.Copy(be.Threads(), arrays, cut(src, arrays))
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			c.Refresh(be, c.Map != nil)
		}
	}
	for _, a := range arrays {
		src = src[len(a):]
	}
	return src
}

// flatten copies everything a run learns into one slice: the weights, the offset, the
// noise, the parameters of the likelihood and the kernels' parameters.
func (d *data) flatten(dst []float32) []float32 {
	dst = append(d.flattenSeries(flatten(d.b.Threads(), dst, d.field)), d.field.Offset.Mean, d.field.Offset.Var, d.noise[0])
	dst = append(dst, d.parameters...)
	for _, k := range d.kernels {
		for _, v := range k.Operator.Theta() {
			dst = append(dst, float32(v))
		}
	}
	return dst
}

// restore sets everything a run learns from one slice.
func (d *data) restore(src []float32) error {
	rest := d.restoreSeries(restore(d.b, d.field, src))
	d.field.Offset = tt.Offset{Mean: rest[0], Var: rest[1]}
	rest = rest[2:]
	rest = rest[copy(d.noise[:], rest):]
	rest = rest[copy(d.parameters, rest):]
	for _, k := range d.kernels {
		theta := make([]float64, len(k.Operator.Theta()))
		for i := range theta {
			theta[i] = float64(rest[i])
		}
		rest = rest[len(theta):]
		if !slices.Equal(theta, k.Operator.Theta()) {
			if err := k.set(d.b, theta); err != nil {
				return err
			}
		}
	}
	return nil
}

// saveIfDue saves the state before a block if the last save is old enough.
func (dr *driver) saveIfDue() error {
	if dr.opt.Checkpointer == nil || dr.opt.now().Sub(dr.saved) < dr.opt.CheckpointEvery {
		return nil
	}
	return dr.save()
}

func (dr *driver) save() error {
	if dr.opt.Checkpointer == nil {
		return nil
	}
	dr.state.Run.Weights = dr.d.flatten(dr.state.Run.Weights)
	if err := dr.opt.Checkpointer.Save(dr.state); err != nil {
		return fmt.Errorf("solver: saving the checkpoint: %w", err)
	}
	dr.state.Run.Weights, dr.saved = nil, dr.opt.now()
	return nil
}
