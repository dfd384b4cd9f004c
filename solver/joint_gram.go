package solver

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// jointGram is A'WA of all effects that are updated at once, with the columns of their blocks one after the other. A step of conjugate gradients
// with it costs as many operations as it has entries, whatever the number of observations.
type jointGram struct {
	cores  []*tt.Core // whose effects it has
	maps   []*regression.LinearMap
	size   int
	matrix []float32

	direction, image []float32
}

const (
	// gramColumns limits the columns of the effects of a Gram matrix.
	gramColumns = 1024

	// gramRows is the number of observations that are added to it at a time.
	gramRows = 1024

	// gramGain is the number of entries that cost as much as an observation of an effect in a pass, and gramStart the number of
	// observations that cost as much as the start of a pass.
	gramGain, gramStart = 20, 400
)

// gramOf returns the Gram matrix of effects, nil if passes over the observations cost less or weights change. It is computed once for
// the sweeps of a fit.
func (a *cavi) gramOf(effects []*jointEffect) *jointGram {
	g := &jointGram{}
	for _, e := range effects {
		if e.plan.Share != nil {
			return nil
		}
		for _, b := range e.blocks {
			g.cores, g.maps, g.size = append(g.cores, e.core), append(g.maps, b.Map), g.size+b.weights
		}
	}
	n := len(a.d.y)
	if a.d.noiseWeights != nil || g.size > gramColumns || g.size*g.size > gramGain*len(effects)*(n+gramStart) {
		return nil
	}
	if old := a.gram; old != nil && old.size == g.size && slices.Equal(old.cores, g.cores) && slices.Equal(old.maps, g.maps) {
		return old
	}
	g.matrix, g.direction, g.image = make([]float32, g.size*g.size), make([]float32, g.size), make([]float32, g.size)
	_, weight := a.obs.Values()
	entities := make([][]int32, len(effects))
	for i, e := range effects {
		entities[i] = make([]int32, n)
		for c, row := range e.plan.Source {
			entities[i][row] = e.plan.LeafEntity[c]
		}
	}
	x := make([]float32, min(n, gramRows)*g.size)
	weighted := x
	if weight != nil {
		weighted = make([]float32, len(x))
	}
	for from := 0; from < n; from += gramRows {
		rows := min(gramRows, n-from)
		clear(x)
		for r := range rows {
			row, at := x[r*g.size:][:g.size], 0
			for i, e := range effects {
				entity := int(entities[i][from+r])
				for _, b := range e.blocks {
					if b.Map != nil {
						copy(row[at:], b.Map.Row(entity))
					} else {
						row[at+entity] = 1
					}
					at += b.weights
				}
			}
			if weight != nil {
				for k, v := range row {
					weighted[r*g.size+k] = weight[from+r] * v
				}
			}
		}
		a.d.b.Gemm(true, false, g.size, g.size, rows, 1, x, g.size, weighted, g.size, min(float32(from), 1), g.matrix, g.size)
	}
	a.gram = g
	return g
}

// diagonal writes the diagonal of A'WA of each block.
func (g *jointGram) diagonal(effects []*jointEffect) {
	at := 0
	for _, e := range effects {
		for i := range e.blocks {
			b := &e.blocks[i]
			for k := range b.weights {
				b.diagonal[k] = g.matrix[at*g.size+at]
				at++
			}
		}
	}
}

// applyGram writes A'WA times the direction to the image of each block.
func (a *cavi) applyGram(g *jointGram, effects []*jointEffect) {
	at := 0
	for _, e := range effects {
		for _, b := range e.blocks {
			at += copy(g.direction[at:], b.direction[:b.weights])
		}
	}
	a.d.b.Gemm(false, false, 1, g.size, g.size, 1, g.direction, g.size, g.matrix, g.size, 0, g.image, g.size)
	at = 0
	for _, e := range effects {
		for _, b := range e.blocks {
			at += copy(b.image[:b.weights], g.image[at:])
		}
	}
}
