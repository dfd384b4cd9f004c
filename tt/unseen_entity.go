package tt

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// setUnseen sets slice e of dst to that of an entity without training data, whose
// regression has mean t and variance st. V' takes the prior.
func (c *Core) setUnseen(dst backend.Slices, e int, t, st []float32) {
	size := c.Slices.Slice()
	mean := dst.Mean[e*size:][:size]
	copy(mean, t)
	variance := append([]float32(nil), st...) // nil if the weights are known exactly
	if c.Free != nil {
		for k, v := range c.Free[len(c.Free)-size:] {
			s := float32(0)
			if st != nil {
				s = c.FreePosterior.Var[len(c.FreePosterior.Var)-size+k]
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

// setVariance sets the variances of slice e of dst, whose entries are independent.
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

// slicesLike returns n zero slices with variances or covariances if the core has
// them.
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

// localize returns slices, and the entity of each row among them, for rows of a
// joint core with side information. For combinations that have no entity although
// all their codes are known, it computes the regression, and V' takes the prior. It
// copies only the slices that the rows use.
func (c *Core) localize(b backend.Backend, codes [][]int32, column []int32) (backend.Slices, []int32) {
	var missing []int32
	place := map[uint64]int32{} // of each missing combination
	x := c.Index
	for row, e := range column {
		if e != x.Prior() || !x.Known(codes, row) {
			continue
		}
		key := x.Pack(codes, row)
		if _, ok := place[key]; !ok {
			place[key] = int32(len(place))
			missing = x.AppendCombination(missing, codes, row)
		}
	}
	if len(place) == 0 {
		return c.Slices, column
	}
	size := c.Slices.Slice()
	t, st, err := c.regressionAt(b, missing)
	if err != nil {
		panic(err) // too many weights: the core itself could not have been built
	}
	at := map[int32]int32{} // place of each existing entity
	entities := make([]int32, len(column))
	var used []int32
	for row, e := range column {
		if e == x.Prior() && x.Known(codes, row) {
			entities[row] = place[x.Pack(codes, row)]
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
		c.setUnseen(local, i, t[i*size:][:size], variance)
	}
	for i, e := range used {
		copySlice(local, len(place)+i, c.Slices, int(e))
	}
	return local, entities
}

// regressionAt returns the mean and the variance of the regression at combinations
// of codes. The variance is nil if the weights are known exactly.
func (c *Core) regressionAt(b backend.Backend, combos []int32) (t, st []float32, err error) {
	x := c.Index.List(combos) // a map needs no lookup
	m, err := regression.NewLinearMap(x, c.Map.Operators(), c.Slices.Slice())
	if err != nil {
		return nil, nil, err
	}
	t = make([]float32, int(x.Prior())*c.Slices.Slice())
	m.Apply(b, t, c.Weight, false)
	if c.WeightPosterior != nil {
		st = make([]float32, len(t))
		c.regressionVariances(b, m, st)
	}
	return t, st, nil
}

// regressionVariances writes the variance of T at the entities of a map: that due
// to the weights, and the residual variance of the operators.
func (c *Core) regressionVariances(b backend.Backend, m *regression.LinearMap, dst []float32) {
	if sigma := c.WeightPosterior.Sigma; sigma != nil {
		m.Variances(b, dst, sigma)
	} else {
		m.Apply(b, dst, c.WeightPosterior.Var, true)
	}
	m.AddResidualVariance(dst, float64(c.WeightPosterior.PriorVar[0]))
}

// UnseenCombinations reports for each row whether some joint core has no training
// data at the combination of codes of the row. It costs one lookup per joint core
// and row. Cores with one of some modes do not count.
func (f *Field) UnseenCombinations(threads int, codes [][]int32, without []string) []bool {
	unseen := make([]bool, len(codes[0]))
	parallel.Blocks(threads, len(unseen), func(from, to int) {
		part, column := make([][]int32, len(codes)), make([]int32, to-from)
		for m := range codes {
			part[m] = codes[m][from:to]
		}
		for _, t := range f.Terms {
			for _, c := range t.Cores {
				if len(c.Modes) == 1 || slices.ContainsFunc(c.Modes, func(mode string) bool { return slices.Contains(without, mode) }) {
					continue
				}
				c.Index.Lookup(column, part)
				for i, e := range column {
					if e == c.Index.Prior() || !c.trained(int(e)) {
						unseen[from+i] = true
					}
				}
			}
		}
	})
	return unseen
}
