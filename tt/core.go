package tt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/series/dynamics"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// Variant determines how the slices G of a core depend on free weights V' and on a
// regression T = A W on side information.
type Variant string

const (
	Plain    Variant = "plain"    // G = V'
	Side     Variant = "side"     // G = T
	WLR      Variant = "wlr"      // G = V' o T, weighted latent regression
	Additive Variant = "additive" // G = V' + T
)

// A Core is a matrix-valued function of the entities of one mode, or of the
// occurring combinations of several modes. The last slice is the prior slice. It
// stands for everything that has no slice of its own.
//
// Slices holds G. Refresh brings it up to date.
type Core struct {
	Modes   []string
	Index   *entity.Index
	Variant Variant
	Slices  backend.Slices

	Free   []float32             // V', laid out as Slices; nil for Side. For Plain it is Slices.Mean
	Weight []float32             // W; nil for Plain
	Map    *regression.LinearMap // A

	// Coupled means that V' and W of a wlr core share one penalty; see package
	// solver.
	Coupled bool

	// Separate means that V' and W of a wlr core each have a penalty toward 0, and
	// Penalty is the factor of the core's penalties, 0 for 1; see package solver.
	Separate bool
	Penalty  float64

	// Anchor, unless nil, is the slice toward which the penalty shrinks free
	// weights, in place of 0; see Train.AnchorAtOne.
	Anchor []float32

	// Norm, unless nil, writes K x to dst for weights x of the regression. Their
	// penalty is then x'K x in place of |x|^2.
	Norm func(dst, x []float32)

	// FreePosterior and WeightPosterior describe the uncertainty of V' and W. They
	// are nil for weights known exactly; see Field.SetFamily.
	FreePosterior, WeightPosterior *Posterior

	// Trained[e] reports whether entity e has training data; nil means that all do
	// but the prior. The others take the mean of the trained ones for V', or 1 in a
	// wlr core that is not coupled, whose penalty shrinks V' toward 1.
	Trained []bool

	// Rows[e] is the number of training rows of entity e; nil counts all entities alike.
	// An unseen entity takes the average over rows, because the rows to predict are of
	// frequent entities more often than of rare ones. Only a fit needs it.
	Rows []float32

	// Along is the prior along time of a plain core over a mode of time; nil for
	// independent slices. See SetAlong.
	Along *dynamics.Paths
	seed  uint64 // of the paths of a drawn core

	side    []float32  // T, laid out as Slices
	sideVar []float32  // variances of T; nil if W is known exactly
	unseen  *lazyPrior // moments of entities without training data; nil if the weights are known exactly
}

// NewCore returns a plain core of zeros.
func NewCore(modes []string, x *entity.Index, shape backend.Shape) *Core {
	c := &Core{Modes: modes, Index: x, Variant: Plain, Slices: backend.NewSlices(shape)}
	c.Free = c.Slices.Mean
	return c
}

// Regress turns a plain core into another variant, with the regression T = A W of
// the map m. trained is stored as Trained.
func (c *Core) Regress(v Variant, m *regression.LinearMap, trained []bool) {
	c.Variant, c.Map, c.Trained = v, m, trained
	c.Weight, c.side = make([]float32, m.Weights()), make([]float32, c.Slices.Len())
	c.Free = nil
	if v != Side {
		c.Free = make([]float32, c.Slices.Len())
	}
}

// CoreName returns the name of a core over modes in the notation of the
// specification: "store*item".
func CoreName(modes []string) string { return strings.Join(modes, "*") }

// Name returns the core's name.
func (c *Core) Name() string {
	if c.Along != nil {
		return "along(" + c.Modes[0] + ")"
	}
	return CoreName(c.Modes)
}

// A Block is a set of weights in which G is linear when everything else is fixed:
//
//	G = M o x + const   (free weights x), or   G = M o (A x) + const.
//
// M is Multiplier, or 1 if that is nil. Map is nil for free weights.
type Block struct {
	Name          string // "weight/item" for V', "side/item" for W
	Value         []float32
	Posterior     *Posterior // nil for weights known exactly
	Along         *dynamics.Paths
	Map           *regression.LinearMap
	Multiplier    []float32              // means of M
	MultiplierVar []float32              // variances of M; nil if it is known exactly
	MultiplierCov []float32              // r x r per entity; nil if its slices have no covariances
	Norm          func(dst, x []float32) // see Core
}

// Apply writes M o (A x) to dst, laid out as the slices of the core. The prior
// slice is undefined.
func (b *Block) Apply(be backend.Backend, dst, x []float32) {
	if b.Map != nil {
		b.Map.Apply(be, dst, x, false)
	} else {
		parallel.Blocks(be.Threads(), len(x), func(from, to int) { copy(dst[from:to], x[from:to]) })
	}
	if b.Multiplier != nil {
		parallel.Blocks(be.Threads(), len(b.Multiplier), func(from, to int) {
			at := dst[from:to]
			for i, m := range b.Multiplier[from:to] {
				at[i] *= m
			}
		})
	}
}

// Adjoint writes A'(M o g) to dst, the adjoint of Apply. It may overwrite the
// slices g. If squared is set, it uses the squares of the entries of A and the
// expected squares of those of M.
func (b *Block) Adjoint(be backend.Backend, dst, g []float32, squared bool) {
	if b.Multiplier != nil {
		backend.ParallelFor(be, len(b.Multiplier), func(i int) {
			m := b.Multiplier[i]
			if squared {
				m *= m
				if b.MultiplierVar != nil {
					m += b.MultiplierVar[i]
				}
			}
			g[i] *= m
		})
	}
	if b.Map != nil {
		b.Map.Adjoint(be, dst, g, squared)
		return
	}
	parallel.Blocks(be.Threads(), len(dst), func(from, to int) { copy(dst[from:to], g[from:to]) })
}

// Blocks returns the blocks of the core in the order in which solvers update them.
// Their values share memory with the core.
func (c *Core) Blocks() []Block {
	free := Block{Name: "weight/" + c.Name(), Value: c.Free, Posterior: c.FreePosterior, Along: c.Along}
	side := Block{Name: "side/" + c.Name(), Value: c.Weight, Posterior: c.WeightPosterior, Map: c.Map, Norm: c.Norm}
	switch c.Variant {
	case Plain:
		return []Block{free}
	case Side:
		return []Block{side}
	case Additive:
		return []Block{side, free} // V' first would leave nothing to explain for the regression
	case WLR:
		free.Multiplier, side.Multiplier = c.side, c.Free
		if c.FreePosterior != nil {
			free.MultiplierVar, side.MultiplierVar = c.sideVar, c.FreePosterior.Var
			side.MultiplierCov = c.FreePosterior.Cov
		}
		return []Block{side, free}
	}
	panic(fmt.Sprintf("tt: unknown variant %q", c.Variant))
}

// Offset returns the constant that G adds to the product of a free block, or nil
// if there is none.
func (c *Core) Offset() []float32 {
	if c.Variant == Additive {
		return c.side
	}
	return nil
}

// SideGradient returns the gradient with respect to T, one row per code of n
// codes, given the gradient g with respect to the slices. The core has one mode.
// SideGradient may overwrite g.
func (c *Core) SideGradient(g []float32, n int) []float32 {
	size := c.Slices.Slice()
	if c.Variant == WLR {
		for i, v := range c.Free {
			g[i] *= v
		}
	}
	rows := make([]float32, n*size)
	for e, code := range c.Index.Combinations() {
		copy(rows[int(code)*size:][:size], g[e*size:][:size])
	}
	return rows
}

// TrainedEntities returns the number of entities with training data. They precede
// all others.
func (c *Core) TrainedEntities() int {
	if c.Trained == nil {
		return c.Slices.N - 1
	}
	n := 0
	for _, t := range c.Trained {
		if t {
			n++
		}
	}
	return n
}

func (c *Core) trained(e int) bool { return c.Trained == nil || e < len(c.Trained) && c.Trained[e] }

// Refresh brings G up to date after a change of weights. sideChanged reports
// whether W or the operators changed; if so, Refresh costs a product of the
// operators with W.
func (c *Core) Refresh(b backend.Backend, sideChanged bool) {
	if c.Free != nil {
		c.setUntrained(b, c.Free, false)
	}
	if c.Slices.Var != nil || c.Slices.Cov != nil {
		c.unseen = &lazyPrior{}
		defer c.refreshVariances(b, sideChanged) // after the means, which it uses
	}
	if c.Variant == Plain {
		return
	}
	if sideChanged {
		c.Map.Apply(b, c.side, c.Weight, false)
		c.setUntrained(b, c.side, true)
	}
	c.combine(b.Threads())
}

// combine computes the means of G from V' and T.
func (c *Core) combine(threads int) {
	parallel.Blocks(threads, len(c.Slices.Mean), func(from, to int) {
		g, side := c.Slices.Mean[from:to], c.side[from:to]
		switch c.Variant {
		case Side:
			copy(g, side)
		case WLR:
			for i, v := range c.Free[from:to] {
				g[i] = v * side[i]
			}
		case Additive:
			for i, v := range c.Free[from:to] {
				g[i] = v + side[i]
			}
		}
	})
}

// setUntrained sets the prior slice to the mean of the trained ones, or to the
// prior mean of V' if there is one. Unless priorOnly is set, it does the same for
// entities without training data. A coupled core has no prior mean: the scale
// between V' and W is arbitrary, and the mean gives the same function for every
// scale. O(n R^2).
func (c *Core) setUntrained(b backend.Backend, values []float32, priorOnly bool) {
	size := c.Slices.Slice()
	n := c.Slices.N - 1
	sum := c.meanOfTrained(b, func(e int, weight float64, sum []float64) {
		for k, v := range values[e*size:][:size] {
			sum[k] += weight * float64(v)
		}
	})
	prior := values[n*size:][:size]
	for k := range prior {
		prior[k] = float32(sum[k])
	}
	if !priorOnly && c.Variant == WLR && !c.Coupled && !c.Separate {
		mean := float32(1) // the penalty is |V' - 1|^2
		if c.FreePosterior != nil {
			mean = float32(c.FreePosterior.PriorMean)
		}
		for k := range prior {
			prior[k] = mean
		}
	}
	if priorOnly || c.Trained == nil {
		return
	}
	parallel.Blocks(b.Threads(), n, func(from, to int) {
		for e := from; e < to; e++ {
			if !c.trained(e) {
				copy(values[e*size:][:size], prior)
			}
		}
	})
}

// meanOfTrained returns the mean of what add adds for the entities with training data,
// one number per entry of a slice. add multiplies by the weight of an entity, see Rows.
func (c *Core) meanOfTrained(b backend.Backend, add func(e int, weight float64, sum []float64)) []float64 {
	size, n := c.Slices.Slice(), c.Slices.N-1
	piece := max(1, parallel.Block/size) // entities, so that pieces do not depend on the number of threads
	pieces := backend.Pieces(b, max(1, (n+piece-1)/piece), size+1, func(i int, sum []float64) {
		for e := i * piece; e < min(n, (i+1)*piece); e++ {
			if c.trained(e) {
				weight := 1.0
				if c.Rows != nil {
					weight = float64(c.Rows[e])
				}
				sum[size] += weight
				add(e, weight, sum[:size])
			}
		}
	})
	sum := pieces[:size+1]
	for at := size + 1; at < len(pieces); at += size + 1 {
		for k, v := range pieces[at:][:size+1] {
			sum[k] += v
		}
	}
	for k := range sum[:size] {
		sum[k] /= max(sum[size], 1)
	}
	return sum[:size]
}

// initialize sets initial values: a shared part plus noise of the given standard
// deviation, both times scale. shared returns an entry of the shared part of a slice. Entities without training data consume no random
// numbers, so the values of the others do not depend on them. Refresh has to follow.
func (c *Core) initialize(rng *rand.Rand, scale, noise float64, shared func(k int) float64) {
	size := c.Slices.Slice()
	common, ones, none := make([]float64, size), make([]float64, size), make([]float64, size)
	for k := range size {
		common[k], ones[k] = shared(k), 1
	}
	normal := func(values []float32, mean func(row int) []float64, scale, noise float64) {
		for row := range len(values) / size {
			for k, m := range mean(row) {
				values[row*size+k] = float32(scale * (m + noise*rng.NormFloat64()))
			}
		}
	}
	always := func(means []float64) func(row int) []float64 { return func(int) []float64 { return means } }
	if c.Weight != nil {
		first := func(row int) []float64 {
			if c.Map.Intercept(row) {
				return common
			}
			return none
		}
		normal(c.Weight, first, scale, noise*math.Sqrt(float64(c.Map.Systems())/float64(c.Map.Rows())))
	}
	switch trained := c.TrainedEntities() * size; c.Variant {
	case Plain:
		normal(c.Free, always(common), scale, noise)
	case WLR:
		normal(c.Free[:trained], always(ones), 1, noise)
	case Additive:
		normal(c.Free[:trained], always(none), scale, noise)
	}
}
