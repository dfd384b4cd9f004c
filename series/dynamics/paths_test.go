package dynamics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/series"
)

// problem is a core of two entries over the steps 0 to 9, in another order, of which
// some have no data.
type problem struct {
	steps      []int32
	mean       []float32
	linear     []float64 // g
	quadratic  []float64 // H
	noise      float64
	covariance func(k int, s, t int32) float64
}

const entries = 2

func newProblem(seed uint64) (*problem, *Paths) {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &problem{steps: []int32{3, 0, 1, 9, 2, 7, 6}, noise: 0.3}
	n := len(p.steps)
	p.mean, p.linear, p.quadratic = make([]float32, n*entries), make([]float64, n*entries), make([]float64, n*entries*entries)
	for e := range n {
		for i := range entries {
			p.mean[e*entries+i] = float32(rng.NormFloat64())
			p.linear[e*entries+i] = rng.NormFloat64() * 3
		}
		if p.steps[e] == 7 || p.steps[e] == 9 {
			for i := range entries {
				p.linear[e*entries+i] = 0
			}
			continue // no data
		}
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		copy(p.quadratic[e*4:], []float64{a*a + b*b + .1, b * c, b * c, c*c + .1})
	}
	paths := New(series.Prior{Level: 1, Walk: .1, AR: .5, Phi: .7}, p.steps, entries)
	paths.setPrior(1, series.Prior{Level: .5, Walk: .02, AR: 1, Phi: .4})
	p.covariance = func(k int, s, t int32) float64 {
		q := paths.PriorOf(k)
		return q.Level + q.Walk*float64(min(s, t)) + q.AR*math.Pow(q.Phi, math.Abs(float64(s-t)))
	}
	return p, paths
}

func (p *problem) equations(variance []float32) Equations {
	gradient := make([]float32, len(p.mean))
	for e := range p.steps {
		for i := range entries {
			g := p.linear[e*entries+i]
			for j := range entries {
				g -= p.quadratic[(e*entries+i)*entries+j] * float64(p.mean[e*entries+j])
			}
			gradient[e*entries+i] = float32(g)
		}
	}
	return Equations{Mean: p.mean, Variance: variance, Gradient: gradient, Noise: p.noise, Curvature: func(e, i, j int) float64 {
		return p.quadratic[(e*entries+i)*entries+j]
	}}
}

// inverse returns the inverse of a positive definite matrix and the logarithm of its
// determinant.
func inverse(a [][]float64) ([][]float64, float64) {
	n, logDet := len(a), 0.0
	m := make([][]float64, n)
	for i := range m {
		m[i] = append(slices.Clone(a[i]), make([]float64, n)...)
		m[i][n+i] = 1
	}
	for i := range m {
		d := m[i][i]
		logDet += math.Log(d)
		for k := range m[i] {
			m[i][k] /= d
		}
		for j := range m {
			if f := m[j][i]; j != i {
				for k := range m[j] {
					m[j][k] -= f * m[i][k]
				}
			}
		}
	}
	for i := range m {
		m[i] = m[i][n:]
	}
	return m, logDet
}

func zeros(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	return m
}

// Means are those of the joint posterior, variances those of each entry given the others,
// as dense matrices give them; so are forecasts and the divergence.
func TestUpdateAgainstDenseSolve(t *testing.T) {
	t.Parallel()
	p, paths := newProblem(1)
	n := len(p.steps)
	variance := make([]float32, n*entries)
	for range 30 {
		paths.Update(p.equations(variance), false)
	}
	joint, right := zeros(n*entries), make([]float64, n*entries)
	own := make([][][]float64, entries) // posterior covariance of an entry given the others
	divergence := 0.0
	var priors [][][]float64
	for k := range entries {
		prior := zeros(n)
		for s := range n {
			for u := range n {
				prior[s][u] = p.covariance(k, p.steps[s], p.steps[u])
			}
		}
		precision, logDet := inverse(prior)
		priors = append(priors, precision)
		divergence += logDet - float64(n)
		conditional := zeros(n)
		for s := range n {
			for u := range n {
				joint[s*entries+k][u*entries+k] = precision[s][u]
				conditional[s][u] = precision[s][u]
			}
			conditional[s][s] += p.quadratic[(s*entries+k)*entries+k] / p.noise
		}
		var logPrecision float64
		own[k], logPrecision = inverse(conditional)
		divergence += logPrecision
	}
	for s := range n {
		for i := range entries {
			right[s*entries+i] = p.linear[s*entries+i] / p.noise
			for j := range entries {
				joint[s*entries+i][s*entries+j] += p.quadratic[(s*entries+i)*entries+j] / p.noise
			}
		}
	}
	covariance, _ := inverse(joint)
	want := make([]float64, n*entries)
	for i, row := range covariance {
		for j, v := range row {
			want[i] += v * right[j]
		}
		if math.Abs(float64(p.mean[i])-want[i]) > 1e-4 {
			t.Errorf("mean %d: got %g, want %g", i, p.mean[i], want[i])
		}
		if v := own[i%entries][i/entries][i/entries]; math.Abs(float64(variance[i])-v) > 1e-4*v {
			t.Errorf("variance %d: got %g, want %g", i, variance[i], v)
		}
	}
	for k := range entries {
		for s := range n {
			for u := range n {
				divergence += priors[k][s][u] * (own[k][u][s] + want[s*entries+k]*want[u*entries+k])
			}
		}
	}
	if got := paths.Divergence(); math.Abs(got-divergence/2) > 1e-3*divergence {
		t.Errorf("got the divergence %g, want %g", got, divergence/2)
	}
	// Forecasts: E x(f) = c'K^-1 m, Var x(f) = v - c'K^-1 c + c'K^-1 S K^-1 c.
	future := []int32{12, 4}
	mean, spread := make([]float32, 2*entries), make([]float32, 2*entries)
	paths.At(future, mean, spread)
	for i, f := range future {
		for k := range entries {
			weights := make([]float64, n) // c'K^-1
			for s := range n {
				for u := range n {
					weights[s] += priors[k][s][u] * p.covariance(k, f, p.steps[u])
				}
			}
			m, v := 0.0, p.covariance(k, f, f)
			for s := range n {
				m += weights[s] * want[s*entries+k]
				v -= weights[s] * p.covariance(k, f, p.steps[s])
				for u := range n {
					v += weights[s] * weights[u] * own[k][s][u]
				}
			}
			if at := i*entries + k; math.Abs(float64(mean[at])-m) > 1e-4 || math.Abs(float64(spread[at])-v) > 1e-4*v {
				t.Errorf("step %d, entry %d: got %g and %g, want %g and %g", f, k, mean[at], spread[at], m, v)
			}
		}
	}
}

// The bound, up to a constant, does not fall when priors are learned as well.
func TestUpdateDoesNotLowerBound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		p, paths := newProblem(seed)
		variance := make([]float32, len(p.mean))
		last := math.Inf(-1)
		for i := range 12 {
			paths.Update(p.equations(variance), i > 0)
			bound := -paths.Divergence()
			for e := range p.steps {
				for a := range entries {
					m := float64(p.mean[e*entries+a])
					h := p.quadratic[(e*entries+a)*entries:]
					bound += (p.linear[e*entries+a]*m - h[a]*float64(variance[e*entries+a])/2) / p.noise
					for b := range entries {
						bound -= h[b] * m * float64(p.mean[e*entries+b]) / 2 / p.noise
					}
				}
			}
			if bound < last-1e-3 {
				t.Errorf("seed %d, update %d: the bound falls from %g to %g", seed, i, last, bound)
			}
			last = bound
		}
	}
}

// Draws have mean and variance of the posterior, and a path does not depend on the steps
// that are asked for.
func TestDraw(t *testing.T) {
	t.Parallel()
	p, paths := newProblem(3)
	paths.Update(p.equations(nil), false)
	steps := []int32{11, 2}
	mean, variance := make([]float32, 4), make([]float32, 4)
	paths.At(steps, mean, variance)
	const draws = 4000
	sum, square := make([]float64, 4), make([]float64, 4)
	x := make([]float32, 4)
	for i := range uint64(draws) {
		stream := func(k int) *rand.Rand { return rand.New(rand.NewPCG(i, uint64(k))) }
		paths.Draw(stream, 1, steps, x)
		for j, v := range x {
			d := float64(v - mean[j])
			sum[j] += d
			square[j] += d * d
		}
		if i == 0 {
			more := make([]float32, 8)
			paths.Draw(stream, 1, []int32{5, 11, 20, 2}, more)
			for j, v := range append(more[2:4:4], more[6:]...) {
				if math.Abs(float64(v-x[j])) > 1e-5 {
					t.Errorf("got %g with more steps, %g without", v, x[j])
				}
			}
		}
	}
	for j, v := range variance {
		if m, s := sum[j]/draws, square[j]/draws; math.Abs(m) > 4*math.Sqrt(float64(v)/draws) || math.Abs(s/float64(v)-1) > .1 {
			t.Errorf("entry %d: deviations have the mean %g and the variance %g, want 0 and %g", j, m, s, v)
		}
	}
}

// Scaled slices have scaled forecasts and the same divergence; removed entries leave the
// others as they are.
func TestScaleAndKeep(t *testing.T) {
	t.Parallel()
	p, paths := newProblem(2)
	paths.Update(p.equations(nil), false)
	at := func() (m, v []float32) {
		m, v = make([]float32, paths.Entries()), make([]float32, paths.Entries())
		paths.At([]int32{14}, m, v)
		return m, v
	}
	divergence := paths.Divergence()
	m, v := at()
	paths.Scale(3)
	scaled, spread := at()
	if math.Abs(float64(scaled[1]/m[1])-3) > 1e-4 || math.Abs(float64(spread[1]/v[1])-9) > 1e-3 || math.Abs(paths.Divergence()/divergence-1) > 1e-4 {
		t.Errorf("got %g and %g, %g and %g, divergence %g and %g", scaled, m, spread, v, paths.Divergence(), divergence)
	}
	paths.Keep([]int{1})
	if kept, _ := at(); len(kept) != 1 || kept[0] != scaled[1] {
		t.Errorf("got %g, want %g", kept, scaled[1:])
	}
	if err := paths.Check(1); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	for name, spoil := range map[string]func(p *Paths){
		"value":     func(p *Paths) { p.Value[1] = nan },
		"precision": func(p *Paths) { p.Precision[0] = -1 },
		"step":      func(p *Paths) { p.Step[1] = p.Step[0] },
		"phi":       func(p *Paths) { p.Learned[3] = 1 },
		"variance":  func(p *Paths) { p.Learned[0] = nan },
		"length":    func(p *Paths) { p.Value = p.Value[1:] },
		"learned":   func(p *Paths) { p.Learned = p.Learned[1:] },
		"period":    func(p *Paths) { p.Prior.Seasons = []series.Season{{Period: 1, Harmonics: 1}} },
	} {
		_, paths := newProblem(1)
		if err := paths.Check(entries); err != nil {
			t.Fatal(err)
		}
		spoil(paths)
		if err := paths.Check(entries); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}
