// Package kerneltest is the conformance suite for kernels.
package kerneltest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Run tests a kernel that is bound to the given number of columns: text form,
// symmetry, positive semidefiniteness, Gram against At, derivatives against
// differences, and random features against Gram.
func Run(t *testing.T, b kernel.Backend, k kernel.Kernel, columns int) {
	t.Helper()
	x := points(40, columns, 1)
	z := points(23, columns, 2)
	copy(z.X[:columns], x.X[3*columns:]) // one pair at distance 0
	kernel.InitLengthScales(k, x, 1)
	separateParams(k)

	t.Run("text", func(t *testing.T) { text(t, k) })
	t.Run("parameters", func(t *testing.T) { parameters(t, k) })
	t.Run("symmetric", func(t *testing.T) { symmetric(t, b, k, x) })
	t.Run("positive semidefinite", func(t *testing.T) { positiveSemidefinite(t, k, x) })
	t.Run("gram", func(t *testing.T) { gram(t, b, k, x, z) })
	t.Run("derivatives", func(t *testing.T) { derivatives(t, b, k, x, z) })
	t.Run("spectrum", func(t *testing.T) { spectrum(t, b, k, x, z) })
	t.Run("spectrum derivatives", func(t *testing.T) { spectrumDerivatives(t, b, k, x) })
}

func points(n, columns int, seed uint64) kernel.Rows {
	random := randstream.New(seed, "kerneltest")
	r := kernel.Rows{N: n, C: columns, X: make([]float32, n*columns)}
	for i := range r.X {
		r.X[i] = float32(random.NormFloat64())
	}
	return r
}

// separateParams makes the parameters different from each other, so that mixing
// them up is detected.
func separateParams(k kernel.Kernel) {
	p := k.Params()
	for i := range p {
		p[i] += .3 * math.Sin(float64(i+1))
	}
	k.SetParams(p)
}

func toFloat64(r kernel.Rows, i int) []float64 {
	out := make([]float64, r.C)
	for c := range out {
		out[c] = float64(r.X[i*r.C+c])
	}
	return out
}

func text(t *testing.T, k kernel.Kernel) {
	again, err := kernel.Parse(k.String())
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != k.String() {
		t.Errorf("the text form %s parses as %s", k, again)
	}
}

func parameters(t *testing.T, k kernel.Kernel) {
	p := k.Params()
	if len(k.ParamNames()) != len(p) {
		t.Fatalf("got %d names, want %d, the number of parameters", len(k.ParamNames()), len(p))
	}
	c := k.Clone()
	for i := range p {
		p[i]++
	}
	before := k.Params()
	c.SetParams(p)
	for i := range p {
		if c.Params()[i] != p[i] || k.Params()[i] != before[i] {
			t.Errorf("parameter %d: the copy has %v, want %v; the original has %v, want %v", i, c.Params()[i], p[i], k.Params()[i], before[i])
		}
	}
}

func symmetric(t *testing.T, b kernel.Backend, k kernel.Kernel, x kernel.Rows) {
	g := make([]float32, x.N*x.N)
	kernel.Gram(b, g, k, x, x)
	for i := range x.N {
		if d := k.At(toFloat64(x, i), toFloat64(x, i)); math.Abs(d-k.Diagonal()) > 1e-12 || math.Abs(float64(g[i*x.N+i])-d) > 1e-6 {
			t.Errorf("row %d: k(x,x) is %v by At, %v by Gram, %v by Diagonal", i, d, g[i*x.N+i], k.Diagonal())
		}
		for j := range i {
			if u, v := k.At(toFloat64(x, i), toFloat64(x, j)), k.At(toFloat64(x, j), toFloat64(x, i)); u != v {
				t.Errorf("k is not symmetric at rows %d and %d: %v and %v", i, j, u, v)
			}
			if u, v := g[i*x.N+j], g[j*x.N+i]; math.Abs(float64(u-v)) > 1e-6 {
				t.Errorf("the Gram matrix is not symmetric at %d, %d: %v and %v", i, j, u, v)
			}
		}
	}
}

func positiveSemidefinite(t *testing.T, k kernel.Kernel, x kernel.Rows) {
	g := mat.NewSymDense(x.N, nil)
	for i := range x.N {
		for j := range i + 1 {
			g.SetSym(i, j, k.At(toFloat64(x, i), toFloat64(x, j)))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(g, false) {
		t.Fatal("the eigenvalue decomposition failed")
	}
	if least := eigen.Values(nil)[0]; least < -1e-10 {
		t.Errorf("smallest eigenvalue is %g, want at least -1e-10", least)
	}
}

func gram(t *testing.T, b kernel.Backend, k kernel.Kernel, x, z kernel.Rows) {
	g := make([]float32, x.N*z.N)
	kernel.Gram(b, g, k, x, z)
	for i := range x.N {
		for j := range z.N {
			if want := k.At(toFloat64(x, i), toFloat64(z, j)); math.Abs(float64(g[i*z.N+j])-want) > 5e-6 {
				t.Errorf("k at %d, %d is %v, want %v", i, j, g[i*z.N+j], want)
			}
		}
	}
}

// differences returns the derivative of value with respect to each parameter,
// by central differences.
func differences(k kernel.Kernel, h float64, value func() float64) []float64 {
	p := k.Params()
	out := make([]float64, len(p))
	for i := range p {
		old := p[i]
		p[i] = old + h
		k.SetParams(p)
		up := value()
		p[i] = old - h
		k.SetParams(p)
		out[i] = (up - value()) / (2 * h)
		p[i] = old
	}
	k.SetParams(p)
	return out
}

func compare(t *testing.T, k kernel.Kernel, got, want []float64, tolerance float64) {
	t.Helper()
	scale := 1.0 // gradients are sums of hundreds of entries of size 1
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i, name := range k.ParamNames() {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Errorf("%s: derivative is %v, want %v by differences", name, got[i], want[i])
		}
	}
}

func derivatives(t *testing.T, b kernel.Backend, k kernel.Kernel, x, z kernel.Rows) {
	grad := points(x.N, z.N, 3)
	want := differences(k, 1e-5, func() float64 {
		sum := 0.0
		for i := range x.N {
			for j := range z.N {
				sum += float64(grad.X[i*z.N+j]) * k.At(toFloat64(x, i), toFloat64(z, j))
			}
		}
		return sum
	})
	compare(t, k, kernel.ParamGradient(b, k, grad.X, x, z), want, 1e-4)
}

// spectrum checks the error of the features. The error of a mean of F bounded
// waves is at most about 1/sqrt(F) per pair; over all pairs the root mean
// square must be within twice that.
func spectrum(t *testing.T, b kernel.Backend, k kernel.Kernel, x, z kernel.Rows) {
	last := math.Inf(1)
	for _, features := range []int{100, 5000} {
		s := kernel.SampleSpectrum(k, features, randstream.New(4, "kerneltest spectrum"))
		m := s.Columns()
		p, q := make([]float32, x.N*m), make([]float32, z.N*m)
		s.Features(b, p, m, x)
		s.Features(b, q, m, z)
		square := 0.0
		for i := range x.N {
			if norm := dot(p[i*m:(i+1)*m], p[i*m:(i+1)*m]); math.Abs(norm-k.Diagonal()) > 1e-4 {
				t.Errorf("|phi|^2 of row %d is %v, want %v", i, norm, k.Diagonal())
			}
			for j := range z.N {
				d := dot(p[i*m:(i+1)*m], q[j*m:(j+1)*m]) - k.At(toFloat64(x, i), toFloat64(z, j))
				square += d * d / float64(x.N*z.N)
			}
		}
		rms := math.Sqrt(square)
		if limit := 2 * k.Diagonal() / math.Sqrt(float64(m)/2); rms > limit && rms > 1e-6 {
			t.Errorf("the error of %d features is %v, want at most %v", m, rms, limit)
		}
		if rms > last/2 && rms > 1e-6 {
			t.Errorf("fifty times the features: the error is %v, want at most half of %v", rms, last)
		}
		last = rms
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func spectrumDerivatives(t *testing.T, b kernel.Backend, k kernel.Kernel, x kernel.Rows) {
	// Differences are inaccurate for the highest frequencies of a heavy-tailed
	// density, so these are clipped. The derivative of a wave has the same form
	// for all frequencies.
	frequencies := kernel.SampleSpectrum(k, 24, randstream.New(5, "kerneltest spectrum")).Frequencies()
	for i, w := range frequencies {
		frequencies[i] = max(-5, min(w, 5))
	}
	s, err := kernel.RestoreSpectrum(k, 24, frequencies)
	if err != nil {
		t.Fatal(err)
	}
	m := s.Columns()
	grad, phi := points(x.N, m, 6), make([]float32, x.N*m)
	want := differences(k, 1e-3, func() float64 {
		s.Features(b, phi, m, x)
		return dot(grad.X, phi)
	})
	compare(t, k, s.ParamGradient(b, grad.X, m, x), want, 1e-3)
	if _, err := kernel.RestoreSpectrum(k, 30, s.Frequencies()); err == nil && len(s.Frequencies()) > 0 {
		t.Error("frequencies for 24 features were accepted for 30")
	}
}
