package tt

import (
	"github.com/kernel-fried-tensor/kft/backend"
)

// value returns the slice of an entity without training data, given its
// regression t: V' takes the prior.
func (c *Core) value(dst, t []float32) {
	size := c.Slices.Slice()
	copy(dst, t)
	if c.Free == nil {
		return
	}
	for k, v := range c.Free[len(c.Free)-size:] {
		if c.Variant == WLR {
			dst[k] *= v
		} else {
			dst[k] += v
		}
	}
}

// Extend brings the core to modes of more codes, sizes and operators being those
// of all modes and of its own, and gives it the slices of the given codes of its
// one mode that are new or newly described. A plain core and a joint one
// get no codes: the first takes the prior, the second is computed where it is
// asked for. All other slices stay as they are, to the bit.
func (c *Core) Extend(b backend.Backend, sizes []int, operators []Operator, codes []int32) error {
	old := c.Index
	combos := append([]int32(nil), old.combos...)
	at := make([]int, len(codes)) // their entities
	for i, code := range codes {
		if len(c.Modes) != 1 || c.Map == nil {
			panic("tt: codes for a core that is not a regression on one mode")
		}
		if int(code) < len(old.entity) && old.entity[code] != old.Prior() {
			at[i] = int(old.entity[code])
			continue
		}
		at[i] = len(combos)
		combos = append(combos, code)
	}
	x, err := IndexOf(old.modes, sizes, combos)
	if err != nil {
		return err
	}
	size, n := c.Slices.Slice(), c.Slices.N-1
	shape := c.Slices.Shape
	shape.N = x.Entities()
	slices := backend.NewSlices(shape)
	copy(slices.Mean, c.Slices.Mean[:n*size])
	copy(slices.Mean[(shape.N-1)*size:], c.Slices.Mean[n*size:])
	c.Index, c.Slices = x, slices
	if c.Map == nil {
		c.Free = slices.Mean
		return nil
	}
	if c.Map, err = NewMap(x, operators, size); err != nil {
		return err
	}
	if len(codes) == 0 {
		return nil
	}
	t, err := c.regressionAt(b, codes)
	if err != nil {
		return err
	}
	for i, e := range at {
		c.value(slices.Mean[e*size:][:size], t[i*size:][:size])
	}
	return nil
}

// localize returns slices and entities for rows of a joint core with side
// information among which there are combinations without an entity, though all
// their codes have one: their regression is computed, and V' takes the prior.
// Only what the rows use is copied.
func (c *Core) localize(b backend.Backend, codes [][]int32, column []int32) (backend.Slices, []int32) {
	var missing []int32
	place := map[uint64]int32{} // of missing combinations
	x := c.Index
	for row, e := range column {
		if e != x.Prior() || !known(x, codes, row) {
			continue
		}
		key := x.pack(codes, row)
		if _, ok := place[key]; !ok {
			place[key] = int32(len(place))
			for _, m := range x.modes {
				missing = append(missing, codes[m][row])
			}
		}
	}
	if len(place) == 0 {
		return c.Slices, column
	}
	size := c.Slices.Slice()
	t, err := c.regressionAt(b, missing)
	if err != nil {
		return c.Slices, column // too many weights: cannot happen where the core itself has them
	}
	local := backend.Slices{Shape: c.Slices.Shape}
	at := map[int32]int32{} // place of entities that exist
	entities := make([]int32, len(column))
	local.Mean = make([]float32, len(place)*size)
	for i := range len(place) {
		c.value(local.Mean[i*size:][:size], t[i*size:][:size])
	}
	for row, e := range column {
		if e == x.Prior() && known(x, codes, row) {
			entities[row] = place[x.pack(codes, row)]
			continue
		}
		i, ok := at[e]
		if !ok {
			i = int32(len(local.Mean) / size)
			at[e] = i
			local.Mean = append(local.Mean, c.Slices.Mean[int(e)*size:][:size]...)
		}
		entities[row] = i
	}
	local.N = len(local.Mean) / size
	return local, entities
}

func known(x *Index, codes [][]int32, row int) bool {
	for _, m := range x.modes {
		if codes[m][row] < 0 {
			return false
		}
	}
	return true
}

// regressionAt returns the regression at combinations of codes.
func (c *Core) regressionAt(b backend.Backend, combos []int32) ([]float32, error) {
	x := &Index{modes: c.Index.modes, sizes: c.Index.sizes, combos: combos}
	if err := x.build(); err != nil {
		return nil, err
	}
	m, err := NewMap(x, c.Map.operators(), c.Slices.Slice())
	if err != nil {
		return nil, err
	}
	t := make([]float32, x.classes*c.Slices.Slice())
	m.Apply(b, t, c.Weight, false)
	return t, nil
}
