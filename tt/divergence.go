package tt

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// activeRows returns the number of entities (free weights) or rows (regressions)
// of the block, and a function that reports whether a row holds weights of the
// model. Entities without training data do not.
func (c *Core) activeRows(b *Block) (rows int, active func(row int) bool) {
	if b.Map != nil {
		return b.Map.Rows(), func(int) bool { return true }
	}
	return c.Slices.N - 1, c.trained
}

// sumPiece is the number of rows per partial sum. It is fixed so that sums do not
// depend on the number of threads.
const sumPiece = 64

// rowSums are the sums over the active rows of a block.
type rowSums struct {
	moment float64 // of E (w - mu)^2
	other  float64 // of what the caller adds
	rows   float64 // their number
}

// sumRows returns the sums of a block in one loop. add may be nil.
func (c *Core) sumRows(be backend.Backend, b *Block, add func(row int) float64) (sums rowSums) {
	const width = 3
	rows, active := c.activeRows(b)
	mean, size := b.Posterior.PriorMean, c.Slices.Slice()
	pieces := backend.Pieces(be, (rows+sumPiece-1)/sumPiece, width, func(i int, dst []float64) {
		for row := i * sumPiece; row < min(rows, (i+1)*sumPiece); row++ {
			if !active(row) {
				continue
			}
			s := 0.0
			for k, m := range b.Value[row*size:][:size] {
				d := float64(m) - mean
				s += d * d
				if b.Posterior.Var != nil {
					s += float64(b.Posterior.Var[row*size+k])
				}
			}
			dst[0] += s
			if add != nil {
				dst[1] += add(row)
			}
			dst[2]++
		}
	})
	for ; len(pieces) > 0; pieces = pieces[width:] {
		sums.moment += pieces[0]
		sums.other += pieces[1]
		sums.rows += pieces[2]
	}
	return sums
}

// SecondMoment returns the mean of E (w - mu)^2 over the weights of a block, with
// mu the prior mean, and the number of weights. This is the prior variance that
// maximises the evidence bound.
func (c *Core) SecondMoment(be backend.Backend, b *Block) (moment float64, weights int) {
	return c.secondMoment(b, c.sumRows(be, b, nil))
}

// secondMoment returns the results of SecondMoment for given sums.
func (c *Core) secondMoment(b *Block, sums rowSums) (moment float64, weights int) {
	size := c.Slices.Slice()
	if b.Posterior.Sigma != nil {
		sums.moment += float64(size) * regression.Trace(b.Posterior.Sigma)
	}
	weights = int(sums.rows) * size
	return sums.moment / float64(max(1, weights)), weights
}

// Divergence returns the Kullback-Leibler divergence of the posterior of a block
// from its prior. An independent weight of mean m and variance s contributes
//
//	1/2 ((m - mu)^2/tau + s/tau - 1 - log(s/tau)),
//
// an entity with an r x r covariance C
//
//	1/2 (|m - mu|^2/tau + tr C/tau - r - log det(C/tau)),
//
// and a regression of R pairs (a, b) with one covariance Sigma over its m rows
//
//	1/2 (sum |m_ab|^2/tau + R (tr Sigma/tau - m + m log tau - log det Sigma)).
//
// A core along time has that of its paths.
func (c *Core) Divergence(be backend.Backend, b *Block) float64 {
	if b.Along != nil {
		return b.Along.Divergence()
	}
	size, tau := c.Slices.Slice(), float64(b.Posterior.PriorVar[0])
	var logs func(row int) float64
	switch {
	case b.Posterior.Sigma != nil:
	case b.Posterior.Cov != nil:
		logs = func(e int) float64 { return logDet(b.Posterior.Cov[e*size*size:][:size*size], size) }
	default:
		logs = func(row int) float64 { return sumLogs(b.Posterior.Var[row*size:][:size]) }
	}
	sums := c.sumRows(be, b, logs)
	moment, weights := c.secondMoment(b, sums)
	total := float64(weights)*(moment/tau-1+math.Log(tau)) - sums.other
	if b.Posterior.Sigma != nil {
		total -= float64(size) * regression.LogDet(b.Posterior.Sigma)
	}
	return total / 2
}

// sumLogs returns the sum of the logarithms of values, of which 0 counts as the smallest number above it. The
// product of six such values is a float64 above 0 whatever they are, and has one logarithm.
func sumLogs(values []float32) (sum float64) {
	for len(values) > 0 {
		product, n := 1.0, min(6, len(values))
		for _, v := range values[:n] {
			product *= max(float64(v), math.SmallestNonzeroFloat32)
		}
		sum, values = sum+math.Log(product), values[n:]
	}
	return sum
}

// logDet returns log det of a positive definite matrix. A pivot that is lost in rounding counts
// as the rounding of its diagonal element.
func logDet(a []float32, n int) float64 {
	const rounding = 1.0 / (1 << 24) // of float32
	l := make([]float64, n*n)
	semidefiniteCholesky(l, a, n)
	sum := 0.0
	for i := range n {
		sum += math.Log(max(l[i*n+i]*l[i*n+i], rounding*float64(a[i*n+i]), math.SmallestNonzeroFloat32))
	}
	return sum
}

// semidefiniteCholesky writes the lower triangular L with L L' = a to l. A pivot that is
// not positive gives a column of zeros.
func semidefiniteCholesky(l []float64, a []float32, n int) {
	for j := range n {
		d := float64(a[j*n+j])
		for _, v := range l[j*n:][:j] {
			d -= v * v
		}
		scale := 0.0
		if d > 0 {
			d = math.Sqrt(d)
			scale = 1 / d
		} else {
			d = 0
		}
		l[j*n+j] = d
		for i := j + 1; i < n; i++ {
			s := float64(a[i*n+j])
			for k, v := range l[j*n:][:j] {
				s -= v * l[i*n+k]
			}
			l[i*n+j] = s * scale
		}
	}
}
