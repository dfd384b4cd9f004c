package solver

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/relevance"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Structure can be offered and pruned: components of trains and whole terms that the
// evidence bound can do without are removed during a run of cavi. See package
// relevance.
const (
	// A component or term must raise the bound by leastGain, and by leastGainShare per
	// observation.
	leastGain      = 2.0
	leastGainShare = 1e-5
	// Components are measured at no more than measuredRows observations, evenly spaced.
	measuredRows = 1 << 16
	// Nothing is removed in the first sweeps, nor while the bound rises by more than
	// fastRise per observation: what is still small may grow.
	removeFrom = 5
	// After a try that the validation set refused, the next one waits for retryAfter sweeps.
	retryAfter = 4
)

// offered is the structure of the specification, from which runs start.
type offered struct {
	terms         []*tt.Train
	ranks         [][]int
	entityWeights [][][]float64
	valid         Observations
}

// shape returns the ranks of all offered terms, nil for removed ones.
func (d *data) shape() [][]int {
	shape := make([][]int, len(d.offered.terms))
	for k, t := range d.offered.terms {
		if slices.Contains(d.field.Terms, t) {
			shape[k] = t.Ranks()
		}
	}
	return shape
}

// termShapes describes the shape of the field for a report.
func (d *data) termShapes() []TermShape {
	var terms []TermShape
	for k, ranks := range d.shape() {
		terms = append(terms, TermShape{Name: d.offered.terms[k].Name(), Offered: d.offered.ranks[k], Ranks: ranks, Removed: ranks == nil})
	}
	return terms
}

func sameShape(a, b [][]int) bool {
	return slices.EqualFunc(a, b, func(x, y []int) bool { return (x == nil) == (y == nil) && slices.Equal(x, y) })
}

// setShape gives the field the terms and ranks of a run, nil for those offered. Trains
// that change have weights of zero. Removed terms get their ranks back only when they
// return.
func (d *data) setShape(shape [][]int) {
	if shape == nil {
		shape = d.offered.ranks
	}
	if sameShape(shape, d.shape()) {
		return
	}
	d.field.Terms, d.entityWeights = nil, nil
	for k, t := range d.offered.terms {
		if shape[k] == nil {
			continue
		}
		if !slices.Equal(shape[k], t.Ranks()) {
			t.Resize(shape[k])
		}
		d.field.Terms, d.entityWeights = append(d.field.Terms, t), append(d.entityWeights, d.offered.entityWeights[k])
	}
	d.shapeChanged()
}

// shapeChanged adapts the plans to the shape of the field, whose gradients may be much smaller.
func (d *data) shapeChanged() {
	d.freeScratch()
	if d.validChunk != nil {
		d.validChunk.Reshape(d.b, d.field)
	}
	d.reshape()
}

// restoreRun sets the field to weights of a run.
func (dr *driver) restoreRun(run *Run, weights []float32) error {
	dr.d.setShape(run.Shape)
	return dr.d.restore(weights)
}

// reshape selects values and plans of the terms of the field.
func (a *cavi) reshape() {
	var terms []termValues
	for _, t := range a.offered {
		if !slices.Contains(a.d.field.Terms, t.train) {
			continue
		}
		t.Reshape(t.train.Shapes())
		terms = append(terms, t)
	}
	a.setTerms(terms)
	a.setBlocks()
}

// prunes reports whether parts of the field may be removed in this run. The validation
// set must agree, so there must be one.
func (dr *driver) prunes() bool {
	d := dr.d
	return dr.opt.Prune && dr.opt.Solver == "cavi" && dr.validated() && d.field.Group == nil && len(d.kernels) == 0 && d.givenPrior == 0 && dr.comparable()
}

// settled reports whether the run has come so far that parts may be removed.
func (r *Run) settled() bool {
	n := len(r.Points)
	return n > removeFrom && r.Sweep >= r.PruneAt && r.Points[n-1].Bound-r.Points[n-2].Bound < fastRise
}

// pruneBest prunes the best weights of a run that stopped improving. It reports whether
// anything was removed; the run then continues, with less to overfit.
func (dr *driver) pruneBest() (removed bool, err error) {
	run := &dr.state.Run
	if !dr.prunes() || dr.d.sites != nil || len(run.Points) <= removeFrom {
		return false, nil
	}
	before := dr.d.shape()
	if err := dr.restoreRun(run, run.Best); err != nil {
		return false, err
	}
	dr.method.(*cavi).evaluateAll()
	if err := dr.prune(dr.d.validLoss()); err != nil || sameShape(before, dr.d.shape()) {
		return false, err
	}
	run.BestSweep = run.Sweep
	return true, nil
}

// prune removes terms and components that the bound can do without, after a sweep with
// the given score whose weights are the best so far.
func (dr *driver) prune(score float64) error {
	a, run := dr.method.(*cavi), &dr.state.Run
	best := run.BestScore == score
	dr.d.validLoss() // sets validMean
	for _, remove := range []func(){a.removeTerms, a.removeComponents} {
		before, weights, means := dr.d.shape(), dr.d.flatten(nil), slices.Clone(dr.d.validMean)
		remove()
		if sameShape(before, dr.d.shape()) {
			continue
		}
		dr.d.shapeChanged()
		a.evaluateAll()
		after := dr.d.validLoss()
		tolerated := leastImprovement * math.Abs(score)
		if dr.d.sites == nil { // the score is a squared error
			tolerated = max(tolerated, relevance.DifferenceError(dr.d.validY, dr.d.validW, means, dr.d.validMean))
		}
		if after > score+tolerated { // the bound is wrong
			dr.d.setShape(before)
			if err := dr.d.restore(weights); err != nil {
				return err
			}
			a.evaluateAll()
			dr.d.validLoss()
			run.PruneAt = run.Sweep + retryAfter
			continue
		}
		score, run.Shape, run.Best = after, dr.d.shape(), dr.d.flatten(run.Best)
	}
	if best {
		run.BestScore = score
	}
	return nil
}

// leastGain returns by how much a part must raise the bound.
func (d *data) leastGain() float64 { return max(leastGain, leastGainShare*float64(len(d.y))) }

// removeTerms removes terms that the bound can do without, one after the other. The
// last one stays.
func (a *cavi) removeTerms() {
	for k := 0; k < len(a.terms) && len(a.terms) > 1; k++ {
		if a.gain(k) < a.d.leastGain() {
			a.d.field.Terms, a.d.entityWeights = slices.Delete(slices.Clone(a.d.field.Terms), k, k+1), slices.Delete(slices.Clone(a.d.entityWeights), k, k+1)
			a.reshape()
			k--
		}
	}
}

// gain returns by how much term k raises the bound.
func (a *cavi) gain(k int) float64 {
	gain := a.obs.Gain(k, a.d.field.Offset.Mean) / (2 * float64(a.d.noise[0]))
	for _, c := range a.terms[k].train.Cores {
		for _, b := range c.Blocks() {
			gain -= c.Divergence(a.d.b, &b)
		}
	}
	return gain
}

// removeComponents removes components of trains that the bound can do without.
func (a *cavi) removeComponents() {
	rows := make([]int, min(len(a.d.y), measuredRows))
	for i := range rows {
		rows[i] = i * len(a.d.y) / len(rows)
	}
	share := float64(len(rows)) / float64(len(a.d.y))
	a.residualFor(noTerm)
	target := a.obs.TargetAt(rows)
	e := &relevance.Evidence{Residual: make([]float64, len(rows)), Precision: make([]float64, len(rows))}
	for i, n := range rows {
		e.Residual[i], e.Precision[i] = float64(target[i]), weightAt(a.d.w, n)/float64(a.d.noise[0])/share
	}
	codes := make([][]int32, len(a.codes))
	for m := range codes {
		if codes[m] = gather.Rows(a.codes[m], rows); a.d.divided {
			a.obs.ShareCodes(codes[m], rows)
		}
	}
	for _, t := range a.terms {
		if len(t.train.Cores) == 1 || !t.train.Resizable() {
			continue
		}
		entities := t.train.Lookup(codes)
		for bond := range t.train.Ranks() {
			if keep := relevance.Supported(a.d.b, t.train, bond, entities, e, a.d.leastGain()); len(keep) < t.train.Ranks()[bond] {
				t.train.KeepComponents(a.d.b, bond, keep)
			}
		}
	}
	a.reshape()
}
