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

// sumRows returns the sum of add over the active rows.
func sumRows(b backend.Backend, rows int, active func(int) bool, add func(row int) float64) float64 {
	pieces := backend.Pieces(b, (rows+sumPiece-1)/sumPiece, 1, func(i int, dst []float64) {
		for row := i * sumPiece; row < min(rows, (i+1)*sumPiece); row++ {
			if active(row) {
				dst[0] += add(row)
			}
		}
	})
	total := 0.0
	for _, v := range pieces {
		total += v
	}
	return total
}

// SecondMoment returns the mean of E (w - mu)^2 over the weights of a block, with
// mu the prior mean, and the number of weights. This is the prior variance that
// maximises the evidence bound.
func (c *Core) SecondMoment(be backend.Backend, b *Block) (moment float64, weights int) {
	mean := b.Posterior.PriorMean
	size := c.Slices.Slice()
	rows, active := c.activeRows(b)
	count := rows
	if b.Map == nil {
		count = c.TrainedEntities()
	}
	sum := sumRows(be, rows, active, func(row int) float64 {
		s := 0.0
		for k, m := range b.Value[row*size:][:size] {
			d := float64(m) - mean
			s += d * d
			if b.Posterior.Var != nil {
				s += float64(b.Posterior.Var[row*size+k])
			}
		}
		return s
	})
	if b.Posterior.Sigma != nil {
		sum += float64(size) * regression.Trace(b.Posterior.Sigma)
	}
	return sum / float64(max(1, count*size)), count * size
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
	moment, weights := c.SecondMoment(be, b)
	total := float64(weights) * (moment/tau - 1 + math.Log(tau))
	switch {
	case b.Posterior.Sigma != nil:
		total -= float64(size) * regression.LogDet(b.Posterior.Sigma)
	case b.Posterior.Cov != nil:
		rows, active := c.activeRows(b)
		total -= sumRows(be, rows, active, func(e int) float64 { return logDet(b.Posterior.Cov[e*size*size:][:size*size], size) })
	default:
		rows, active := c.activeRows(b)
		total -= sumRows(be, rows, active, func(row int) float64 {
			return sumLogs(b.Posterior.Var[row*size:][:size])
		})
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
