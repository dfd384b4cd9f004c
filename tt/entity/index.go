// Package entity maps the codes of cells to the entities of cores: ids, groups of ids, or combinations of them that
// occur in the training data.
package entity

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/hashtable"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Unknown is the code of an id that is not in the dictionary of its mode.
const Unknown = -1

// An Index maps the codes of a cell, one per mode, to the entities of one core: the
// codes, or combinations of codes, that occur in the training data. All others
// share one more entity, the last, which holds the prior. An index without modes has one
// entity, of all cells.
//
// It costs 4 bytes per code for a core of one mode. A joint core costs one hash table
// entry per occurring combination, or 4 bytes per combination if most of them occur.
type Index struct {
	axes    []Axis
	entity  []int32          // by code; one mode only
	joint   *hashtable.Table // by packed codes plus 1; several modes only
	dense   []int32          // by packed codes, instead of joint where it takes no more memory
	combos  []int32          // codes of each entity, len(modes) at a time
	classes int              // entities without the prior
}

// NewIndex indexes the combinations of the given modes that occur in the columns
// codes. Entities are numbered in order of first appearance, so the numbers depend
// on the training data alone. sizes[m] is the number of codes of mode m.
func NewIndex(modes []int, sizes []int, codes [][]int32) (*Index, error) {
	return NewAxisIndex(1, Axes(modes, sizes), codes)
}

// NewAxisIndex is NewIndex for axes, which may be groups, on several threads. A row whose id has no group
// does not count.
func NewAxisIndex(threads int, axes []Axis, codes [][]int32) (*Index, error) {
	x := &Index{axes: axes}
	if len(axes) == 0 {
		return x, x.build(1)
	}
	if len(axes) == 1 {
		seen := make([]bool, axes[0].Size)
		for _, c := range codes[axes[0].Mode] {
			if c = axes[0].Of(c); c >= 0 && !seen[c] {
				seen[c] = true
				if x.combos = append(x.combos, c); len(x.combos) == len(seen) {
					break
				}
			}
		}
		return x, x.build(1)
	}
	if err := x.checkPacking(); err != nil {
		return nil, err
	}
	x.findCombinations(threads, codes)
	return x, x.build(threads)
}

// Axes returns the axes. The slice must not be modified.
func (x *Index) Axes() []Axis { return x.axes }

// code returns the code of axis i at a row, negative if it is unknown.
func (x *Index) code(i int, codes [][]int32, row int) int32 {
	return x.axes[i].Of(codes[x.axes[i].Mode][row])
}

// AppendCombination appends the codes of a row to combos.
func (x *Index) AppendCombination(combos []int32, codes [][]int32, row int) []int32 {
	for i := range x.axes {
		combos = append(combos, x.code(i, codes, row))
	}
	return combos
}

// Extend returns the index with the combinations of the columns codes that it lacks, after its own.
// It skips rows with unknown codes.
func (x *Index) Extend(threads int, codes [][]int32) (*Index, error) {
	if len(x.axes) == 0 {
		return x, nil
	}
	rows := len(codes[x.axes[0].Mode])
	lacking := make([][]int32, (rows+parallel.Block-1)/parallel.Block) // by block: its rows
	parallel.Blocks(threads, rows, func(from, to int) {
		entities := make([]int32, to-from)
		x.lookup(entities, codes, from)
		for i, e := range entities {
			if e == x.Prior() && x.Known(codes, from+i) {
				lacking[from/parallel.Block] = append(lacking[from/parallel.Block], int32(from+i))
			}
		}
	})
	more := &Index{axes: x.axes, combos: slices.Clone(x.combos)}
	added := map[uint64]bool{}
	for _, block := range lacking {
		for _, row := range block {
			if key := x.Pack(codes, int(row)); !added[key] {
				added[key] = true
				more.combos = x.AppendCombination(more.combos, codes, int(row))
			}
		}
	}
	return more, more.build(threads)
}

// Entity returns the entity of one row. Unlike Lookup it takes ids that the index was not
// made for.
func (x *Index) Entity(codes [][]int32, row int) int32 {
	return x.at(codes, row)
}

// LookupFrom writes the entities of the rows from the given one on to dst, of ids that the
// index was not made for too.
func (x *Index) LookupFrom(dst []int32, codes [][]int32, from int) { x.lookup(dst, codes, from) }

// at returns the entity of one row.
func (x *Index) at(codes [][]int32, row int) int32 {
	var e [1]int32
	x.lookup(e[:], codes, row)
	return e[0]
}

// RestoreIndex restores an index from the result of Combinations.
func RestoreIndex(modes []int, sizes []int, combos []int32) (*Index, error) {
	return RestoreAxisIndex(Axes(modes, sizes), combos)
}

// RestoreAxisIndex is RestoreIndex for axes, which may be groups. It uses all threads of the process.
func RestoreAxisIndex(axes []Axis, combos []int32) (*Index, error) {
	x := &Index{axes: axes, combos: combos}
	if len(axes) == 0 && len(combos) > 0 || len(axes) > 0 && len(combos)%len(axes) != 0 {
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
	return x, x.build(runtime.GOMAXPROCS(0))
}

// checkPacking returns an error if the number of combinations exceeds the packed
// key.
func (x *Index) checkPacking() error {
	sizes := make([]int, len(x.axes))
	for i, a := range x.axes {
		sizes[i] = a.Size
	}
	if x.combinations() > math.MaxInt64 {
		return fielderr.Errorf("terms", "tt: a joint core over modes of sizes %v has more than 2^63 combinations; join fewer modes", sizes)
	}
	return nil
}

// build indexes the combinations. One that appears twice is an error.
func (x *Index) build(threads int) error {
	width := len(x.axes)
	x.classes = 1
	if width > 0 {
		x.classes = len(x.combos) / width
	}
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
	if size := x.combinations(); size <= denseShare*float64(x.classes) {
		x.dense = make([]int32, int(size))
		for key := range x.dense {
			x.dense[key] = x.Prior()
		}
		for e := range x.classes {
			place := &x.dense[x.key(x.combos[e*width:][:width])]
			if *place != x.Prior() {
				return errTwice
			}
			*place = int32(e)
		}
		return nil
	}
	x.joint = hashtable.New(x.classes)
	if !x.joint.Fill(threads, x.classes, func(e int) uint64 { return x.key(x.combos[e*width:][:width]) + 1 }) {
		return errTwice
	}
	return nil
}

var errTwice = errors.New("tt: a combination appears twice in an index")

// denseShare is the number of combinations per occurring one up to which they are
// indexed by an array: the hash table has two to four places of 16 bytes per key.
const denseShare = 8

// combinations returns the number of combinations of a joint core, occurring or not.
func (x *Index) combinations() float64 {
	product := 1.0
	for _, a := range x.axes {
		product *= float64(a.Size)
	}
	return product
}

// key packs a combination of codes, one per axis.
func (x *Index) key(codes []int32) uint64 {
	key := uint64(0)
	for i, c := range codes {
		key = key*uint64(x.axes[i].Size) + uint64(c)
	}
	return key
}

// atKey returns the entity of a packed combination.
func (x *Index) atKey(key uint64) int32 {
	if x.dense != nil {
		return x.dense[key]
	}
	if e, ok := x.joint.Get(key + 1); ok {
		return e
	}
	return x.Prior()
}

// Pack returns the key of a row whose codes are all known.
func (x *Index) Pack(codes [][]int32, row int) uint64 {
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
func (x *Index) Lookup(dst []int32, codes [][]int32) { x.lookup(dst, codes, 0) }

// lookup writes the entities of the rows from the given one on to dst.
func (x *Index) lookup(dst []int32, codes [][]int32, from int) {
	if len(x.axes) == 0 {
		clear(dst) // the entity of all cells
		return
	}
	if len(x.axes) == 1 {
		for row, c := range codes[x.axes[0].Mode][from:][:len(dst)] {
			dst[row] = x.Prior()
			if c = x.axes[0].Of(c); uint(c) < uint(len(x.entity)) {
				dst[row] = x.entity[c]
			}
		}
		return
	}
	var memory [256]uint64
	for done := 0; done < len(dst); done += len(memory) {
		part := dst[done:min(done+len(memory), len(dst))]
		keys := memory[:len(part)]
		x.packRows(keys, codes, from+done)
		if x.joint != nil {
			x.joint.Find(part, keys, x.Prior())
			continue
		}
		for i, key := range keys {
			if part[i] = x.Prior(); key != 0 {
				part[i] = x.dense[key-1]
			}
		}
	}
}

// packRows writes the keys of rows plus 1 to keys, 0 for a row with an unknown code or one
// that the index was not made for.
func (x *Index) packRows(keys []uint64, codes [][]int32, from int) {
	clear(keys)
	for i := range x.axes {
		a := &x.axes[i]
		size := uint64(a.Size)
		for k, c := range codes[a.Mode][from:][:len(keys)] {
			if c = a.Of(c); uint64(c) >= size || i > 0 && keys[k] == 0 {
				keys[k] = 0
				continue
			}
			keys[k] = (max(keys[k], 1)-1)*size + uint64(c) + 1
		}
	}
}
