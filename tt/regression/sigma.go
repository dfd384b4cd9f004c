package regression

import (
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A Sigma is the covariance over the columns of the operator of one mode. It is
// full over the leading columns, B B', and diagonal over the rest. Columns are
// sorted by how much the data determine them, so the leading ones matter most.
type Sigma struct {
	Lead   int       // columns with a full covariance
	Factor []float32 // B, Lead x Lead, lower triangle
	Diag   []float32 // variances of the other columns
}

// maxFull is the largest number of columns with a full covariance.
const maxFull = 512

// NewSigmas returns zero covariances for a map. The columns of an identity operator
// are always independent.
func (m *LinearMap) NewSigmas() []*Sigma {
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

// Trace returns the trace of the Kronecker product.
func Trace(sigmas []*Sigma) float64 {
	product := 1.0
	for _, s := range sigmas {
		product *= s.Trace()
	}
	return product
}

// LogDet returns log det of the Kronecker product, which is the sum of
// (m/m_q) log det Sigma_q with m the product of all m_q.
func LogDet(sigmas []*Sigma) float64 {
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

// rowVariance returns a'Sigma a for a row a of the operator.
func (s *Sigma) rowVariance(a []float32) float64 {
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

// rowVariances returns v_q(code) = a'Sigma_q a by code of the mode. Codes that do
// not occur in the map have 0.
func (s *stage) rowVariances(b backend.Backend, sigma *Sigma) []float64 {
	if s.op == nil {
		v := make([]float64, len(sigma.Diag))
		for i, d := range sigma.Diag {
			v[i] = float64(d)
		}
		return v
	}
	v, a := make([]float64, s.op.Rows()), s.op.Matrix()
	var occurring []int32
	for _, code := range s.code {
		if v[code] == 0 {
			v[code] = 1 // marks the code as listed
			occurring = append(occurring, code)
		}
	}
	backend.ParallelFor(b, len(occurring), func(i int) {
		code := int(occurring[i])
		v[code] = sigma.rowVariance(a[code*s.columns:][:s.columns])
	})
	return v
}

// entityCodes calls visit with the codes of each entity. The number of an entity is
// its class in the first stage.
func (m *LinearMap) entityCodes(visit func(e int, code func(q int) int32)) {
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

// Variances writes the variance of T at each entity to dst. It is the product over
// modes of v_q(code) and the same for all entries (a, b) of a slice.
func (m *LinearMap) Variances(b backend.Backend, dst []float32, sigmas []*Sigma) {
	byCode := make([][]float64, len(m.stages))
	for q := range m.stages {
		byCode[q] = m.stages[q].rowVariances(b, sigmas[q])
	}
	m.entityCodes(func(e int, code func(q int) int32) {
		v := 1.0
		for q := range byCode {
			v *= byCode[q][code(q)]
		}
		row := dst[e*m.width:][:m.width]
		for k := range row {
			row[k] = float32(v)
		}
	})
}

// SolveSigma sets Sigma of mode q to the optimum given those of the other modes.
// With curvature c of T, laid out as slices, its mean cbar over (a, b), noise
// variance s2 and prior variance s2/lambda,
//
//	Sigma_q = s2 m' (lambda tr' I + A' diag(h) A)^-1,   h_i = sum of cbar_ij v'(j),
//
// where m', tr' and v' are the products of size, trace and row variance over the
// other modes. It costs n m^2 for the m columns of the operator.
func (m *LinearMap) SolveSigma(b backend.Backend, sigmas []*Sigma, q int, curvature []float32, lambda, noise float64) error {
	size, trace := noise, 1.0
	for p := range m.stages {
		if p != q {
			size *= float64(sigmas[p].Columns())
			trace *= sigmas[p].Trace()
		}
	}
	s, sigma := &m.stages[q], sigmas[q]
	h := m.sumByCode(b, sigmas, q, curvature)
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
		return fielderr.Errorf("side.columns", "tt: the precision over %d columns is not positive definite; use fewer columns", sigma.Lead)
	}
	return nil
}

// invertFactor writes scale times a lower triangular B with B B' = P^-1 to dst and
// reports whether P is positive definite. p holds the lower triangle of P. With P
// reversed in both axes equal to L L', B is L^-1 transposed and reversed.
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
	// Column j of L^-1 becomes a row of B: B[n-1-j][n-1-i] = L^-1[i][j].
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

// MultiplyFactor multiplies z, before x columns x after, by F along its middle axis.
func (s *Sigma) MultiplyFactor(z []float32, before, after int) {
	columns := s.Columns()
	for p := range before {
		block := z[p*columns*after:][:columns*after]
		for i := s.Lead - 1; i >= 0; i-- { // B is lower triangular; rows above still hold z
			row := block[i*after:][:after]
			for k := range row {
				row[k] *= s.Factor[i*s.Lead+i]
			}
			for j := range i {
				f := s.Factor[i*s.Lead+j]
				for k, v := range block[j*after:][:after] {
					row[k] += f * v
				}
			}
		}
		for i, v := range s.Diag {
			sd := float32(math.Sqrt(float64(v)))
			for k := range after {
				block[(s.Lead+i)*after+k] *= sd
			}
		}
	}
}
