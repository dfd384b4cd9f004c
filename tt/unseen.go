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
// of all modes and of its own. fresh lists, for each of its modes, the codes that
// are new or newly described, none of which has training data. A regression on
// one mode gets slices for them; a joint one computes combinations where they are
// asked for, and here those that it holds already. A plain core needs neither: it
// takes the prior. All other slices stay as they are, to the bit.
//
// Slices are computed one at a time, so that none depends on which others are.
func (c *Core) Extend(b backend.Backend, sizes []int, operators []Operator, fresh [][]int32) error {
	old, width := c.Index, len(c.Modes)
	combos := append([]int32(nil), old.combos...)
	var anew []int // entities to compute
	if c.Map != nil {
		combos, anew = c.renew(combos, sizes, fresh)
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
	for _, e := range anew {
		t, err := c.regressionAt(b, combos[e*width:][:width])
		if err != nil {
			return err
		}
		c.value(slices.Mean[e*size:][:size], t)
	}
	return nil
}

// renew returns the combinations with those that fresh codes add, and the
// entities whose side information is new.
func (c *Core) renew(combos []int32, sizes []int, fresh [][]int32) ([]int32, []int) {
	width := len(c.Modes)
	isFresh := make([][]bool, width)
	for i, m := range c.Index.modes {
		isFresh[i] = make([]bool, sizes[m])
		for _, code := range fresh[i] {
			isFresh[i][code] = true
		}
	}
	var anew []int
	for e := c.TrainedEntities(); e < c.Slices.N-1; e++ {
		for i, code := range combos[e*width:][:width] {
			if isFresh[i][code] {
				anew = append(anew, e)
				break
			}
		}
	}
	if width > 1 {
		return combos, anew
	}
	for _, code := range fresh[0] {
		if int(code) >= len(c.Index.entity) || c.Index.entity[code] == c.Index.Prior() {
			anew = append(anew, len(combos))
			combos = append(combos, code)
		}
	}
	return combos, anew
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
	// A map needs no way from codes to entities.
	x := &Index{modes: c.Index.modes, sizes: c.Index.sizes, combos: combos, classes: len(combos) / len(c.Index.modes)}
	m, err := NewMap(x, c.Map.operators(), c.Slices.Slice())
	if err != nil {
		return nil, err
	}
	t := make([]float32, x.classes*c.Slices.Slice())
	m.Apply(b, t, c.Weight, false)
	return t, nil
}
