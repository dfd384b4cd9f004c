package tt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
)

// Variant is how a core's slices G come from free weights V' and a regression
// T = A W on side information.
type Variant string

const (
	Plain    Variant = "plain"    // G = V'
	Side     Variant = "side"     // G = T
	WLR      Variant = "wlr"      // G = V' o T, weighted latent regression
	Additive Variant = "additive" // G = V' + T
)

// A Core is a matrix-valued function of the entities of one mode, or of the
// occurring combinations of several. The last slice is the prior's: for
// entities without training data.
//
// Slices holds G, up to date after Refresh.
type Core struct {
	Modes   []string
	Index   *Index
	Variant Variant
	Slices  backend.Slices

	Free   []float32 // V', in the form of Slices; nil for Side. For Plain it is Slices.Mean
	Weight []float32 // W; nil for Plain
	Map    *Map      // A

	// Coupled says that V' and W of a wlr core share one penalty, see package
	// fit.
	Coupled bool

	// Anchor, unless nil, is the slice to which the penalty draws free weights, in
	// place of 0; see Train.AnchorAtOne.
	Anchor []float32

	// Norm, unless nil, writes K x to dst for weights x of the regression: their
	// penalty is then x'K x in place of |x|^2.
	Norm func(dst, x []float32)

	// FreeSpread and WeightSpread say how V' and W vary about their means, nil
	// for weights known exactly; see Field.SetFamily.
	FreeSpread, WeightSpread *Spread

	// Trained tells which entities have training data; nil means all but the
	// prior. The others take the mean of the trained ones for V', or 1 where that
	// is what V' is held to: wlr that is not coupled.
	Trained []bool

	side    []float32 // T, in the form of Slices
	sideVar []float32 // its variances, nil where W is known exactly
}

// NewCore returns a plain core of zeros.
func NewCore(modes []string, x *Index, shape backend.Shape) *Core {
	c := &Core{Modes: modes, Index: x, Variant: Plain, Slices: backend.NewSlices(shape)}
	c.Free = c.Slices.Mean
	return c
}

// Regress turns a plain core into another variant. trained tells which entities
// have training data.
func (c *Core) Regress(v Variant, m *Map, trained []bool) {
	c.Variant, c.Map, c.Trained = v, m, trained
	c.Weight, c.side = make([]float32, m.Weights()), make([]float32, c.Slices.Len())
	c.Free = nil
	if v != Side {
		c.Free = make([]float32, c.Slices.Len())
	}
}

// CoreName returns the name of a core over modes as a specification writes it:
// "store*item".
func CoreName(modes []string) string { return strings.Join(modes, "*") }

// Name returns the core's name.
func (c *Core) Name() string { return CoreName(c.Modes) }

// A Block is a set of weights in which G is linear: with all else fixed,
//
//	G = M o x + const   (free weights x), or   G = M o (A x) + const,
//
// M being the slices Multiplier, or 1 where it is nil. Map is nil for free
// weights.
type Block struct {
	Name          string // "weight/item" for V', "side/item" for W
	Value         []float32
	Spread        *Spread // nil for weights known exactly
	Map           *Map
	Multiplier    []float32              // means
	MultiplierVar []float32              // and variances, nil where it is known exactly
	MultiplierCov []float32              // r x r an entity, where its slices have covariances
	Norm          func(dst, x []float32) // see Core
}

// Apply writes M o (A x), in the form of the core's slices, to dst. The prior's
// slice is not defined.
func (b *Block) Apply(be backend.Backend, dst, x []float32) {
	if b.Map != nil {
		b.Map.Apply(be, dst, x, false)
	} else {
		copy(dst, x)
	}
	if b.Multiplier != nil {
		for i, m := range b.Multiplier {
			dst[i] *= m
		}
	}
}

// Adjoint writes A'(M o g) to dst, the adjoint of Apply, for slices g, which it
// may overwrite. squared takes the squares of A's entries, and the expected
// squares of M's.
func (b *Block) Adjoint(be backend.Backend, dst, g []float32, squared bool) {
	if b.Multiplier != nil {
		for i, m := range b.Multiplier {
			if squared {
				m *= m
				if b.MultiplierVar != nil {
					m += b.MultiplierVar[i]
				}
			}
			g[i] *= m
		}
	}
	if b.Map != nil {
		b.Map.Adjoint(be, dst, g, squared)
		return
	}
	copy(dst, g)
}

// Blocks returns the blocks of the core, whose values share memory with it.
func (c *Core) Blocks() []Block {
	free := Block{Name: "weight/" + c.Name(), Value: c.Free, Spread: c.FreeSpread}
	side := Block{Name: "side/" + c.Name(), Value: c.Weight, Spread: c.WeightSpread, Map: c.Map, Norm: c.Norm}
	switch c.Variant {
	case Plain:
		return []Block{free}
	case Side:
		return []Block{side}
	case Additive:
		return []Block{side, free} // V' would leave nothing to the regression
	case WLR:
		free.Multiplier, side.Multiplier = c.side, c.Free
		if c.FreeSpread != nil {
			free.MultiplierVar, side.MultiplierVar = c.sideVar, c.FreeSpread.Var
			side.MultiplierCov = c.FreeSpread.Cov
		}
		return []Block{side, free}
	}
	panic(fmt.Sprintf("tt: unknown variant %q", c.Variant))
}

// Offset returns the slices that a free block's product is added to, nil for
// none.
func (c *Core) Offset() []float32 {
	if c.Variant == Additive {
		return c.side
	}
	return nil
}

// SideGradient returns the gradient by T, a row for each of n codes, given that
// by the slices of a core over one mode, which it may overwrite.
func (c *Core) SideGradient(g []float32, n int) []float32 {
	size := c.Slices.Slice()
	if c.Variant == WLR {
		for i, v := range c.Free {
			g[i] *= v
		}
	}
	rows := make([]float32, n*size)
	for e, code := range c.Index.combos {
		copy(rows[int(code)*size:][:size], g[e*size:][:size])
	}
	return rows
}

// TrainedEntities returns the number of entities with training data, which come
// first.
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

// Refresh brings G up to date after weights changed. sideChanged tells that W
// or the operators did; then it costs a product of the operators with W.
func (c *Core) Refresh(b backend.Backend, sideChanged bool) {
	if c.Free != nil {
		c.spreadPrior(c.Free, false)
	}
	if c.Slices.Var != nil || c.Slices.Cov != nil {
		defer c.refreshSpread(b, sideChanged) // needs the means
	}
	if c.Variant == Plain {
		return
	}
	if sideChanged {
		c.Map.Apply(b, c.side, c.Weight, false)
		c.spreadPrior(c.side, true)
	}
	c.combine()
}

// combine takes G from V' and T.
func (c *Core) combine() {
	g := c.Slices.Mean
	switch c.Variant {
	case Side:
		copy(g, c.side)
	case WLR:
		for i, v := range c.Free {
			g[i] = v * c.side[i]
		}
	case Additive:
		for i, v := range c.Free {
			g[i] = v + c.side[i]
		}
	}
}

// spreadPrior sets the prior's slice, and those of entities without training
// data unless priorOnly, to the mean of the trained ones, or V' to its prior mean
// where it has one. Of a coupled core it has none: the scale between V' and W is
// free, and the mean is the same function whatever the scale. O(n R^2).
func (c *Core) spreadPrior(values []float32, priorOnly bool) {
	size := c.Slices.Slice()
	n := c.Slices.N - 1
	sum := make([]float64, size)
	count := 0
	for e := range n {
		if c.trained(e) {
			count++
			for k, v := range values[e*size:][:size] {
				sum[k] += float64(v)
			}
		}
	}
	prior := values[n*size:][:size]
	for k := range prior {
		prior[k] = float32(sum[k] / float64(max(count, 1)))
	}
	if !priorOnly && c.Variant == WLR && !c.Coupled {
		for k := range prior {
			prior[k] = 1 // what the penalty |V' - 1|^2 holds V' to
		}
	}
	for e := range n {
		if !priorOnly && !c.trained(e) {
			copy(values[e*size:][:size], prior)
		}
	}
}

// draw sets start values of standard deviation noise about a shared part, all
// times scale. Entities without training data take no draws, so that what they
// are leaves those of others as they are.
func (c *Core) draw(b backend.Backend, rng *rand.Rand, scale, noise float64, shared func(k int) float64) {
	normal := func(values []float32, mean func(k int) float64, scale, noise float64) {
		for k := range values {
			values[k] = float32(scale * (mean(k) + noise*rng.NormFloat64()))
		}
	}
	one := func(int) float64 { return 1 }
	zero := func(int) float64 { return 0 }
	size := c.Slices.Slice()
	if c.Weight != nil {
		first := func(k int) float64 {
			if c.Map.intercept(k / size) {
				return shared(k % size)
			}
			return 0
		}
		normal(c.Weight, first, scale, noise*math.Sqrt(float64(c.Map.Systems())/float64(c.Map.Rows())))
	}
	switch trained := c.TrainedEntities() * size; c.Variant {
	case Plain:
		normal(c.Free, shared, scale, noise)
	case WLR:
		normal(c.Free[:trained], one, 1, noise)
	case Additive:
		normal(c.Free[:trained], zero, scale, noise)
	}
	c.Refresh(b, true)
}
