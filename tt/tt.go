// Package tt is the algebra of tensor trains: cores, trains, and sums of
// trains, with their means and pullbacks over observed cells.
//
// A train of cores assigns to a cell the product of their slices,
//
//	f(i1, ..., iP) = G1(i1) G2(i2) ... GP(iP),
//
// a field is a sum of trains, each over its own grouping of the modes. The
// work is the backend's; a mean and a pullback of a train of rank R cost
// O(R^2) a distinct combination of all entities but one, and O(R) a cell.
package tt

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A Train is a product of cores, outer ranks 1.
type Train struct{ Cores []*Core }

// NewTrain returns a train over the given indices with interior ranks ranks,
// all weights zero.
func NewTrain(modes [][]string, index []*Index, ranks []int) *Train {
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

// Name returns the cores' names, separated by commas.
func (t *Train) Name() string {
	names := make([]string, len(t.Cores))
	for i, c := range t.Cores {
		names[i] = c.Name()
	}
	return strings.Join(names, ",")
}

// Shapes returns the cores' shapes.
func (t *Train) Shapes() []backend.Shape {
	shapes := make([]backend.Shape, len(t.Cores))
	for i, c := range t.Cores {
		shapes[i] = c.Slices.Shape
	}
	return shapes
}

// Slices returns the cores' slices, which share memory with the train.
func (t *Train) Slices() []backend.Slices {
	s := make([]backend.Slices, len(t.Cores))
	for i, c := range t.Cores {
		s[i] = c.Slices
	}
	return s
}

// Lookup returns, for each core, the column of entities of the rows in codes.
func (t *Train) Lookup(codes [][]int32) [][]int32 {
	index := make([][]int32, len(t.Cores))
	for p, c := range t.Cores {
		index[p] = make([]int32, len(codes[0]))
		c.Index.Lookup(index[p], codes)
	}
	return index
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
