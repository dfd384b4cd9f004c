package fit

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A Point is the state of a run at the end of a sweep.
type Point struct {
	Sweep int     `json:"sweep"`
	Train float64 `json:"train"` // mean square error on training data
	Valid float64 `json:"valid"` // the same on validation data; 0 without any
	Score float64 `json:"score"` // what is to be lowest: Valid, or the penalised training error

	// Bound is the evidence lower bound an observation, of posteriors.
	Bound float64 `json:"bound,omitempty"`
}

// A Trial is the result of a short run with one penalty.
type Trial struct {
	Ridge Ridge   `json:"ridge"`
	Score float64 `json:"score"`
}

// State is all that a run needs to go on after any block as if nothing had
// happened. Together with the problem and the options it determines the rest
// of the run.
type State struct {
	Trials []Trial // penalties tried so far
	Run    Run     // the run in work: a trial, or the last
	Leader Run     // the best trial so far
	Done   bool
	Stop   Stop // why the last run ended, once Done
}

// Run is one descent from start values.
type Run struct {
	Sweep, Block int // the next to do
	Points       []Point
	BestSweep    int
	BestScore    float64
	Raised       int64 // singular equations mended
	Restarts     int   // returns to the best weights after divergence
	Rate         float64
	Step         int64
	Weights      []float32 // all cores, end to end
	Best         []float32 // the same at BestSweep; empty before the first sweep ends
	Memory       [][]float32
}

// Keeper stores the state of a run. Save must be atomic.
type Keeper interface {
	Save(*State) error
}

// flatten copies all weights, means and spreads, into one slice, which is reused where possible.
func flatten(dst []float32, f *tt.Field) []float32 {
	dst = dst[:0]
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			for _, b := range c.Blocks() {
				dst = append(dst, b.Value...)
				for _, spread := range b.Spread.Arrays() {
					dst = append(dst, spread...)
				}
			}
		}
	}
	return dst
}

// restore sets all weights from one slice and returns what is left of it.
func restore(be backend.Backend, f *tt.Field, src []float32) []float32 {
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			for _, b := range c.Blocks() {
				for _, dst := range append([][]float32{b.Value}, b.Spread.Arrays()...) {
					src = src[copy(dst, src):]
				}
			}
			c.Refresh(be, c.Map != nil)
		}
	}
	return src
}

// flatten copies all that a run learns into one slice: the weights, the noise and
// the kernels' parameters.
func (d *data) flatten(dst []float32) []float32 {
	dst = append(flatten(dst, d.field), d.noise[0], d.size[0])
	for _, k := range d.kernels {
		for _, v := range k.Operator.Theta() {
			dst = append(dst, float32(v))
		}
	}
	return dst
}

// restore sets all that a run learns from one slice.
func (d *data) restore(src []float32) error {
	rest := restore(d.b, d.field, src)
	rest = rest[copy(d.noise[:], rest):]
	rest = rest[copy(d.size[:], rest):]
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

// blockNames lists the blocks of a field in the order in which they are visited:
// that of the terms, but for anchored ones, which come after the next term.
// They begin as 1 and scale what that one has learned.
func blockNames(f *tt.Field) []blockName {
	order := make([]int, len(f.Terms))
	for k := range order {
		order[k] = k
	}
	for k := range len(order) - 1 {
		if f.Terms[k].Anchored() {
			order[k], order[k+1] = order[k+1], order[k]
		}
	}
	var names []blockName
	for _, k := range order {
		for p, c := range f.Terms[k].Cores {
			for b := range c.Blocks() {
				names = append(names, blockName{k, p, b})
			}
		}
	}
	return names
}

// blockLabel names a block for people: "weight/store of store,item,time".
func blockLabel(f *tt.Field, b blockName) string {
	t := f.Terms[b.term]
	name := t.Cores[b.core].Blocks()[b.block].Name
	if len(f.Terms) > 1 {
		name += " of " + t.Name()
	}
	return name
}
