package fit

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/stream"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Schedule is the order in which adam visits the weights.
type Schedule string

const (
	Blocks Schedule = "block" // an epoch of minibatches for one core after another
	Joint  Schedule = "joint" // all cores at every step
)

// The method's usual constants.
const (
	decayMean   = 0.9
	decaySquare = 0.999
	tiny        = 1e-8
)

// adam takes first-order steps with running moments of the gradient, on
// minibatches drawn once: batch b is a fixed random part of the data with a
// plan of its own, so that its cells share what they can; each epoch takes the
// batches in a new order.
//
// An epoch costs a pass over all cells, two where the field has several terms,
// and an update of every weight a step.
//
// Where weights vary it moves posteriors, in two phases; see phase.
type adam struct {
	d        *data
	ridge    Ridge
	schedule Schedule
	seed     uint64
	run      *Run // rate, step count and moments live in the run's state
	batches  []remainder
	grad     tt.Gradients
	names    []blockName
	current  int // block in work
	scratch  []float32
	latest   float64 // the summed loss; NaN where it is not known

	half, patience int     // posteriors: the epoch at which the second phase begins at the latest
	rate           float64 // and the rate it begins with
	cause          error
}

func newAdam(d *data, train Observations, opt Options) *adam {
	a := &adam{d: d, schedule: opt.Schedule, seed: opt.Seed, grad: d.field.NewGradients(), half: (opt.Sweeps + 1) / 2, patience: opt.Patience, rate: opt.Rate}
	n := len(d.y)
	count := max(1, int(math.Round(1/opt.Batch)))
	count = min(count, n)
	order := stream.New(opt.Seed, "batches").Perm(n)
	a.batches = make([]remainder, count)
	for b := range a.batches {
		a.batches[b] = newBatch(d, train, order[n*b/count:n*(b+1)/count])
	}
	a.names = blockNames(d.field)
	if d.varies() {
		a.startPosterior()
	}
	return a
}

func (a *adam) blocks() int {
	if a.schedule == Joint {
		return 1
	}
	return len(a.names)
}

func (a *adam) blockName(i int) string {
	name := "all cores"
	if a.schedule != Joint {
		name = blockLabel(a.d.field, a.names[i])
	}
	if a.d.phase == variances {
		name = "variances of " + name
	}
	return name
}

// begin takes up a run, giving it moments where it has none.
func (a *adam) begin(r *Run, ridge Ridge) {
	a.run, a.ridge, a.latest = r, ridge, math.NaN()
	if a.d.varies() {
		a.beginPosterior()
	}
	if len(r.Memory) == 0 {
		a.remember()
	}
}

// remember gives the run moments, of zero.
func (a *adam) remember() {
	n := 0
	for _, at := range a.names {
		b := a.d.field.Terms[at.term].Cores[at.core].Blocks()[at.block]
		n += a.parameters(&b)
	}
	a.run.Memory = [][]float32{make([]float32, n), make([]float32, n)}
	a.run.Step = 0
}

// parameters returns how many numbers of a block are moved.
func (a *adam) parameters(b *tt.Block) int {
	if a.d.phase != variances {
		return len(b.Value)
	}
	n := len(b.Spread.Var)
	for _, sigma := range b.Spread.Sigma {
		n += len(sigma.Factor) + len(sigma.Diag)
	}
	return n
}

// score returns the penalised loss, or the negative bound an observation.
func (a *adam) score(loss float64) float64 {
	if a.d.varies() {
		return -a.d.elbo(loss) / float64(len(a.d.y))
	}
	return a.ridge.score(a.d, loss)
}

// failure leaves a loss that is not finite to the end of the sweep.
func (a *adam) failure() error { return a.cause }

// forget clears the moments, after a return to earlier weights.
func (a *adam) forget() {
	for _, m := range a.run.Memory {
		clear(m)
	}
	a.run.Step = 0
	if a.run.BestSweep < 0 {
		a.d.noise[0] = 0 // a posterior starts anew as well
	}
	a.hurry()
}

// update runs an epoch over block i.
func (a *adam) update(i int) {
	if i == 0 && a.d.phase == means && a.run.Sweep == a.half {
		a.turn()
	}
	a.current, a.latest = i, math.NaN()
	order := stream.New(a.seed, "epoch", uint64(a.run.Sweep), uint64(i)).Perm(len(a.batches))
	grad := a.wanted(i)
	for _, b := range order {
		a.step(&a.batches[b], grad)
	}
	if a.d.varies() && i+1 == a.blocks() {
		a.learn()
	}
}

// wanted returns the gradients of block i alone.
func (a *adam) wanted(i int) tt.Gradients {
	if a.schedule == Joint {
		return a.grad
	}
	g := make(tt.Gradients, len(a.grad))
	for k := range g {
		g[k] = make([]backend.Slices, len(a.grad[k]))
	}
	n := a.names[i]
	g[n.term][n.core] = a.grad[n.term][n.core]
	return g
}

// step descends on one batch: its data term stands for that of all data.
func (a *adam) step(b *remainder, grad tt.Gradients) {
	if len(b.terms) > 1 {
		a.evaluate(b)
	}
	for k := range b.terms {
		if !slices.ContainsFunc(grad[k], func(g backend.Slices) bool { return g.Mean != nil }) {
			continue
		}
		t := &b.terms[k]
		b.leave(k)
		t.pass.Gather(b.y, b.rest)
		job := &backend.Job{Adjoint: backend.Residual, Second: a.d.varies(), Target: b.y, Grad: grad[k]}
		if b.weight != nil {
			t.pass.Gather(b.w, b.weight)
			job.Weight = b.w
		}
		a.d.pass(t.pass, t.train.Slices(), job)
	}
	a.run.Step++
	rate := a.run.Rate * math.Sqrt(1-math.Pow(decaySquare, float64(a.run.Step))) / (1 - math.Pow(decayMean, float64(a.run.Step)))
	offset := 0
	for k, t := range a.d.field.Terms {
		for p, c := range t.Cores {
			offset = a.core(c, grad[k][p], a.d.counts[k][p], blockName{k, p, 0}, offset, float32(rate), len(b.y))
		}
	}
}

// core updates the blocks of one core that are in work, from the gradient by
// its slices, and returns the offset of the next core's weights.
func (a *adam) core(c *tt.Core, g backend.Slices, counts []float64, name blockName, offset int, rate float32, batch int) int {
	touched := false
	for i, b := range c.Blocks() {
		name.block = i
		if g.Mean != nil && a.inWork(name) {
			if a.d.phase == variances {
				a.spread(c, b, g, offset, float64(rate), batch)
			} else {
				a.descend(c, b, a.gradient(b, g), counts, offset, rate, batch)
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

// gradient returns the gradient by a block, given that by the slices.
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

func (a *adam) inWork(b blockName) bool { return a.schedule == Joint || a.names[a.current] == b }

// descend updates one block. The objective is taken a training observation:
// (1/batch) sum w (y-f)^2 + penalty/N.
func (a *adam) descend(c *tt.Core, b tt.Block, gradient []float32, counts []float64, offset int, rate float32, batch int) {
	size := c.Slices.Slice()
	rows := len(b.Value) / size
	if b.Map == nil {
		rows = c.Slices.N - 1
	}
	data, n := float32(-2/float64(batch)), float64(len(a.d.y))
	var p *penalty
	if b.Spread != nil {
		p, b.Norm = a.d.priorPenalty(&b), nil
	} else {
		p = a.ridge.of(c, b, counts)
	}
	normed := b.Value
	if b.Norm != nil {
		normed = make([]float32, len(b.Value))
		b.Norm(normed, b.Value)
	}
	backend.Each(a.d.b, rows, func(e int) {
		if b.Map == nil && b.Spread == nil && counts[e] == 0 {
			return
		}
		x, g := b.Value[e*size:][:size], gradient[e*size:][:size]
		m := a.run.Memory[0][offset+e*size:][:size]
		v := a.run.Memory[1][offset+e*size:][:size]
		row, along := float32(2*p.row(e)/n), normed[e*size:][:size]
		for i := range x {
			lambda := row
			if p.column != nil {
				lambda *= float32(p.column[i])
			}
			d := data*g[i] + lambda*(along[i]-float32(p.drawnTo(i)))
			x[i] -= rate * direction(&m[i], &v[i], d)
		}
	})
}

// direction takes a derivative into its running moments and returns where to
// go.
func direction(m, v *float32, d float32) float32 {
	*m += (1 - decayMean) * (d - *m)
	*v += (1 - decaySquare) * (d*d - *v)
	return *m / (float32(math.Sqrt(float64(*v))) + tiny)
}

// endSweep lowers the rate after an epoch that did not improve.
func (a *adam) endSweep(improved bool) {
	if !improved {
		a.run.Rate /= 2
	}
	a.hurry()
}
