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
	"math"
	"math/rand/v2"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
)

// A Core is a free core: every entity of one mode, or every occurring
// combination of several, has a slice of weights of its own. The last slice is
// the prior's: the mean of the others, for entities without training data.
type Core struct {
	Modes  []string
	Index  *Index
	Slices backend.Slices
}

// CoreName returns the name of a core over modes as a specification writes it:
// "store*item".
func CoreName(modes []string) string { return strings.Join(modes, "*") }

// Name returns the core's name.
func (c *Core) Name() string { return CoreName(c.Modes) }

// SetPrior sets the prior's slice to the mean of the others. O(n R^2).
func (c *Core) SetPrior() {
	size := c.Slices.Slice()
	n := c.Slices.N - 1
	prior := c.Slices.Mean[n*size:]
	sum := make([]float64, size)
	for e := range n {
		for k, v := range c.Slices.Mean[e*size:][:size] {
			sum[k] += float64(v)
		}
	}
	for k := range prior {
		prior[k] = float32(sum[k] / float64(max(n, 1)))
	}
}

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
		t.Cores = append(t.Cores, &Core{Modes: modes[p], Index: index[p], Slices: backend.NewSlices(shape)})
		left = right
	}
	backend.CheckChain(t.Shapes())
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

// startNoise is how far the slices of a start differ from one another,
// relative to what they share.
const startNoise = 0.5

// Draw gives the weights start values, such that the train's values have about
// the given standard deviation.
//
// All slices of a core share a part: ones at the ends of the train, with signs
// that cancel on the left, and the identity between them. So a start
// is a sum of R products of numbers, which a solver can tell apart, and no mode
// has to be learned before another can be, as with slices of noise alone.
func (t *Train) Draw(rng *rand.Rand, sd float64) {
	if len(t.Cores) == 1 {
		effect := t.Cores[0]
		for k := range effect.Slices.Mean {
			effect.Slices.Mean[k] = float32(sd * rng.NormFloat64())
		}
		effect.SetPrior()
		return
	}
	// With relative variance v a core, f has variance R ((1 + v)^P - 1) but
	// for the common scale.
	spread := math.Pow(1+startNoise*startNoise, float64(len(t.Cores))) - 1
	rank := float64(t.Cores[0].Slices.Right)
	scale := math.Pow(sd/math.Sqrt(rank*spread), 1/float64(len(t.Cores)))
	for p, c := range t.Cores {
		left, right := c.Slices.Left, c.Slices.Right
		noise := startNoise
		if left > 1 && right > 1 {
			noise /= math.Sqrt(float64(right))
		}
		for k := range c.Slices.Mean {
			a, b := k/right%left, k%right
			shared := 0.0
			switch {
			case p == 0:
				shared = 1 - 2*float64(b%2)
			case p == len(t.Cores)-1 || a == b:
				shared = 1
			}
			c.Slices.Mean[k] = float32(scale * (shared + noise*rng.NormFloat64()))
		}
		c.SetPrior()
	}
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
		n += c.Slices.Len()
	}
	return n
}
