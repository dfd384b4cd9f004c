package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// monomial is a weighted product of base kernels: one term of the expanded
// kernel. Its weight is the product of the listed parameters.
type monomial struct {
	weights []int // indices of parameters in Params
	factors []placedBase
}

type placedBase struct {
	*base
	offset int // index of its first parameter
}

func (constant) expand(int) []monomial { return []monomial{{}} }

func (k *base) expand(offset int) []monomial {
	return []monomial{{factors: []placedBase{{k, offset}}}}
}

func (k *sum) expand(offset int) (all []monomial) {
	at := offset + len(k.parts)
	for t, part := range k.parts {
		for _, m := range part.expand(at) {
			m.weights = append(slices.Clone(m.weights), offset+t)
			all = append(all, m)
		}
		at += len(part.Params())
	}
	return all
}

func (k *product) expand(offset int) []monomial {
	all := []monomial{{}}
	for _, part := range k.parts {
		var next []monomial
		for _, left := range all {
			for _, right := range part.expand(offset) {
				next = append(next, monomial{
					weights: slices.Concat(left.weights, right.weights),
					factors: slices.Concat(left.factors, right.factors),
				})
			}
		}
		all = next
		offset += len(part.Params())
	}
	return all
}

// maxConstants is more than the number of constant terms of any kernel in use.
const maxConstants = 1000

// expandedTerms returns the number of terms of the expanded kernel, which is exponential
// in the length of a product of sums.
func expandedTerms(k Kernel) float64 {
	switch k := k.(type) {
	case *sum:
		n := 0.0
		for _, part := range k.parts {
			n += expandedTerms(part)
		}
		return n
	case *product:
		n := 1.0
		for _, part := range k.parts {
			n *= expandedTerms(part)
		}
		return n
	}
	return 1
}

// Spectrum is a sample of a kernel's spectral density: random Fourier features
//
//	phi(x) = sqrt(weight/F) [cos(w_1'x) .. cos(w_F'x), sin(w_1'x) .. sin(w_F'x)]
//
// for each term of the expanded kernel, so that phi(x)'phi(z) converges to k(x,
// z) and |phi(x)|^2 = k(x, x) exactly. Frequencies are drawn for length-scale 1
// and divided by the current length-scales of the kernel, so that features
// follow its parameters.
type Spectrum struct {
	k     Kernel
	terms []spectralTerm
}

type spectralTerm struct {
	monomial
	count       int         // F; 0 for a constant term, whose only feature is sqrt(weight)
	frequencies [][]float32 // for length-scale 1, by factor, F x width
}

// SampleSpectrum draws about features/2 frequencies, divided evenly between the
// terms of the kernel. The sample follows later changes of k's parameters.
//
// RBF: w = z/l with z standard normal. Matern nu: w = (z/l) sqrt(2 nu/chi2),
// with one chi-square variable of 2 nu degrees of freedom per vector. Periodic:
// RBF frequencies of the points (cos, sin). Product: the sum of independent
// frequencies.
func SampleSpectrum(k Kernel, features int, random *rand.Rand) *Spectrum {
	s := layout(k, features)
	for _, t := range s.terms {
		for f, p := range t.factors {
			w := p.width()
			for i := range t.count {
				p.form.frequency(t.frequencies[f][i*w:(i+1)*w], random)
			}
		}
	}
	return s
}

// frequency draws one vector for length-scale 1.
func (f *form) frequency(dst []float32, random *rand.Rand) {
	scale := 1.0
	if f.order > 0 {
		chi2 := 0.0
		for range f.order {
			z := random.NormFloat64()
			chi2 += z * z
		}
		scale = math.Sqrt(float64(f.order) / chi2)
	}
	for i := range dst {
		dst[i] = float32(scale * random.NormFloat64())
	}
}

// layout returns a spectrum with zero frequencies.
func layout(k Kernel, features int) *Spectrum {
	s := plan(k, features)
	for i := range s.terms {
		t := &s.terms[i]
		for _, p := range t.factors {
			t.frequencies = append(t.frequencies, make([]float32, t.count*p.width()))
		}
	}
	return s
}

// plan returns a spectrum without memory for its frequencies.
func plan(k Kernel, features int) *Spectrum {
	s := &Spectrum{k: k}
	waves := 0
	terms := k.expand(0)
	for _, m := range terms {
		if len(m.factors) > 0 {
			waves++
		}
	}
	frequencies, at := features/2, 0
	for _, m := range terms {
		t := spectralTerm{monomial: m}
		if len(m.factors) > 0 {
			t.count = max(1, frequencies*(at+1)/waves-frequencies*at/waves)
			at++
		}
		for _, p := range m.factors {
			p.mustBeBound()
		}
		s.terms = append(s.terms, t)
	}
	return s
}

// Frequencies returns all frequencies for length-scale 1, for storage.
func (s *Spectrum) Frequencies() []float32 {
	var all []float32
	for _, t := range s.terms {
		for _, u := range t.frequencies {
			all = append(all, u...)
		}
	}
	return all
}

// RestoreSpectrum returns the spectrum that SampleSpectrum made for a kernel
// with the same text form and the same number of features.
func RestoreSpectrum(k Kernel, features int, frequencies []float32) (*Spectrum, error) {
	// The stored data may be damaged: never allocate more than it holds.
	tooFew := func() (*Spectrum, error) {
		return nil, fmt.Errorf("kernel %s: got %d frequencies, too few for %d features", k, len(frequencies), features)
	}
	if features < 0 || len(k.bases()) > 0 && features/2 > len(frequencies) || expandedTerms(k) > float64(len(frequencies)+maxConstants) {
		return tooFew()
	}
	needed := 0
	for _, t := range plan(k, features).terms {
		for _, p := range t.factors {
			if needed += t.count * p.width(); needed > len(frequencies) {
				return tooFew()
			}
		}
	}
	s := layout(k, features)
	rest := frequencies
	for _, t := range s.terms {
		for _, u := range t.frequencies {
			if len(rest) < len(u) {
				return tooFew()
			}
			copy(u, rest)
			rest = rest[len(u):]
		}
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("kernel %s: got %d frequencies, too many for %d features", k, len(frequencies), features)
	}
	return s, nil
}

// Columns returns the number of features.
func (s *Spectrum) Columns() int {
	n := 0
	for _, t := range s.terms {
		n += t.columns()
	}
	return n
}

func (t *spectralTerm) columns() int { return max(1, 2*t.count) }

// scale returns sqrt(weight/F).
func (t *spectralTerm) scale(params []float64) float64 {
	log := 0.0
	for _, w := range t.weights {
		log += params[w]
	}
	return math.Exp(log/2) / math.Sqrt(float64(max(1, t.count)))
}

// Features writes phi(x) for each row to dst, with stride columns from one row
// to the next. A chunk takes O(x.N (C + Columns)) memory; the cost is x.N C
// Columns/2 multiply-adds.
func (s *Spectrum) Features(b Backend, dst []float32, stride int, x Rows) {
	x.check("rows")
	if stride < s.Columns() || x.N > 0 && len(dst) < (x.N-1)*stride+s.Columns() {
		panic(fmt.Sprintf("kernel: Features: %d features of %d rows do not fit %d values with stride %d", s.Columns(), x.N, len(dst), stride))
	}
	e := newEngine(b)
	params := s.k.Params()
	for from, step := 0, chunk(s.Columns()); from < x.N; from += step {
		part := x.part(from, min(from+step, x.N))
		column := 0
		for i := range s.terms {
			t := &s.terms[i]
			scale := float32(t.scale(params))
			angle, _ := t.angles(e, part)
			e.forEachScratch(part.N, t.count, func(r int, scratch []float32) {
				row := dst[(from+r)*stride+column:][:t.columns()]
				if t.count == 0 {
					row[0] = scale
					return
				}
				a := angle[r*t.count : (r+1)*t.count]
				e.cosSin(row[:t.count], row[t.count:], a, scratch)
				for c := range row {
					row[c] *= scale
				}
			})
			column += t.columns()
		}
	}
}

// cosSin writes the cosines and sines of the angles.
func (e *engine) cosSin(cos, sin, angle, scratch []float32) {
	if e.cos == nil {
		for i, a := range angle {
			s, c := math.Sincos(float64(a))
			cos[i], sin[i] = float32(c), float32(s)
		}
		return
	}
	e.cos(cos, angle)
	for i, a := range angle {
		scratch[i] = a - math.Pi/2
	}
	e.cos(sin, scratch)
}

// angles returns w'x for the rows of a chunk, rows x F, and the scaled
// coordinates of each factor.
func (t *spectralTerm) angles(e *engine, x Rows) (angle []float32, coordinates [][]float32) {
	angle = make([]float32, x.N*t.count)
	for f, p := range t.factors {
		inv, w := p.inverse(), p.width()
		at := make([]float32, x.N*w)
		e.forEach(x.N, func(i int) {
			embed(p.base, at[i*w:(i+1)*w], x.X[i*x.C:(i+1)*x.C], inv)
		})
		coordinates = append(coordinates, at)
		if w == 0 || x.N == 0 {
			continue
		}
		e.Gemm(false, true, x.N, t.count, w, 1, at, w, t.frequencies[f], w, min(1, float32(f)), angle, t.count)
	}
	return angle, coordinates
}

// ParamGradient returns the derivative of sum_i grad_i'phi(x_i) with respect to
// each parameter of the kernel. grad has stride columns from one row to the
// next.
func (s *Spectrum) ParamGradient(b Backend, grad []float32, stride int, x Rows) []float64 {
	x.check("rows")
	e := newEngine(b)
	params := s.k.Params()
	out := make([]float64, len(params))
	for from, step := 0, chunk(s.Columns()); from < x.N; from += step {
		part := x.part(from, min(from+step, x.N))
		column := 0
		for i := range s.terms {
			t := &s.terms[i]
			t.addGradient(e, out, grad[from*stride+column:], stride, part, t.scale(params))
			column += t.columns()
		}
	}
	return out
}

// addGradient uses that the derivative of the angle with respect to log l_c is
// -w_c x_c/l_c, so that with H = scale (g_cos sin - g_sin cos) the derivative
// is sum_f w_fc (H'x)_fc.
func (t *spectralTerm) addGradient(e *engine, out []float64, grad []float32, stride int, x Rows, scale float64) {
	if t.count == 0 {
		total := 0.0
		for r := range x.N {
			total += scale * float64(grad[r*stride])
		}
		for _, w := range t.weights {
			out[w] += total / 2
		}
		return
	}
	angle, coordinates := t.angles(e, x)
	sums := make([]float64, x.N)
	e.forEachScratch(x.N, 3*t.count, func(r int, scratch []float32) {
		a, g := angle[r*t.count:(r+1)*t.count], grad[r*stride:][:2*t.count]
		cos, sin := scratch[:t.count], scratch[t.count:2*t.count]
		e.cosSin(cos, sin, a, scratch[2*t.count:])
		for f := range a {
			sums[r] += float64(g[f]*cos[f]) + float64(g[t.count+f]*sin[f])
			a[f] = float32(scale) * (g[f]*sin[f] - g[t.count+f]*cos[f])
		}
	})
	total := 0.0
	for _, v := range sums {
		total += v
	}
	for _, w := range t.weights {
		out[w] += scale * total / 2
	}
	for f, p := range t.factors {
		w := p.width()
		mixed := make([]float32, t.count*w)
		e.Gemm(true, false, t.count, w, x.N, 1, angle, t.count, coordinates[f], w, 0, mixed, w)
		for i, m := range mixed {
			out[p.offset+p.parameter(i%w)] += float64(m) * float64(t.frequencies[f][i])
		}
	}
}
