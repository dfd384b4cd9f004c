package solver

import (
	"math"

	"github.com/kernel-fried-tensor/kft/tt"
)

// From a random start, a train of high rank can collapse although the data supports it:
// its first values explain little, the noise is therefore learned as large, and the
// priors shrink the train to zero. A second run then takes the noise as smaller in its
// first sweeps, by a factor that rises from temperFrom to 1. Weights follow the data
// before the priors judge them.
const (
	temperFrom   = 0.1
	temperSweeps = 5
)

// temper returns the factor of the noise in the current sweep, 0 if it is learned as it
// is.
func (r *Run) temper() float64 {
	if !r.Tempered || r.Sweep >= temperSweeps {
		return 0
	}
	return math.Pow(temperFrom, 1-float64(r.Sweep)/temperSweeps)
}

// vanished is the largest mean square of a train that collapsed, relative to the
// variance of the target.
const vanished = 1e-3

// curvesPerID reports whether a term is one curve per id of other modes, which starts small, see startPosterior.
func curvesPerID(t *tt.Train) bool {
	return len(t.Cores) == 1 && t.Cores[0].Map != nil && len(t.Cores[0].Modes) > 1
}

// temperedUntil returns the sweep from which a tempered run is compared with the first. Curves per id overfit longer than trains.
func (r *Run) temperedUntil() int {
	if r.WideCurves {
		return 4 * temperSweeps
	}
	return 2*temperSweeps - 1
}

// collapsed reports whether a train of several cores vanished, and whether curves per id did, which may do so although
// the data supports them if there are few observations.
func (dr *driver) collapsed() (trains, curves bool) {
	a, ok := dr.method.(*cavi)
	d := dr.d
	if !ok || d.sites != nil || d.field.Group != nil {
		return false, false
	}
	gone := func(t *tt.Train) {
		trains = trains || len(t.Cores) > 1
		curves = curves || curvesPerID(t) && d.startWidth() > 0
	}
	for k, ranks := range d.shape() {
		if ranks == nil {
			gone(d.offered.terms[k]) // pruned
		}
	}
	for k, t := range a.terms {
		if (len(t.train.Cores) > 1 || curvesPerID(t.train)) && a.obs.SquareOf(k) < vanished*float64(a.obs.Len()) {
			gone(t.train)
		}
	}
	return trains, curves
}

// drawTempered keeps the first run, which ended for the given reason, and starts a
// tempered one. Curves per id that vanished alone start wide; beside trains they come back with these, and overfit less.
func (dr *driver) drawTempered(stop Stop, wideCurves bool) error {
	run := dr.state.Run
	run.Stop, run.Weights, run.Memory = stop, dr.d.flatten(nil), nil
	dr.state.Leader = run
	if err := dr.drawStart(0); err != nil {
		return err
	}
	dr.state.Run.Tempered, dr.state.Run.WideCurves = true, wideCurves
	return nil
}
