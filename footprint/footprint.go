// Package footprint estimates the memory that a fit takes beside its table and its field:
// plans, values of the terms and copies of the weights while it is trained, and moments
// of the rows while it is evaluated.
package footprint

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A Fit says what the memory of a fit depends on.
type Fit struct {
	Field              *tt.Field
	Train, Valid, Held int  // numbers of rows
	Threads            int  // of the engine
	Weighted           bool // observations have weights, given or learned
	Variances          bool // the variances of single observations are needed
	Point              bool // als or adam: weights without posteriors
}

const word = 4 // bytes of a float32 or an int32

// Training returns the bytes of the arrays that a solver keeps.
func (f Fit) Training() int64 {
	inPages, inMemory := f.training()
	return int64(inPages) + int64(inMemory)
}

// Rows returns the bytes of those arrays that may be kept in pages: with one entry per row or
// node of a plan, and sums of shards.
func (f Fit) Rows() int64 {
	inPages, _ := f.training()
	return int64(inPages)
}

// Gradients returns the bytes of the gradient and the covariances of an outer core, at most. All threads write to them, so
// they are no pages: see [paged.Keep].
func (f Fit) Gradients() int64 {
	words := 0.0
	for _, t := range f.Field.Terms {
		for _, p := range []int{0, len(t.Cores) - 1} {
			words = max(words, gradientWords(t, p))
		}
	}
	return int64(word * words)
}

// gradientWords returns the words of the arrays of one core that a step of a solver takes.
func gradientWords(t *tt.Train, core int) float64 {
	s := t.Cores[core].Slices
	if core == 0 || core == len(t.Cores)-1 {
		return float64(s.Len()) * (1 + float64(s.Slice())) // gradient and covariances
	}
	return float64(s.Len()) * 7 // conjugate gradients
}

// training returns the bytes of arrays that may be kept in pages and of all others.
func (f Fit) training() (inPages, inMemory float64) {
	rows := 3.0 // y on the modelling scale, the target, and the target in plan order
	if f.Weighted {
		rows += 3
	} else if !f.Point {
		rows++ // scratch memory for variances
	}
	if observed.Exact(len(f.Field.Terms)+len(f.Field.Series), f.Field.Group != nil) {
		rows += 2
	}
	valid := 3.0 // y, the mean, and a buffer
	nodes, scratch, shards, learned := 0.0, 0.0, 0.0, 0.0
	for _, t := range f.Field.Terms {
		cores := t.Slices()
		rows++ // the mean
		if f.Variances {
			rows++
		}
		plans := 1.0
		switch {
		case len(cores) == 1:
		case len(cores) == 3 && !f.Point && cores[0].Cov == nil && cores[2].Cov == nil && cores[1].Len() >= max(cores[0].Len(), cores[2].Len()):
			rows += 3 // cells by leaf entity, and their weights
		default:
			plans = 2
			rows += 4
		}
		rows += 2 * plans
		valid += 2
		nodes += plans * nodeWords(cores, f.Train)
		nodes += nodeWords(cores, f.Valid)
		if !f.Point && isPair(t) {
			shards = max(shards, pairWords(cores, f.Train))
		} else {
			shards = max(shards, shardWords(cores, f.Train, !f.Point))
		}
		for p, c := range t.Cores {
			scratch = max(scratch, gradientWords(t, p))
			for _, b := range c.Blocks() {
				learned += float64(len(b.Value))
				for _, a := range b.Posterior.Arrays() {
					learned += float64(len(a))
				}
			}
		}
	}
	for range f.Field.Series {
		rows += 3 // site, mean and variance
		valid += 2
	}
	const copies = 3 // of the best sweep of this run, and of the last and the best sweep of the best run
	inPages, inMemory = shards, scratch+copies*learned+float64(f.Threads)*workerWords
	if ofRows := rows*float64(f.Train) + valid*float64(f.Valid) + nodes; word*f.Train >= paged.Smallest {
		inPages += ofRows
	} else {
		inMemory += ofRows
	}
	return word * inPages, word * inMemory
}

// shardWords returns the words of the gradients that the shards of a plan sum, with their
// variances if they are asked for.
func shardWords(cores []backend.Slices, cells int, variances bool) float64 {
	if len(cores) == 1 {
		return 0
	}
	private, owner, leaf := 0, 0, leafOf(cores)
	var shapes []backend.Shape
	for p, c := range cores {
		private += c.Len()
		shapes = append(shapes, c.Shape)
		if p != leaf {
			owner = max(owner, c.Len())
		}
	}
	if backend.HasParts(shapes, leaf, cells) {
		owner = cores[leaf].Len()
	}
	words := float64(private-owner) * float64(backend.Shards(cells, max(word*(private-owner), 1)))
	if variances {
		words *= 2
	}
	return words
}

// isPair reports whether the posterior of a train has two cores without side information.
func isPair(t *tt.Train) bool {
	return len(t.Cores) == 2 && !slices.ContainsFunc(t.Cores, func(c *tt.Core) bool { return c.Map != nil || c.Slices.Cov != nil })
}

// pairWords is shardWords for the posterior of a pair. Its shards sum nothing of their own where the cells are visited in the order of
// the leaf's entities instead: where these are many.
func pairWords(cores []backend.Slices, cells int) float64 {
	words := 0
	for _, leaf := range cores {
		if shards := backend.Shards(cells, max(word*leaf.Len(), 1)); shards*leaf.N <= cells/4 {
			words = max(words, 3*shards*leaf.Len())
		}
	}
	return float64(words)
}

// leafOf returns the core at the leaves of a plan: an outer one, usually that with more
// entities.
func leafOf(cores []backend.Slices) int {
	if last := len(cores) - 1; cores[last].N > cores[0].N {
		return last
	}
	return 0
}

// workerWords is the scratch memory of a thread, in words.
const workerWords = 1 << 20

// nodeWords returns the words of the nodes of a plan, from above.
func nodeWords(cores []backend.Slices, cells int) float64 {
	if len(cores) == 1 {
		return 0
	}
	combinations, leaf := 1.0, leafOf(cores)
	for p, c := range cores {
		if p != leaf {
			combinations *= float64(c.N)
		}
	}
	return min(combinations, float64(cells)) * (float64(len(cores)-1) + 1.25)
}

// Evaluation returns the bytes of the arrays that the moments of all rows take, and those of
// the terms at the training rows.
func (f Fit) Evaluation() int64 {
	cores := 0
	for _, t := range f.Field.Terms {
		cores = max(cores, len(t.Cores))
	}
	terms := float64(len(f.Field.Terms) + len(f.Field.Series))
	perRow := 2*(terms+1) + 3*float64(cores) + 2 // values, entities and two plans, squared errors
	if f.Point {
		perRow = terms + 1 + float64(cores)
	}
	return int64(word * (perRow*float64(f.Train) + 2*float64(f.Train+f.Valid+2*f.Held)))
}
