// Package tt implements tensor trains: cores, trains and sums of trains, with
// their moments and pullbacks at observed cells, their posteriors and draws from
// them.
//
// A [Core] holds one matrix, its slice G(i), per entity of a mode or per occurring
// combination of several modes. The slices are free weights V', a regression
// T = A W on side information (see package regression), or a combination of both (see
// [Variant]). A [Train] assigns to a cell the product of the slices of its cores,
//
//	f(i1, ..., iP) = G1(i1) G2(i2) ... GP(iP),
//
// and a [Field] is a sum of trains, each over its own grouping of the modes. A
// [Posterior] holds the variances of weights about their means, and a [Sampler]
// draws fields.
//
// The backend does the work. The mean and the pullback of a train of rank R cost
// O(R^2) per distinct combination of all entities but one, and O(R) per cell.
package tt

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A Train is a product of cores. Its outer ranks are 1.
type Train struct{ Cores []*Core }

// NewTrain returns a train over the given indices with the given interior ranks.
// All weights are zero.
func NewTrain(modes [][]string, index []*entity.Index, ranks []int) *Train {
	t := &Train{}
	left := 1
	for p := range index {
		right := 1
		if p < len(index)-1 {
			right = ranks[p]
		}
		shape := backend.Shape{Left: left, N: index[p].Entities(), Right: right}
		t.Cores = append(t.Cores, NewCore(modes[p], index[p], shape))
		left = right
	}
	backend.CheckTrain(t.Shapes())
	return t
}

// Name returns the names of the cores, separated by commas.
func (t *Train) Name() string {
	names := make([]string, len(t.Cores))
	for i, c := range t.Cores {
		names[i] = c.Name()
	}
	return strings.Join(names, ",")
}

// Shapes returns the shapes of the cores.
func (t *Train) Shapes() []backend.Shape {
	shapes := make([]backend.Shape, len(t.Cores))
	for i, c := range t.Cores {
		shapes[i] = c.Slices.Shape
	}
	return shapes
}

// Slices returns the slices of the cores. They share memory with the train.
func (t *Train) Slices() []backend.Slices {
	s := make([]backend.Slices, len(t.Cores))
	for i, c := range t.Cores {
		s[i] = c.Slices
	}
	return s
}

// Lookup returns for each core the entities of the rows of codes.
func (t *Train) Lookup(codes [][]int32) [][]int32 { return t.lookup(nil, 1, codes) }

// LookupOn is Lookup on several threads, with the memory of a backend.
func (t *Train) LookupOn(b backend.Backend, threads int, codes [][]int32) [][]int32 {
	return t.lookup(backend.Pages(b), threads, codes)
}

func (t *Train) lookup(pages *paged.Store, threads int, codes [][]int32) [][]int32 {
	index := make([][]int32, len(t.Cores))
	for p := range index {
		index[p] = paged.Make[int32](pages, len(codes[0]))
	}
	parallel.Blocks(threads, len(codes[0]), func(from, to int) {
		part := make([][]int32, len(codes))
		for m, column := range codes {
			part[m] = column[from:to]
		}
		for p, c := range t.Cores {
			c.Index.Lookup(index[p][from:to], part)
		}
	})
	return index
}

// LookupRows returns the function that looks up the entities of a core at some rows of the
// columns codes.
func (t *Train) LookupRows(codes [][]int32) backend.Lookup {
	return func(core int, dst, rows []int32) {
		index := t.Cores[core].Index
		var memory [1024]int32
		part := make([][]int32, len(codes))
		for from := 0; from < len(rows); from += len(memory) / max(1, len(index.Axes())) {
			to := min(from+len(memory)/max(1, len(index.Axes())), len(rows))
			rest := memory[:]
			for i := range index.Axes() {
				mode := index.Axes()[i].Mode
				column, values := codes[mode], rest[:to-from]
				rest = rest[to-from:]
				for k, row := range rows[from:to] {
					values[k] = column[row]
				}
				part[mode] = values
			}
			index.Lookup(dst[from:to], part)
		}
	}
}

// Weights returns the number of weights.
func (t *Train) Weights() int {
	n := 0
	for _, c := range t.Cores {
		for _, b := range c.Blocks() {
			n += len(b.Value)
		}
	}
	return n
}
