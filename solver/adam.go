package solver

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/solver/moments"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Schedule is the order in which adam visits the weights.
type Schedule string

const (
	Blocks Schedule = "block" // one epoch of minibatches per block, one block after another
	Joint  Schedule = "joint" // all blocks at every step
)

// adam takes first-order steps with running moments of the gradient. The
// minibatches are drawn once: each is a fixed random subset of the data with its
// own plan, so its cells share intermediate products. Every epoch visits the
// minibatches in a new order.
//
// An epoch costs one pass over all cells, two if the field has several terms, and
// one update of every weight per step.
//
// For posteriors it works in two phases; see phase.
type adam struct {
	d         *data
	ridge     Ridge
	schedule  Schedule
	seed      uint64
	run       *Run // holds the learning rate, the step count and the moments
	batches   []residuals
	grad      tt.Gradients
	ids       []blockID
	current   int // index of the block being updated
	scratch   []float32
	knownLoss float64 // summed loss; NaN if unknown

	// For posteriors.
	switchEpoch int     // the latest epoch at which the second phase begins
	patience    int     // epochs without improvement before it begins earlier
	startRate   float64 // the learning rate at the start of the second phase
	product     bool    // covariances have the paper's parametrisation; see moments.Steps.Product
	err         error
}

func newAdam(d *data, train Observations, opt Options) *adam {
	a := &adam{d: d, schedule: opt.Schedule, seed: opt.Seed, grad: d.field.NewGradients(),
		switchEpoch: (opt.Sweeps + 1) / 2, patience: opt.Patience, startRate: opt.LearningRate, product: opt.ProductCovariance}
	n := len(d.y)
	count := max(1, int(math.Round(1/opt.Batch)))
	count = min(count, n)
	order := randstream.New(opt.Seed, "batches").Perm(n)
	a.batches = make([]residuals, count)
	for b := range a.batches {
		a.batches[b] = newBatch(d, train, order[n*b/count:n*(b+1)/count])
	}
	a.ids, d.entities = blockIDs(d.field), nil
	if d.hasPosterior() {
		a.startPosterior()
	}
	return a
}

func (a *adam) blocks() int {
	if a.schedule == Joint {
		return 1
	}
	return len(a.ids)
}

func (a *adam) blockName(i int) string {
	name := "all cores"
	if a.schedule != Joint {
		name = blockLabel(a.d.field, a.ids[i])
	}
	if a.d.phase == variances {
		name = "variances of " + name
	}
	return name
}

// begin starts or continues a run. A run without moments gets zeros.
func (a *adam) begin(r *Run, ridge Ridge) {
	a.run, a.ridge, a.knownLoss = r, ridge, math.NaN()
	if a.d.hasPosterior() {
		a.beginPosterior()
	}
	if len(r.Memory) == 0 {
		a.resetMoments()
	}
}

// resetMoments sets the running moments to zero.
func (a *adam) resetMoments() {
	a.run.Memory = nil
	for _, n := range a.memorySizes() {
		a.run.Memory = append(a.run.Memory, make([]float32, n))
	}
	a.run.Step = 0
}

// memorySizes returns the sizes of the arrays of a run: the first and second moments and,
// for covariances in the paper's parametrisation, their factors B0.
func (a *adam) memorySizes() []int {
	n := a.momentCount()
	if a.product {
		return []int{n, n, n}
	}
	return []int{n, n}
}

// momentCount returns the number of parameters that the phase updates.
func (a *adam) momentCount() int {
	n := 0
	for _, at := range a.ids {
		b := a.d.field.Terms[at.term].Cores[at.core].Blocks()[at.block]
		n += a.parameters(&b)
	}
	return n
}

// parameters returns the number of parameters of a block that the phase updates.
func (a *adam) parameters(b *tt.Block) int {
	if a.d.phase != variances {
		return len(b.Value)
	}
	n := len(b.Posterior.Var)
	for _, sigma := range b.Posterior.Sigma {
		n += len(sigma.Factor) + len(sigma.Diag)
		if a.product {
			n += sigma.Lead
		}
	}
	return n
}

// score returns the penalized loss or the negative evidence bound, per observation.
func (a *adam) score(loss float64) float64 {
	if a.d.hasPosterior() {
		return -a.d.elbo(loss) / float64(len(a.d.y))
	}
	return a.d.penalizedLoss(a.ridge, loss)
}

// failure reports an error of an update. The end of the sweep checks the loss.
func (a *adam) failure() error { return a.err }

// forget clears the moments after a return to earlier weights.
func (a *adam) forget() {
	for _, m := range a.run.Memory {
		clear(m)
	}
	a.run.Step = 0
	if a.run.BestSweep < 0 {
		a.d.noise[0] = 0 // restart the posterior too
	}
	a.endMeansPhaseEarly()
}

// update runs one epoch over block i.
func (a *adam) update(i int) {
	if i == 0 && a.d.phase == means && a.run.Sweep == a.switchEpoch {
		a.beginVariancesPhase()
	}
	a.current, a.knownLoss = i, math.NaN()
	order := randstream.New(a.seed, "epoch", uint64(a.run.Sweep), uint64(i)).Perm(len(a.batches))
	grad := a.gradientsOf(i)
	for _, b := range order {
		a.step(&a.batches[b], grad)
	}
	if i+1 < a.blocks() {
		return
	}
	a.updateOffset()
	if a.d.hasPosterior() {
		a.learnNoiseAndPriors()
	}
}

// gradientsOf returns the gradients with respect to block i only.
func (a *adam) gradientsOf(i int) tt.Gradients {
	if a.schedule == Joint {
		return a.grad
	}
	g := make(tt.Gradients, len(a.grad))
	for k := range g {
		g[k] = make([]backend.Slices, len(a.grad[k]))
	}
	n := a.ids[i]
	g[n.term][n.core] = a.grad[n.term][n.core]
	return g
}

// step takes one step on one batch, whose loss estimates the loss of all data.
func (a *adam) step(b *residuals, grad tt.Gradients) {
	if len(b.terms) > 1 {
		a.evaluate(b)
	}
	for k := range b.terms {
		if !slices.ContainsFunc(grad[k], func(g backend.Slices) bool { return g.Mean != nil }) {
			continue
		}
		t := &b.terms[k]
		b.residualFor(k)
		job := &backend.Job{Adjoint: backend.Residual, SecondMoments: a.d.hasPosterior(), Grad: grad[k]}
		job.Target, job.Weight = b.obs.InPlanOrder(t.Cheapest)
		a.d.pass(t.Cheapest, t.train.Slices(), job)
	}
	a.run.Step++
	rate := a.run.Rate * math.Sqrt(1-math.Pow(moments.DecaySquare, float64(a.run.Step))) / (1 - math.Pow(moments.DecayMean, float64(a.run.Step)))
	offset := 0
	for k, t := range a.d.field.Terms {
		for p, c := range t.Cores {
			offset = a.updateCore(c, grad[k][p], a.d.entityWeights[k][p], blockID{k, p, 0}, offset, float32(rate), b.obs.Len())
		}
	}
}

// updateCore updates the active blocks of one core from the gradient with respect
// to its slices. It returns the offset of the next core's weights.
func (a *adam) updateCore(c *tt.Core, g backend.Slices, entityWeights []float64, id blockID, offset int, rate float32, batch int) int {
	touched := false
	for i, b := range c.Blocks() {
		id.block = i
		if g.Mean != nil && a.isActive(id) {
			if a.d.phase == variances {
				a.updateVariances(c, b, g, offset, float64(rate), batch)
			} else {
				a.updateWeights(c, b, a.gradient(b, g), entityWeights, offset, rate, batch)
			}
			touched = true
		}
		offset += a.parameters(&b)
	}
	if touched {
		c.Refresh(a.d.b, c.Map != nil)
	}
	return offset
}

// gradient returns the gradient with respect to a block, given the gradient with
// respect to the slices.
func (a *adam) gradient(b tt.Block, g backend.Slices) []float32 {
	if b.Map == nil && b.Multiplier == nil {
		return g.Mean
	}
	if cap(a.scratch) < len(b.Value) {
		a.scratch = make([]float32, len(b.Value))
	}
	gradient, at := a.scratch[:len(b.Value)], slices.Clone(g.Mean)
	if b.MultiplierVar != nil {
		a.addVariance(&b, g, at)
	}
	b.Adjoint(a.d.b, gradient, at, false)
	return gradient
}

func (a *adam) isActive(b blockID) bool { return a.schedule == Joint || a.ids[a.current] == b }

// updateWeights updates one block. The objective is per training observation:
// (1/batch) sum w (y-f)^2 + penalty/N.
func (a *adam) updateWeights(c *tt.Core, b tt.Block, gradient []float32, entityWeights []float64, offset int, rate float32, batch int) {
	size := c.Slices.Slice()
	rows := len(b.Value) / size
	if b.Map == nil {
		rows = c.Slices.N - 1
	}
	data, n := float32(-2/float64(batch)), float64(len(a.d.y))
	var p *blockPenalty
	if b.Posterior != nil {
		p, b.Norm = a.d.priorPenalty(&b), nil
	} else {
		p = a.ridge.Of(c, b, entityWeights)
	}
	normed := b.Value
	if b.Norm != nil {
		normed = make([]float32, len(b.Value))
		b.Norm(normed, b.Value)
	}
	backend.ParallelFor(a.d.b, rows, func(e int) {
		if b.Map == nil && b.Posterior == nil && entityWeights[e] == 0 {
			return
		}
		x, g := b.Value[e*size:][:size], gradient[e*size:][:size]
		m := a.run.Memory[0][offset+e*size:][:size]
		v := a.run.Memory[1][offset+e*size:][:size]
		row, along := float32(2*p.Row(e)/n), normed[e*size:][:size]
		for i := range x {
			lambda := row
			if p.Column != nil {
				lambda *= float32(p.Column[i])
			}
			d := data*g[i] + lambda*(along[i]-float32(p.Center(i)))
			x[i] -= rate * moments.Direction(&m[i], &v[i], d)
		}
	})
}

// endSweep halves the learning rate after an epoch without improvement.
func (a *adam) endSweep(improved bool) {
	if !improved {
		a.run.Rate /= 2
	}
	a.endMeansPhaseEarly()
}
