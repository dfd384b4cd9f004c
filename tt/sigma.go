package tt

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
)

// A Sigma is the covariance over the columns of one mode's operator: full over
// the leading ones, B B', independent over the rest. Columns are sorted by what
// the data says of them, so the leading ones are those that matter.
type Sigma struct {
	Lead   int       // columns with a full covariance
	Factor []float32 // B, Lead x Lead, lower triangle
	Diag   []float32 // variances of the other columns
}

// maxFull is the largest number of columns with a full covariance.
const maxFull = 512

// newSigmas returns zero covariances for a map. An operator that is the
// identity has independent columns in any case.
func (m *Map) newSigmas() []*Sigma {
	sigmas := make([]*Sigma, len(m.stages))
	for q, s := range m.stages {
		lead := min(s.columns, maxFull)
		if s.op == nil {
			lead = 0
		}
		sigmas[q] = &Sigma{Lead: lead, Factor: make([]float32, lead*lead), Diag: make([]float32, s.columns-lead)}
	}
	return sigmas
}

// Columns returns the number of columns.
func (s *Sigma) Columns() int { return s.Lead + len(s.Diag) }

// Trace returns tr Sigma.
func (s *Sigma) Trace() float64 {
	sum := 0.0
	for _, v := range s.Factor {
		sum += float64(v) * float64(v)
	}
	for _, v := range s.Diag {
		sum += float64(v)
	}
	return sum
}

// LogDet returns log det Sigma.
func (s *Sigma) LogDet() float64 {
	sum := 0.0
	for i := range s.Lead {
		sum += 2 * math.Log(math.Abs(float64(s.Factor[i*s.Lead+i])))
	}
	for _, v := range s.Diag {
		sum += math.Log(float64(v))
	}
	return sum
}

func traceOf(sigmas []*Sigma) float64 {
	product := 1.0
	for _, s := range sigmas {
		product *= s.Trace()
	}
	return product
}

// logDetOf returns log det of the Kronecker product: the sum of
// (m/m_q) log det Sigma_q, m the product of all m_q.
func logDetOf(sigmas []*Sigma) float64 {
	m := 1
	for _, s := range sigmas {
		m *= s.Columns()
	}
	sum := 0.0
	for _, s := range sigmas {
		sum += float64(m/s.Columns()) * s.LogDet()
	}
	return sum
}

// along returns a'Sigma a for a row a of the operator.
func (s *Sigma) along(a []float32) float64 {
	sum := 0.0
	for j := range s.Lead {
		dot := 0.0
		for i := j; i < s.Lead; i++ {
			dot += float64(a[i]) * float64(s.Factor[i*s.Lead+j])
		}
		sum += dot * dot
	}
	for k, v := range s.Diag {
		x := float64(a[s.Lead+k])
		sum += x * x * float64(v)
	}
	return sum
}

// along returns v_q(code) = a'Sigma_q a by code of a mode, for the codes that the
// map meets.
func (s *stage) along(b backend.Backend, sigma *Sigma) []float64 {
	if s.op == nil {
		v := make([]float64, len(sigma.Diag))
		for i, d := range sigma.Diag {
			v[i] = float64(d)
		}
		return v
	}
	v, a := make([]float64, s.op.Rows()), s.op.Matrix()
	var met []int32
	for _, code := range s.code {
		if v[code] == 0 {
			v[code] = 1 // noted
			met = append(met, code)
		}
	}
	backend.ParallelFor(b, len(met), func(i int) {
		code := int(met[i])
		v[code] = sigma.along(a[code*s.columns:][:s.columns])
	})
	return v
}

// entityCodes calls visit with the codes of each entity, whose number is its class
// in the first stage.
func (m *Map) entityCodes(visit func(e int, code func(q int) int32)) {
	at := make([]int32, len(m.stages))
	for e := range m.n {
		class := int32(e)
		for q := range m.stages {
			s := &m.stages[q]
			at[q] = s.code[class]
			class = s.parent[class]
		}
		visit(e, func(q int) int32 { return at[q] })
	}
}

// variances writes the variance of T at each entity, the same for all (a, b), to
// dst: the product over modes of v_q(code).
func (m *Map) variances(b backend.Backend, dst []float32, sigmas []*Sigma) {
	along := make([][]float64, len(m.stages))
	for q := range m.stages {
		along[q] = m.stages[q].along(b, sigmas[q])
	}
	m.entityCodes(func(e int, code func(q int) int32) {
		v := 1.0
		for q := range along {
			v *= along[q][code(q)]
		}
		row := dst[e*m.width:][:m.width]
		for k := range row {
			row[k] = float32(v)
		}
	})
}

// Solve sets Sigma of mode q to the optimum given the others: with curvature c
// of T in the form of slices, cbar its mean over (a, b), noise variance s2 and
// prior variance s2/lambda,
//
//	Sigma_q = s2 m' (lambda tr' I + A' diag(h) A)^-1,   h_i = sum of cbar_ij v'(j),
//
// where m', tr' and v' are the products of size, trace and variance along the
// row over the other modes. It costs n m^2 for the m columns of the operator.
func (m *Map) Solve(b backend.Backend, sigmas []*Sigma, q int, curvature []float32, lambda, noise float64) error {
	size, trace := noise, 1.0
	for p := range m.stages {
		if p != q {
			size *= float64(sigmas[p].Columns())
			trace *= sigmas[p].Trace()
		}
	}
	s, sigma := &m.stages[q], sigmas[q]
	h := m.toward(b, sigmas, q, curvature)
	ridge := lambda * trace
	if s.op == nil {
		for i, v := range h {
			sigma.Diag[i] = float32(size / (ridge + v))
		}
		return nil
	}
	a := s.op.Matrix()
	precision := make([]float64, sigma.Lead*sigma.Lead)
	backend.ParallelFor(b, sigma.Lead, func(i int) {
		row := precision[i*sigma.Lead:][:i+1]
		for code, w := range h {
			if w == 0 {
				continue
			}
			x := a[code*s.columns:][:s.columns]
			f := w * float64(x[i])
			for j := range row {
				row[j] += f * float64(x[j])
			}
		}
		row[i] += ridge
	})
	for k := range sigma.Diag {
		d := ridge
		for code, w := range h {
			x := float64(a[code*s.columns+sigma.Lead+k])
			d += w * x * x
		}
		sigma.Diag[k] = float32(size / d)
	}
	if !invertFactor(precision, sigma.Factor, sigma.Lead, math.Sqrt(size)) {
		return fmt.Errorf("tt: the precision over %d columns is not positive definite", sigma.Lead)
	}
	return nil
}

// invertFactor writes scale times a lower triangular B with B B' = P^-1 to dst,
// for the lower triangle of P, which it overwrites. With P reversed in both
// axes equal to L L', B is L^-1 transposed and reversed.
func invertFactor(p []float64, dst []float32, n int, scale float64) bool {
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			l[(n-1-j)*n+(n-1-i)] = p[i*n+j]
		}
	}
	if !cholesky.Factor(l, n) {
		return false
	}
	// Column j of L^-1, into the place of B: B[n-1-j][n-1-i] = L^-1[i][j].
	clear(dst[:n*n])
	column := make([]float64, n)
	for j := range n {
		clear(column)
		column[j] = 1 / l[j*n+j]
		for i := j + 1; i < n; i++ {
			s := 0.0
			for k := j; k < i; k++ {
				s -= l[i*n+k] * column[k]
			}
			column[i] = s / l[i*n+i]
		}
		for i := j; i < n; i++ {
			dst[(n-1-j)*n+(n-1-i)] = float32(scale * column[i])
		}
	}
	return true
}
