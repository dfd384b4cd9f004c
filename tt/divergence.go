package tt

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
)

// activeRows returns the number of entities (free weights) or rows (regressions)
// of the block, and which of them are weights of the model: not the prior's
// slice, nor entities without training data.
func (c *Core) activeRows(b *Block) (rows int, is func(row int) bool) {
	if b.Map != nil {
		return b.Map.Rows(), func(int) bool { return true }
	}
	return c.Slices.N - 1, c.trained
}

// sumPiece is how many rows one summand of a long sum covers, so that sums do
// not depend on the number of threads.
const sumPiece = 64

func sumRows(b backend.Backend, rows int, is func(int) bool, add func(row int) float64) float64 {
	pieces := make([]float64, (rows+sumPiece-1)/sumPiece)
	backend.ParallelFor(b, len(pieces), func(i int) {
		for row := i * sumPiece; row < min(rows, (i+1)*sumPiece); row++ {
			if is(row) {
				pieces[i] += add(row)
			}
		}
	})
	total := 0.0
	for _, v := range pieces {
		total += v
	}
	return total
}

// SecondMoment returns the mean of E (w - mu)^2 over the weights of a block, mu
// the prior's mean: the prior variance of largest evidence. It also returns
// their number.
func (c *Core) SecondMoment(be backend.Backend, b *Block) (moment float64, weights int) {
	mean := b.Spread.PriorMean
	size := c.Slices.Slice()
	rows, is := c.activeRows(b)
	count := 0
	for row := range rows {
		if is(row) {
			count++
		}
	}
	sum := sumRows(be, rows, is, func(row int) float64 {
		s := 0.0
		for k, m := range b.Value[row*size:][:size] {
			d := float64(m) - mean
			s += d * d
			if b.Spread.Var != nil {
				s += float64(b.Spread.Var[row*size+k])
			}
		}
		return s
	})
	if b.Spread.Sigma != nil {
		sum += float64(size) * traceOf(b.Spread.Sigma)
	}
	return sum / float64(max(1, count*size)), count * size
}

// Divergence returns the Kullback-Leibler divergence of a block's posterior
// from its prior. Independent weights of mean m and variance s pay
//
//	1/2 ((m - mu)^2/tau + s/tau - 1 - log(s/tau)),
//
// entities with a covariance C of rank r
//
//	1/2 (|m - mu|^2/tau + tr C/tau - r - log det(C/tau)),
//
// and a regression of R pairs (a, b) with one covariance Sigma over its m rows
//
//	1/2 (sum |m_ab|^2/tau + R (tr Sigma/tau - m + m log tau - log det Sigma)).
func (c *Core) Divergence(be backend.Backend, b *Block) float64 {
	size, tau := c.Slices.Slice(), float64(b.Spread.PriorVar[0])
	moment, weights := c.SecondMoment(be, b)
	total := float64(weights) * (moment/tau - 1 + math.Log(tau))
	switch {
	case b.Spread.Sigma != nil:
		total -= float64(size) * logDetOf(b.Spread.Sigma)
	case b.Spread.Cov != nil:
		rows, is := c.activeRows(b)
		total -= sumRows(be, rows, is, func(e int) float64 { return logDet(b.Spread.Cov[e*size*size:][:size*size], size) })
	default:
		rows, is := c.activeRows(b)
		total -= sumRows(be, rows, is, func(row int) float64 {
			s := 0.0
			for _, v := range b.Spread.Var[row*size:][:size] {
				s += math.Log(float64(v))
			}
			return s
		})
	}
	return total / 2
}

// logDet returns log det of a positive definite matrix.
func logDet(a []float32, n int) float64 {
	l := make([]float64, n*n)
	if !semiCholesky(l, a, n) {
		return math.Inf(-1)
	}
	sum := 0.0
	for i := range n {
		sum += 2 * math.Log(l[i*n+i])
	}
	return sum
}

// semiCholesky writes the lower triangle L with L L' = a to l and reports whether a
// was positive definite; columns of zeros stand where it was not.
func semiCholesky(l []float64, a []float32, n int) bool {
	definite := true
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
			d, definite = 0, false
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
	return definite
}
