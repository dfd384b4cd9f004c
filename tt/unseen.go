package tt

import (
	"github.com/kernel-fried-tensor/kft/backend"
)

// set gives slice e of dst the value of an entity without training data, whose
// regression has mean t and variance st: V' takes the prior.
func (c *Core) set(dst backend.Slices, e int, t, st []float32) {
	size := c.Slices.Slice()
	mean := dst.Mean[e*size:][:size]
	copy(mean, t)
	variance := append([]float32(nil), st...) // nil where the weights are known exactly
	if c.Free != nil {
		for k, v := range c.Free[len(c.Free)-size:] {
			s := float32(0)
			if st != nil {
				s = c.FreeSpread.Var[len(c.FreeSpread.Var)-size+k]
			}
			if c.Variant == WLR {
				mean[k] *= v
				if st != nil {
					variance[k] = v*v*st[k] + t[k]*t[k]*s + s*st[k]
				}
				continue
			}
			mean[k] += v
			if st != nil {
				variance[k] += s
			}
		}
	}
	if st != nil {
		setVariance(dst, e, variance)
	}
}

// setVariance sets the variances of independent entries of a slice.
func setVariance(dst backend.Slices, e int, variance []float32) {
	size := len(variance)
	if dst.Var != nil {
		copy(dst.Var[e*size:][:size], variance)
		return
	}
	cov := dst.Cov[e*size*size:][:size*size]
	clear(cov)
	for k, v := range variance {
		cov[k*size+k] = v
	}
}

// copySlice copies slice e of src to slice i of dst.
func copySlice(dst backend.Slices, i int, src backend.Slices, e int) {
	for _, a := range []struct {
		dst, src []float32
		size     int
	}{{dst.Mean, src.Mean, src.Slice()}, {dst.Var, src.Var, src.Slice()}, {dst.Cov, src.Cov, src.Slice() * src.Slice()}} {
		if a.src != nil {
			copy(a.dst[i*a.size:][:a.size], a.src[e*a.size:][:a.size])
		}
	}
}

// slicesLike returns n zero slices with the moments that those of the core have.
func (c *Core) slicesLike(n int) backend.Slices {
	shape := c.Slices.Shape
	shape.N = n
	s := backend.NewSlices(shape)
	if c.Slices.Var != nil {
		s.Var = make([]float32, shape.Len())
	}
	if c.Slices.Cov != nil {
		s.Cov = make([]float32, n*shape.Slice()*shape.Slice())
	}
	return s
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
	slices := c.slicesLike(x.Entities())
	copy(slices.Mean, c.Slices.Mean[:n*size])
	if slices.Var != nil {
		copy(slices.Var, c.Slices.Var[:n*size])
	}
	if slices.Cov != nil {
		copy(slices.Cov, c.Slices.Cov[:n*size*size])
	}
	copySlice(slices, slices.N-1, c.Slices, n)
	c.Index, c.Slices = x, slices
	if c.Map == nil {
		c.Free = slices.Mean
		if c.FreeSpread != nil {
			spread := *c.FreeSpread
			c.FreeSpread = &spread
			spread.Var, spread.Cov = slices.Var, slices.Cov
			if slices.Cov != nil {
				spread.Var = diagonals(slices.Cov, size)
			}
		}
		return nil
	}
	if c.Map, err = NewMap(x, operators, size); err != nil {
		return err
	}
	for _, e := range anew {
		t, st, err := c.regressionAt(b, combos[e*width:][:width])
		if err != nil {
			return err
		}
		c.set(slices, e, t, st)
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
	t, st, err := c.regressionAt(b, missing)
	if err != nil {
		panic(err) // too many weights, but then the core itself could not have been made
	}
	at := map[int32]int32{} // place of entities that exist
	entities := make([]int32, len(column))
	var used []int32
	for row, e := range column {
		if e == x.Prior() && known(x, codes, row) {
			entities[row] = place[x.pack(codes, row)]
			continue
		}
		i, ok := at[e]
		if !ok {
			i = int32(len(place) + len(used))
			at[e] = i
			used = append(used, e)
		}
		entities[row] = i
	}
	local := c.slicesLike(len(place) + len(used))
	for i := range len(place) {
		var variance []float32
		if st != nil {
			variance = st[i*size:][:size]
		}
		c.set(local, i, t[i*size:][:size], variance)
	}
	for i, e := range used {
		copySlice(local, len(place)+i, c.Slices, int(e))
	}
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

// regressionAt returns mean and variance of the regression at combinations of
// codes; the variance is nil where the weights are known exactly.
func (c *Core) regressionAt(b backend.Backend, combos []int32) (t, st []float32, err error) {
	// A map needs no way from codes to entities.
	x := &Index{modes: c.Index.modes, sizes: c.Index.sizes, combos: combos, classes: len(combos) / len(c.Index.modes)}
	m, err := NewMap(x, c.Map.operators(), c.Slices.Slice())
	if err != nil {
		return nil, nil, err
	}
	t = make([]float32, x.classes*c.Slices.Slice())
	m.Apply(b, t, c.Weight, false)
	if c.WeightSpread != nil {
		st = make([]float32, len(t))
		c.regressionVariance(b, m, st)
	}
	return t, st, nil
}

// regressionVariance writes the variance of T at the entities of a map: that of
// the weights, and what the operators' rows lost of the prior's.
func (c *Core) regressionVariance(b backend.Backend, m *Map, dst []float32) {
	if sigma := c.WeightSpread.Sigma; sigma != nil {
		m.variances(b, dst, sigma)
	} else {
		m.Apply(b, dst, c.WeightSpread.Var, true)
	}
	m.addLost(dst, float64(c.WeightSpread.PriorVar[0]))
}
