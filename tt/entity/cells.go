package entity

// Known reports whether all codes of a row are known.
func (x *Index) Known(codes [][]int32, row int) bool {
	for i := range x.axes {
		if x.code(i, codes, row) < 0 {
			return false
		}
	}
	return true
}

// Lacks reports whether a code of the only mode has no entity of its own.
func (x *Index) Lacks(code int32) bool {
	return int(code) >= len(x.entity) || x.entity[code] == x.Prior()
}

// In returns the entity of another index over the same axes that has the codes of entity e, not the prior, or -1 for none.
func (x *Index) In(other *Index, e int) int {
	width := len(x.axes)
	if width == 0 {
		return e
	}
	codes := x.combos[e*width:][:width]
	for i, c := range codes {
		if int(c) >= other.axes[i].Size {
			return -1
		}
	}
	at := int32(0)
	if width == 1 {
		at = other.entity[codes[0]]
	} else {
		at = other.atKey(other.key(codes))
	}
	if at == other.Prior() {
		return -1
	}
	return int(at)
}

// Identify returns a number that identifies the entity of a cell: key of the ids and,
// for axes whose group is known, the groups, so that the ids of a group share a draw.
func (x *Index) Identify(codes [][]int32, cell int, key func(modes []int, cell int) uint64) uint64 {
	var modes []int
	groups := uint64(0)
	for i := range x.axes {
		group := x.code(i, codes, cell)
		if x.axes[i].Group == nil || group < 0 {
			modes = append(modes, x.axes[i].Mode)
			continue
		}
		groups = (groups ^ uint64(i+1)<<32 ^ uint64(group+1)) * 0x9E3779B97F4A7C15
	}
	return key(modes, cell) ^ groups
}

// First returns the index of the first n entities and the prior.
func (x *Index) First(n int) (*Index, error) {
	first := &Index{axes: x.axes, combos: x.combos[:n*len(x.axes)]}
	return first, first.build(1)
}

// List returns combinations over the same axes as an index that has no lookup from codes to entities.
func (x *Index) List(combos []int32) *Index {
	return &Index{axes: x.axes, combos: combos, classes: len(combos) / len(x.axes)}
}
