package solver

import (
	"math"
	"slices"

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

// smallCurves reports whether curves per id may vanish although the data supports them, because there are few observations.
func (dr *driver) smallCurves() bool {
	return dr.d.startWidth() > 0 && slices.ContainsFunc(dr.d.offered.terms, curvesPerID)
}

// temperedUntil returns the sweep from which a tempered run is compared with the first. Curves per id overfit longer than trains.
func (dr *driver) temperedUntil() int {
	if dr.smallCurves() {
		return 4 * temperSweeps
	}
	return 2*temperSweeps - 1
}

// collapsed reports whether a train of several cores or curves per id vanished.
func (dr *driver) collapsed() bool {
	a, ok := dr.method.(*cavi)
	d := dr.d
	if !ok || d.sites != nil || d.field.Group != nil {
		return false
	}
	curves := dr.smallCurves()
	for k, ranks := range d.shape() {
		if ranks == nil && (len(d.offered.terms[k].Cores) > 1 || curves && curvesPerID(d.offered.terms[k])) {
			return true // pruned
		}
	}
	for _, t := range a.terms {
		if len(t.train.Cores) == 1 && !(curves && curvesPerID(t.train)) {
			continue
		}
		sum := 0.0
		for _, v := range t.Mean {
			sum += float64(v) * float64(v)
		}
		if sum < vanished*float64(len(t.Mean)) {
			return true
		}
	}
	return false
}

// drawTempered keeps the first run, which ended for the given reason, and starts a
// tempered one.
func (dr *driver) drawTempered(stop Stop) error {
	run := dr.state.Run
	run.Stop, run.Weights, run.Memory = stop, dr.d.flatten(nil), nil
	dr.state.Leader = run
	if err := dr.drawStart(); err != nil {
		return err
	}
	dr.state.Run.Tempered = true
	return nil
}
