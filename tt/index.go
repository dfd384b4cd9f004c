package tt

import (
	"errors"
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/hashtable"
)

// Unknown is the code of an id that is not in the dictionary of its mode.
const Unknown = -1

// An Index maps the codes of a cell, one per mode, to the entities of one core: the
// codes, or combinations of codes, that occur in the training data. All others
// share one more entity, the last, which holds the prior.
//
// It costs 4 bytes per code for a core of one mode, and one hash table entry per
// occurring combination for a joint core.
type Index struct {
	axes    []Axis
	entity  []int32          // by code; one mode only
	joint   *hashtable.Table // by packed codes plus 1; several modes only
	combos  []int32          // codes of each entity, len(modes) at a time
	classes int              // entities without the prior
}

// NewIndex indexes the combinations of the given modes that occur in the columns
// codes. Entities are numbered in order of first appearance, so the numbers depend
// on the training data alone. sizes[m] is the number of codes of mode m.
func NewIndex(modes []int, sizes []int, codes [][]int32) (*Index, error) {
	return NewAxisIndex(Axes(modes, sizes), codes)
}

// NewAxisIndex is NewIndex for axes, which may be groups. A row whose id has no group
// does not count.
func NewAxisIndex(axes []Axis, codes [][]int32) (*Index, error) {
	x := &Index{axes: axes}
	if len(axes) == 1 {
		seen := make([]bool, axes[0].Size)
		for _, c := range codes[axes[0].Mode] {
			if c = axes[0].of(c); c >= 0 && !seen[c] {
				seen[c] = true
				x.combos = append(x.combos, c)
			}
		}
		return x, x.build()
	}
	if err := x.checkPacking(); err != nil {
		return nil, err
	}
	x.joint = hashtable.New(0)
	for row := range codes[axes[0].Mode] {
		if !known(x, codes, row) {
			continue
		}
		key := x.pack(codes, row) + 1
		if _, ok := x.joint.Get(key); !ok {
			x.joint.Put(key, int32(x.classes))
			x.classes++
			x.combos = x.appendCombination(x.combos, codes, row)
		}
	}
	return x, nil
}

// Axes returns the axes. The slice must not be modified.
func (x *Index) Axes() []Axis { return x.axes }

// code returns the code of axis i at a row, negative if it is unknown.
func (x *Index) code(i int, codes [][]int32, row int) int32 {
	return x.axes[i].of(codes[x.axes[i].Mode][row])
}

// appendCombination appends the codes of a row to combos.
func (x *Index) appendCombination(combos []int32, codes [][]int32, row int) []int32 {
	for i := range x.axes {
		combos = append(combos, x.code(i, codes, row))
	}
	return combos
}

// Extend appends the combinations of the columns codes that are not in the index
// yet. It skips rows with unknown codes.
func (x *Index) Extend(codes [][]int32) error {
	added := map[uint64]bool{}
	for row := range codes[x.axes[0].Mode] {
		if !known(x, codes, row) {
			continue
		}
		key := x.pack(codes, row)
		if added[key] || x.at(codes, row) != x.Prior() {
			continue
		}
		added[key] = true
		x.combos = x.appendCombination(x.combos, codes, row)
	}
	return x.build()
}

// at returns the entity of one row.
func (x *Index) at(codes [][]int32, row int) int32 {
	if x.joint != nil {
		return x.jointEntity(codes, row)
	}
	if c := x.code(0, codes, row); c >= 0 {
		return x.entity[c]
	}
	return x.Prior()
}

// RestoreIndex restores an index from the result of Combinations.
func RestoreIndex(modes []int, sizes []int, combos []int32) (*Index, error) {
	return RestoreAxisIndex(Axes(modes, sizes), combos)
}

// RestoreAxisIndex is RestoreIndex for axes, which may be groups.
func RestoreAxisIndex(axes []Axis, combos []int32) (*Index, error) {
	x := &Index{axes: axes, combos: combos}
	if len(combos)%len(axes) != 0 {
		return nil, fmt.Errorf("tt: %d codes cannot be split into combinations of %d modes", len(combos), len(axes))
	}
	for i, c := range combos {
		if size := axes[i%len(axes)].Size; c < 0 || int(c) >= size {
			return nil, fmt.Errorf("tt: code %d is out of range for a mode of %d codes", c, size)
		}
	}
	if err := x.checkPacking(); err != nil {
		return nil, err
	}
	return x, x.build()
}

// checkPacking returns an error if the number of combinations exceeds the packed
// key.
func (x *Index) checkPacking() error {
	product := 1.0
	sizes := make([]int, len(x.axes))
	for i, a := range x.axes {
		sizes[i] = a.Size
		product *= float64(a.Size)
	}
	if product > math.MaxInt64 {
		return fielderr.Errorf("terms", "tt: a joint core over modes of sizes %v has more than 2^63 combinations; join fewer modes", sizes)
	}
	return nil
}

func (x *Index) build() error {
	width := len(x.axes)
	x.classes = len(x.combos) / width
	if width == 1 {
		x.entity = make([]int32, x.axes[0].Size)
		for c := range x.entity {
			x.entity[c] = int32(x.classes)
		}
		for e, c := range x.combos {
			if x.entity[c] != x.Prior() {
				return fmt.Errorf("tt: code %d appears twice in an index", c)
			}
			x.entity[c] = int32(e)
		}
		return nil
	}
	x.joint = hashtable.New(x.classes)
	for e := range x.classes {
		key := uint64(0)
		for i, c := range x.combos[e*width:][:width] {
			key = key*uint64(x.axes[i].Size) + uint64(c)
		}
		if _, twice := x.joint.Get(key + 1); twice {
			return errors.New("tt: a combination appears twice in an index")
		}
		x.joint.Put(key+1, int32(e))
	}
	return nil
}

// pack returns the key of a row whose codes are all known.
func (x *Index) pack(codes [][]int32, row int) uint64 {
	key := uint64(0)
	for i := range x.axes {
		key = key*uint64(x.axes[i].Size) + uint64(x.code(i, codes, row))
	}
	return key
}

// Entities returns the number of entities, including the prior.
func (x *Index) Entities() int { return x.classes + 1 }

// Prior returns the entity shared by everything that did not occur.
func (x *Index) Prior() int32 { return int32(x.classes) }

// Combinations returns the codes of each entity but the prior, one per mode.
func (x *Index) Combinations() []int32 { return x.combos }

// Lookup writes the entity of each row of the columns codes to dst.
func (x *Index) Lookup(dst []int32, codes [][]int32) {
	if x.joint == nil {
		for row, c := range codes[x.axes[0].Mode] {
			dst[row] = x.Prior()
			if c = x.axes[0].of(c); c >= 0 {
				dst[row] = x.entity[c]
			}
		}
		return
	}
	for row := range dst {
		dst[row] = x.jointEntity(codes, row)
	}
}

func (x *Index) jointEntity(codes [][]int32, row int) int32 {
	if !known(x, codes, row) {
		return x.Prior()
	}
	if e, ok := x.joint.Get(x.pack(codes, row) + 1); ok {
		return e
	}
	return x.Prior()
}
