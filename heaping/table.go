package heaping

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/radix"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// Values is the number of whole numbers, from 0, that have factors.
const Values = 256

// A Table holds the factors of values. It does not change and may be shared.
type Table struct {
	levels []Level
	cells  *predictive.Cells
	curve  []float64 // share of calibration rows with a level of at most i/(len-1); nil without any
	border float64   // see [predictive.Heaped]
}

// A Level is one kind of factor. Values without an entry have a factor of 1, or a count of 0.
type Level struct {
	Modes []int                  // of the entities; none for all rows
	Index noisemodel.EntityIndex // nil without modes
	Pair  bool                   // the factor b, by counts

	Strength float64 // c
	Start    []int32 // the entries of entity e are Start[e] to Start[e+1]
	Value    []uint8
	Entry    []uint8 // logarithm of the factor in steps of 1/stepsPerUnit, plus noStep; or the count, at most 255

	dense []uint8 // entries by entity and value, noStep without one; nil if that takes too much memory, and for counts
}

const (
	stepsPerUnit = 16
	noStep       = 128
	mostDense    = 1 << 22 // bytes of dense entries
)

// NewTable returns a table of levels for a target on a transform's scale. A pair can only be
// the last level. The slices are kept.
func NewTable(t targetscale.Transform, levels []Level) (*Table, error) {
	for i := range levels {
		l := &levels[i]
		if err := l.check(); err != nil {
			return nil, fmt.Errorf("level %d of heaped values: %w", i+1, err)
		}
		if l.Pair && i < len(levels)-1 {
			return nil, fmt.Errorf("level %d of heaped values: counts come last", i+1)
		}
		l.spread()
	}
	return &Table{levels: levels, cells: predictive.NewCells(t, Values), border: 0.5}, nil
}

// check returns an error unless a level is possible.
func (l *Level) check() error {
	switch n := len(l.Start); {
	case (l.Index == nil) != (len(l.Modes) == 0):
		return errors.New("its modes have no index")
	case n < 1 || l.Start[0] != 0 || int(l.Start[n-1]) != len(l.Value) || len(l.Value) != len(l.Entry):
		return fmt.Errorf("%d values and %d entries do not fit its entities", len(l.Value), len(l.Entry))
	case !(l.Strength > 0) || math.IsInf(l.Strength, 0):
		return fmt.Errorf("its strength is %g, expected a finite number above 0", l.Strength)
	}
	for e := range len(l.Start) - 1 {
		if l.Start[e+1] < l.Start[e] || int(l.Start[e+1]) > len(l.Value) {
			return fmt.Errorf("the entries of entity %d end before they begin", e)
		}
	}
	return nil
}

// Levels returns the levels, which must not be changed.
func (t *Table) Levels() []Level { return t.levels }

// Indexes returns the indexes of the levels.
func (t *Table) Indexes() []noisemodel.EntityIndex {
	indexes := make([]noisemodel.EntityIndex, len(t.levels))
	for i := range t.levels {
		indexes[i] = t.levels[i].Index
	}
	return indexes
}

// entity returns the entity of a row. found has the entities of all rows if they are known,
// otherwise it is nil.
func (l *Level) entity(codes [][]int32, found []int32, row int) int32 {
	switch {
	case found != nil:
		return found[row]
	case l.Index != nil:
		return l.Index.Entity(codes, row)
	}
	return 0
}

// spread sets the dense entries. The counts of a pair have none.
func (l *Level) spread() {
	entities := len(l.Start) - 1
	if l.Pair || entities > mostDense/Values {
		return
	}
	l.dense = make([]uint8, entities*Values+predictive.StepRoom)
	for i := range l.dense {
		l.dense[i] = noStep
	}
	for e := range entities {
		own := l.dense[e*Values:][:Values]
		for i := l.Start[e]; i < l.Start[e+1]; i++ {
			own[l.Value[i]] = l.Entry[i]
		}
	}
}

// factors are the products of the factors of three entries, by the sum of the entries.
var factors = predictive.NewStepFactors(stepsPerUnit, 3*noStep)

// without are dense entries of an entity without factors.
var without = slices.Repeat([]uint8{noStep}, Values+predictive.StepRoom)

// weigh multiplies the weights of cells by the factors of a row, those of three dense levels at a time.
func (t *Table) weigh(h *predictive.Heaped, codes, found [][]int32, row int) {
	dense, n := [...][]uint8{without, without, without}, 0
	multiply := func() {
		if n > 0 {
			h.MultiplySteps(factors, dense[0], dense[1], dense[2])
			dense, n = [...][]uint8{without, without, without}, 0
		}
	}
	for i := range t.levels {
		var entities []int32
		if found != nil {
			entities = found[i]
		}
		l := &t.levels[i]
		e := l.entity(codes, entities, row)
		if e < 0 || int(e) >= len(l.Start)-1 {
			continue
		}
		if l.dense == nil {
			multiply()
			l.apply(h, e)
			continue
		}
		dense[n] = l.dense[int(e)*Values:][:Values+predictive.StepRoom]
		if n++; n == len(dense) {
			multiply()
		}
	}
	multiply()
}

// apply multiplies the weights of cells by the factors of an entity.
func (l *Level) apply(h *predictive.Heaped, e int32) {
	from, to := l.Start[e], l.Start[e+1]
	values, entries := l.Value[from:to], l.Entry[from:to]
	if l.Pair {
		if len(values) > 0 {
			h.Temper(values, entries, l.Strength)
		}
		return
	}
	for i, v := range values {
		k := int(v) - h.First
		if k >= len(h.Weight) {
			return
		}
		if k >= 0 {
			h.Weight[k] *= factors.All[int(entries[i])+2*noStep]
		}
	}
}

// Apply changes the distribution of a row, whose codes are given. found has the entities of
// all rows by level, as far as they are known; it may be nil. The distribution is valid until
// h changes.
func (t *Table) Apply(d *predictive.Distribution, h *predictive.Heaped, codes, found [][]int32, row int) {
	if !h.SetCells(d, t.cells) {
		return
	}
	t.weigh(h, codes, found, row)
	h.Border = t.border
	d.Heap(h)
	if t.curve != nil && d.IsDiscrete() {
		h.MapLevels(t.curve)
	}
}

// curveSteps is the number of steps of a curve of levels.
const curveSteps = 200

// Calibrated returns the table with levels that are corrected by rows which it has not
// learned from, such as those of a conformal correction: pit are the levels F(y) of their
// targets, random between P(Y < y) and P(Y <= y). If the levels were right, as many rows
// would have a level up to p as p says.
func (t *Table) Calibrated(threads int, pit []float64) *Table {
	sorted := slices.Clone(pit)
	radix.Sort(threads, sorted)
	curve := make([]float64, curveSteps+1)
	for i := range curve {
		below, _ := slices.BinarySearch(sorted, float64(i)/curveSteps)
		curve[i] = float64(below) / float64(len(sorted))
	}
	curve[0], curve[curveSteps] = 0, 1
	changed := *t
	changed.curve = curve
	return &changed
}

// WithLevelsOf returns the table with the correction of levels of another one.
func (t *Table) WithLevelsOf(o *Table) *Table {
	changed := *t
	changed.curve, changed.border = o.curve, o.border
	return &changed
}

// WithBorder returns the table with the border at which 90 % intervals hold nearest to 90 % of
// calibration rows, given P(Y < y) and P(Y <= y) of their targets y.
func (t *Table) WithBorder(threads int, below, upTo []float64) *Table {
	const steps = 20
	type counts [steps + 1]int // of rows inside, by border
	inside := parallel.Reduce(threads, len(below), func(from, to int) (n counts) {
		for i := from; i < to; i++ {
			for k := range n {
				if high, low := predictive.HeapedLimits(below[i], upTo[i], float64(k)/steps); low >= 0.05 && high <= 0.95 {
					n[k]++
				}
			}
		}
		return n
	}, func(a, b counts) counts {
		for k, n := range b {
			a[k] += n
		}
		return a
	})
	changed, least := *t, math.Inf(1)
	for k, n := range inside {
		if off := math.Abs(float64(n) - 0.9*float64(len(below))); off < least {
			least, changed.border = off, float64(k)/steps
		}
	}
	return &changed
}

// setCurve gives the table a correction of levels that was read.
func (t *Table) setCurve(curve []float64, border float64) error {
	if !(border >= 0 && border <= 1) {
		return errors.New("heaped values: the border of intervals is not a number from 0 to 1")
	}
	if n := len(curve); n < 2 || n > maxCurve || curve[0] != 0 || curve[n-1] != 1 || !slices.IsSorted(curve) {
		return errors.New("heaped values: the levels of their correction are not sorted numbers from 0 to 1")
	}
	t.curve, t.border = curve, border
	return nil
}

// maxCurve is the largest length of a correction of levels in a file.
const maxCurve = 10_001
