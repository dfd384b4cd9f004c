// Package division divides the slices of an additive core between its regression and its
// free weights.
//
// The slices are G = A W + V', and the data determine little but their sum. Updates of W
// for fixed V' and of V' for fixed W take very many sweeps to find how much of G the side
// information explains, which is all that is known of an entity without rows. A shift
//
//	V' -> V' - A D,   W -> W + D
//
// does not change G. Improve makes W the mean of its posterior in the model
//
//	g_e = (A W)_e + v_e,   v_e ~ N(mu, tau_v / u_e),   W ~ N(0, tau_w),
//
// over the entities e with training rows, and takes the variances tau of the highest
// evidence. For equal weights u_e this would be the model of the field. But the rows to
// predict are of frequent entities more often than of rare ones, and the two differ even
// if their descriptions agree: what sells well is sold in more places. The weights are
// therefore the numbers of rows n_e, divided so that their sum is the effective number of
// entities, (sum n)^2 / sum n^2.
//
// An entity without rows deviates from its regression by more than those that determined
// it. Its variance is that of the entities with rows about regressions without them,
//
//	sum_e u_e ((g_e - (A W)_e)^2 / (1 - h_e)^2 + s_e) / sum_e u_e,   h_e = u_e a_e'(A'UA + ratio)^-1 a_e,
//
// with the variance s_e of the posterior.
package division

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// The ratio tau_v / tau_w is searched in steps of this factor, between these bounds.
const (
	factor  = 1.25
	lowest  = 1e-4
	highest = 1e4
)

// A Divider divides the cores of one field. It keeps what depends on the side information
// and the numbers of rows alone, which is most of the work.
type Divider struct {
	known map[*tt.Core]*spectrum
}

// Forget drops what is kept, after a change of the side information of a core.
func (d *Divider) Forget() { d.known = nil }

// Improve moves the part of the free weights that the regression can explain to the
// regression, and returns tau_w. It returns 0 and leaves the core as it is unless it is an
// additive core of one mode with a posterior that knows the rows of its entities. The
// variances of the weights stay those given V': as W and V' are independent in the
// posterior, they count for entities with rows too. For n entities, m columns and slices of
// R entries the first call for a core costs O(n m (m + R) + m^3), another one O(n m R + m^2 R),
// and n m^2 more if the ratio changed; there is no pass over the rows of the table.
func (d *Divider) Improve(b backend.Backend, c *tt.Core) (prior float64) {
	if c.Variant != tt.Additive || len(c.Modes) != 1 || c.Rows == nil || c.FreePosterior == nil || c.WeightPosterior == nil || c.TrainedEntities() < 2 {
		return 0
	}
	r := d.known[c]
	if r == nil || r.operator != c.Map {
		if r = newSpectrum(b, c); r == nil {
			return 0
		}
		if d.known == nil {
			d.known = map[*tt.Core]*spectrum{}
		}
		d.known[c] = r
	}
	r.project(b, c)
	ratio, variance := r.search()
	if !(variance > 0) {
		return 0
	}
	r.set(b, c, ratio)
	return variance / ratio
}

// A spectrum has the eigenvalues and eigenvectors of A'UA, which stay, and of the current
// slices Z = Q'A'UG with a row per eigenvector and a column per entry of a slice.
type spectrum struct {
	operator *regression.LinearMap
	entities float64   // effective number
	weight   []float64 // u_e
	columns  int       // m
	values   []float64
	vectors  mat.Dense

	size    int     // R
	square  float64 // sum of u_e |g_e|^2
	z       mat.Dense
	squares []float64 // of the rows of Z

	ratio    float64   // of leverage
	leverage []float64 // u_e a_e'(A'UA + ratio)^-1 a_e
}

// newSpectrum returns nil if there is no decomposition.
func newSpectrum(b backend.Backend, c *tt.Core) *spectrum {
	m, n := c.Map.Rows(), c.TrainedEntities()
	r := &spectrum{operator: c.Map, columns: m, weight: weights(c, n)}
	a := make([]float32, n*m)
	for e, u := range r.weight {
		r.entities += u
		root := float32(math.Sqrt(u))
		for k, v := range c.Map.Row(e) {
			a[e*m+k] = root * v
		}
	}
	gram := make([]float32, m*m)
	b.Gemm(true, false, m, m, n, 1, a, m, a, m, 0, gram, m)
	sym := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			sym.SetSym(i, j, float64(gram[i*m+j]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		return nil
	}
	r.values = eigen.Values(nil)
	for j, v := range r.values {
		r.values[j] = max(v, 0)
	}
	eigen.VectorsTo(&r.vectors)
	return r
}

// project sets Z and the sums of squares.
func (r *spectrum) project(b backend.Backend, c *tt.Core) {
	m, size := r.columns, c.Slices.Slice()
	r.size, r.square = size, 0
	g := make([]float32, (c.Slices.N-1)*size)
	for e, u := range r.weight {
		for k, v := range c.Slices.Mean[e*size:][:size] {
			v -= float32(c.FreePosterior.PriorMean)
			g[e*size+k] = float32(u) * v
			r.square += u * float64(v) * float64(v)
		}
	}
	product := make([]float32, m*size)
	c.Map.Adjoint(b, product, g, false)
	right := mat.NewDense(m, size, nil)
	for i, v := range product {
		right.Set(i/size, i%size, float64(v))
	}
	r.z.Reset()
	r.z.Mul(r.vectors.T(), right)
	r.squares = make([]float64, m)
	for j := range r.squares {
		for k := range size {
			r.squares[j] += r.z.At(j, k) * r.z.At(j, k)
		}
	}
}

// weights returns u_e.
func weights(c *tt.Core, n int) []float64 {
	u := make([]float64, n)
	sum, squares := 0.0, 0.0
	for e := range u {
		u[e] = float64(c.Rows[e])
		sum += u[e]
		squares += u[e] * u[e]
	}
	for e := range u {
		u[e] *= sum / squares
	}
	return u
}

// search returns the ratio of the highest evidence, and its tau_v.
func (r *spectrum) search() (ratio, variance float64) {
	best := math.Inf(-1)
	for at := lowest; at <= highest; at *= factor {
		if evidence, v := r.evidence(at); evidence > best {
			best, ratio, variance = evidence, at, v
		}
	}
	return ratio, variance
}

// evidence returns the logarithm of the evidence at a ratio, up to a constant, and the tau_v
// that maximizes it.
func (r *spectrum) evidence(ratio float64) (evidence, variance float64) {
	rest, logs := r.square, 0.0
	for j, v := range r.values {
		rest -= r.squares[j] / (v + ratio)
		logs += math.Log1p(v / ratio)
	}
	count := r.entities * float64(r.size)
	variance = rest / count
	return -(count*math.Log(variance) + float64(r.size)*logs) / 2, variance
}

// set sets the weights of the regression and the free weights.
func (r *spectrum) set(b backend.Backend, c *tt.Core, ratio float64) {
	scaled := mat.DenseCopyOf(&r.z)
	for j, v := range r.values {
		for k := range r.size {
			scaled.Set(j, k, scaled.At(j, k)/(v+ratio))
		}
	}
	var w mat.Dense
	w.Mul(&r.vectors, scaled)
	for i := range c.Weight {
		c.Weight[i] = float32(w.At(i/r.size, i%r.size))
	}
	n := c.TrainedEntities() * r.size
	total := append([]float32(nil), c.Slices.Mean[:n]...)
	side := make([]float32, (c.Slices.N-1)*r.size)
	c.Map.Apply(b, side, c.Weight, false)
	for k, t := range side[:n] {
		c.Free[k] = total[k] - t
	}
	r.setUnseen(b, c, ratio)
	c.Refresh(b, true)
}

// leastRest bounds 1 - h_e from below: an entity that determines its regression alone says
// little about others.
const leastRest = 0.05

// setUnseen sets the variance of an entity without rows.
func (r *spectrum) setUnseen(b backend.Backend, c *tt.Core, ratio float64) {
	r.setLeverage(b, c, ratio)
	sum := make([]float64, r.size)
	for e, u := range r.weight {
		rest := max(1-r.leverage[e], leastRest)
		for k := range sum {
			at := e*r.size + k
			d := (float64(c.Free[at]) - c.FreePosterior.PriorMean) / rest
			sum[k] += u * (d*d + float64(c.FreePosterior.Var[at]))
		}
	}
	for k, v := range sum {
		c.FreePosterior.Unseen[k] = float32(v / r.entities)
	}
}

// blockRows is the number of entities whose leverages are computed together.
const blockRows = 512

// setLeverage computes the leverages at a ratio: the squares of the rows of
// A Q (values + ratio)^-1/2.
func (r *spectrum) setLeverage(b backend.Backend, c *tt.Core, ratio float64) {
	if r.leverage != nil && r.ratio == ratio {
		return
	}
	m := r.columns
	r.ratio, r.leverage = ratio, make([]float64, len(r.weight))
	scaled := make([]float32, m*m)
	for i := range m {
		for j, v := range r.values {
			scaled[i*m+j] = float32(r.vectors.At(i, j) / math.Sqrt(v+ratio))
		}
	}
	rows, turned := make([]float32, blockRows*m), make([]float32, blockRows*m)
	for from := 0; from < len(r.weight); from += blockRows {
		n := min(blockRows, len(r.weight)-from)
		for e := range n {
			copy(rows[e*m:], c.Map.Row(from+e))
		}
		b.Gemm(false, false, n, m, m, 1, rows, m, scaled, m, 0, turned, m)
		for e := range n {
			for _, t := range turned[e*m:][:m] {
				r.leverage[from+e] += float64(t) * float64(t)
			}
			r.leverage[from+e] *= r.weight[from+e]
		}
	}
}
