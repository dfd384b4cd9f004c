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
// An epoch costs a mean and a pullback over all cells, and an update of every
// weight a step.
type adam struct {
	d        *data
	ridge    Ridge
	schedule Schedule
	seed     uint64
	run      *Run // rate, step count and moments live in the run's state
	batches  []batch
	grad     tt.Gradients
	names    []blockName
	current  int // block in work
	scratch  []float32
}

type batch struct {
	chunk *tt.Chunk
	y, w  []float32
	mean  []float32
	e     []float32
}

func newAdam(d *data, train Observations, opt Options) *adam {
	a := &adam{d: d, schedule: opt.Schedule, seed: opt.Seed, grad: d.field.NewGradients()}
	n := len(d.y)
	count := max(1, int(math.Round(1/opt.Batch)))
	count = min(count, n)
	order := stream.New(opt.Seed, "batches").Perm(n)
	a.batches = make([]batch, count)
	for b := range a.batches {
		a.batches[b] = newBatch(d, train, order[n*b/count:n*(b+1)/count])
	}
	a.names = blockNames(d.field)
	return a
}

func newBatch(d *data, train Observations, rows []int) batch {
	codes := make([][]int32, len(train.Codes))
	for m := range codes {
		codes[m] = make([]int32, len(rows))
		for i, row := range rows {
			codes[m][i] = train.Codes[m][row]
		}
	}
	b := batch{chunk: d.field.NewChunk(codes), y: make([]float32, len(rows)), mean: make([]float32, len(rows)), e: make([]float32, len(rows))}
	if d.w != nil {
		b.w = make([]float32, len(rows))
	}
	for i, row := range rows {
		b.y[i] = d.y[row]
		if d.w != nil {
			b.w[i] = d.w[row]
		}
	}
	return b
}

func (a *adam) blocks() int {
	if a.schedule == Joint {
		return 1
	}
	return len(a.names)
}

func (a *adam) blockName(i int) string {
	if a.schedule == Joint {
		return "all cores"
	}
	return blockLabel(a.d.field, a.names[i])
}

// begin takes up a run, giving it moments where it has none.
func (a *adam) begin(r *Run, ridge Ridge) {
	a.run, a.ridge = r, ridge
	if len(r.Memory) == 0 {
		for range 2 {
			r.Memory = append(r.Memory, make([]float32, a.d.field.Weights()))
		}
	}
}

// score returns the penalised loss.
func (a *adam) score(loss float64) float64 { return a.ridge.score(a.d, loss) }

// failure is none: a loss that is not finite is found at the end of the sweep.
func (a *adam) failure() error { return nil }

// forget clears the moments, after a return to earlier weights.
func (a *adam) forget() {
	for _, m := range a.run.Memory {
		clear(m)
	}
	a.run.Step = 0
}

// update runs an epoch over block i.
func (a *adam) update(i int) {
	a.current = i
	order := stream.New(a.seed, "epoch", uint64(a.run.Sweep), uint64(i)).Perm(len(a.batches))
	grad := a.wanted(i)
	for _, b := range order {
		a.step(&a.batches[b], grad)
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
func (a *adam) step(b *batch, grad tt.Gradients) {
	a.d.passes += 2 * len(a.d.field.Terms)
	pull := a.d.field.Eval(a.d.b, tt.Moments{Mean: b.mean}, b.chunk)
	for i, f := range b.mean {
		b.e[i] = (b.y[i] - f) * float32(weightAt(b.w, i))
	}
	pull(b.e, grad)
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
			a.descend(c, b, a.gradient(b, g), counts, offset, rate, batch)
			touched = true
		}
		offset += len(b.Value)
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
	gradient := a.scratch[:len(b.Value)]
	b.Adjoint(a.d.b, gradient, slices.Clone(g.Mean), false)
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
	p := a.ridge.of(c, b, counts)
	normed := b.Value
	if b.Norm != nil {
		normed = make([]float32, len(b.Value))
		b.Norm(normed, b.Value)
	}
	backend.Each(a.d.b, rows, func(e int) {
		if b.Map == nil && counts[e] == 0 {
			return
		}
		x, g := b.Value[e*size:][:size], gradient[e*size:][:size]
		m := a.run.Memory[0][offset+e*size:][:size]
		v := a.run.Memory[1][offset+e*size:][:size]
		row, mean, along := float32(2*p.row(e)/n), float32(p.mean), normed[e*size:][:size]
		for i := range x {
			lambda := row
			if p.column != nil {
				lambda *= float32(p.column[i])
			}
			d := data*g[i] + lambda*(along[i]-mean)
			m[i] += (1 - decayMean) * (d - m[i])
			v[i] += (1 - decaySquare) * (d*d - v[i])
			x[i] -= rate * m[i] / (float32(math.Sqrt(float64(v[i]))) + tiny)
		}
	})
}

// loss returns the summed loss of the training data.
func (a *adam) loss() float64 {
	sum := 0.0
	for i := range a.batches {
		b := &a.batches[i]
		a.d.passes += len(a.d.field.Terms)
		a.d.field.Eval(a.d.b, tt.Moments{Mean: b.mean}, b.chunk)
		for n, f := range b.mean {
			r := float64(b.y[n]) - float64(f)
			sum += weightAt(b.w, n) * r * r
		}
	}
	return sum
}

// endSweep lowers the rate after an epoch that did not improve.
func (a *adam) endSweep(improved bool) {
	if !improved {
		a.run.Rate /= 2
	}
}
