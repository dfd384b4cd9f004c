package tt

import "github.com/kernel-fried-tensor/kft/backend"

// UnseenCovariance returns the covariance, size x size, of slice e of an outer core: the
// prior slice, or that of an entity without training data that has a regression. Entries
// of V' are correlated as in the trained slices.
func (c *Core) UnseenCovariance(b backend.Backend, e int) []float64 {
	size := c.Slices.Slice()
	out := make([]float64, size*size)
	moments := c.priorMoments(b)
	product := moments.product
	if e != c.Slices.N-1 {
		product = moments.freeProduct
	}
	if product != nil && (e == c.Slices.N-1 || c.Variant != WLR) {
		copy(out, product)
	}
	for i := range size {
		if c.Slices.Cov != nil {
			out[i*size+i] = float64(c.Slices.Cov[(e*size+i)*size+i])
		} else {
			out[i*size+i] = float64(c.Slices.Var[e*size+i])
		}
	}
	return out
}

// DescribedSlice returns the slice of a combination of codes without training data whose
// side information is known, as an evaluation computes it on demand. The core has a
// regression.
func (c *Core) DescribedSlice(b backend.Backend, combo []int32) (backend.Slices, error) {
	t, st, err := c.regressionAt(b, combo)
	if err != nil {
		return backend.Slices{}, err
	}
	out := c.slicesLike(1)
	c.setUnseen(out, 0, t, st)
	return out, nil
}
