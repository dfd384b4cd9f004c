package solver

import "math"

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

// collapsed reports whether a train of several cores vanished.
func (dr *driver) collapsed() bool {
	a, ok := dr.method.(*cavi)
	d := dr.d
	if !ok || d.sites != nil || d.field.Group != nil {
		return false
	}
	for k, ranks := range d.shape() {
		if ranks == nil && len(d.offered.terms[k].Cores) > 1 {
			return true // pruned
		}
	}
	for _, t := range a.terms {
		if len(t.train.Cores) == 1 {
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
