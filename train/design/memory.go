package design

import (
	"runtime/debug"

	"github.com/kernel-fried-tensor/kft/internal/digits"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
)

// bytesPerCell is the memory of the two plans of a train, per training row.
const bytesPerCell = 16

// A memoryNeed estimates the memory of a fit from below, in bytes: what is certainly
// allocated. A fit within the estimate may still fail; one above it cannot succeed.
// Numbers are floats, because products of ranks and entities can exceed integers.
type memoryNeed struct {
	weights     float64 // weights, slices and variances, and their copies at the best sweep
	covariances float64 // of EntityCovariance, and their copies
	scratch     float64 // of the solver: the largest block
	plans       float64
}

// total returns the sum.
func (n *memoryNeed) total() float64 { return n.weights + n.covariances + n.scratch + n.plans }

// coreSize describes a core before it is made.
type coreSize struct {
	entities, left, right int
	regression            float64 // weights W of its regression; 0 without one
	variant               tt.Variant
	outer                 bool
	ids                   bool // its entities are those of one mode
}

// addCore adds one core.
func (n *memoryNeed) addCore(c coreSize, family tt.Family, adam bool) {
	const word = 4
	size := float64(c.left) * float64(c.right)
	slices := word * float64(c.entities) * size
	free, side := slices, word*c.regression
	if c.variant == tt.Side {
		free = 0
	}
	learned := free + side
	arrays := slices // G
	if c.variant != tt.Plain {
		arrays += learned + slices // V', W and T
	}
	if family != tt.Point {
		if c.variant != tt.Plain {
			arrays += free + slices // variances of V' and T
		}
		if family != tt.Multivariate {
			arrays += side
			learned += side
		}
		learned += free
		if c.variant == tt.Additive && c.ids {
			arrays += word * size // variances of unseen ids
			learned += word * size
		}
		if family == tt.EntityCovariance && c.outer && free > 0 {
			covariances := slices * size
			copies := 2.0 // at the last and at the best sweep
			if c.variant != tt.Plain {
				copies++ // of G
			} else {
				arrays += free // variances of V'
			}
			n.covariances += copies * covariances
		} else {
			arrays += slices // variances of G
		}
	}
	n.weights += arrays + learned
	if adam {
		n.weights += 2 * (free + side) // moments of the gradient
	}
	scratch := slices
	if !adam && (!c.outer || c.regression > 0) { // see conjugateGradient in package solver
		scratch = slices + 5*max(free, side)
	}
	n.scratch = max(n.scratch, scratch)
}

// checkMemory reports whether a term, together with the terms before it, fits into the
// memory of the machine. It is asked before anything is allocated for the term.
func (b *builder) checkMemory(term spec.Term, variant tt.Variant, entities, ranks []int) error {
	left := 1
	for p, core := range term.Cores {
		c := coreSize{entities: entities[p], left: left, right: 1, variant: tt.Plain, outer: p == 0 || p == len(term.Cores)-1}
		if p < len(ranks) {
			c.right = ranks[p]
		}
		left = c.right
		if used := b.variant(core, variant); used != tt.Plain && !term.IsAlong(core) {
			c.variant, c.regression = used, float64(c.left)*float64(c.right)
			axes := b.axes(core)
			c.ids = len(axes) == 1
			for i, op := range b.operators(axes) {
				columns := axes[i].Size
				if op != nil {
					columns = op.Columns()
				}
				c.regression *= float64(columns)
			}
		}
		b.need.addCore(c, b.data.Family, b.data.Adam)
	}
	if !b.data.Paged {
		b.need.plans += bytesPerCell * float64(b.data.cells())
	}
	if b.data.Room == nil || b.need.total() <= float64(b.data.Room()) {
		return nil
	}
	debug.FreeOSMemory() // an earlier fit of this process may have left garbage
	room := b.data.Room()
	total := b.need.total()
	if total <= float64(room) {
		return nil
	}
	if b.need.covariances > total/2 {
		return fielderr.Errorf("uncertainty.inference", "train: term %s: the fit needs at least %s of memory, %s of it for the covariances of %s, and %s are available; use uncertainty.inference mean-field, or lower ranks",
			term, digits.Bytes(total), digits.Bytes(b.need.covariances), b.data.Family, digits.Bytes(float64(room)))
	}
	return fielderr.Errorf("terms", "train: term %s: the fit needs at least %s of memory, and %s are available; use lower ranks, fewer terms or fewer joint modes",
		term, digits.Bytes(total), digits.Bytes(float64(room)))
}
