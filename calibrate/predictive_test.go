package calibrate

import (
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/stream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// skewLayer is a law far from normal: skewed and too wide.
func skewLaw(t testing.TB, n int) *Law {
	t.Helper()
	rng := stream.New(3, "skew")
	z := make([]float64, n)
	for i := range z {
		z[i] = 1.3*(rng.ExpFloat64()-1) + 0.4*rng.NormFloat64()
	}
	l, err := FitSplit(z)
	if err != nil {
		t.Fatal(err)
	}
	return l.pool
}

type named struct {
	name string
	p    Predictive
}

func cases(t testing.TB) []named {
	base := []named{
		{"identity", Gaussian(Identity, 3, 0.5, 2)},
		{"log1p", Gaussian(Log1p, 2, 0.1, 0.4)},
		{"log1p wide", Gaussian(Log1p, 1, 0.9, 0.6)},
		{"sqrt", Gaussian(Sqrt, 4, 0.3, 0.7)},
		{"sqrt near zero", Gaussian(Sqrt, 0.3, 0.4, 0.3)},
		{"cbrt1p", Gaussian(Cbrt1p, 3, 0.3, 0.7)},
		{"cbrt1p far from its least", Gaussian(Cbrt1p, 6, 0.2, 0.3)},
		{"cbrt1p near its least", Gaussian(Cbrt1p, 0.3, 0.4, 0.3)},
		{"poisson", Count(likelihood.Poisson{}, 1.5, 0.2)},
		{"poisson large", Count(likelihood.Poisson{}, 6, 0.3)},
		{"poisson known", Count(likelihood.Poisson{}, 2, 0)},
		{"negative binomial", Count(likelihood.NegativeBinomial{Size: 1.5}, 2, 0.3)},
		{"negative binomial large", Count(likelihood.NegativeBinomial{Size: 3}, 5.5, 0.2)},
	}
	law := skewLaw(t, 3000)
	all := slices.Clone(base)
	for _, c := range base {
		all = append(all, named{c.name + " with layer", c.p.With(law)})
	}
	return all
}

// hardCounts have spreads and means at the ends of what a model gives.
func hardCounts() []named {
	return []named{
		{"poisson unsure", Count(likelihood.Poisson{}, 2, 4)},
		{"negative binomial unsure", Count(likelihood.NegativeBinomial{Size: 0.3}, 3, 2)},
		{"poisson of thousands", Count(likelihood.Poisson{}, 9, 0.01)},
		{"poisson of nothing", Count(likelihood.Poisson{}, -40, 0.5)},
		{"poisson known, large", Count(likelihood.Poisson{}, 8, 0)},
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %g, want %g within %g", what, got, want, tolerance)
	}
}

func TestQuantilesInvertTheCDFAndNeverCross(t *testing.T) {
	rng := stream.New(1, "levels")
	for _, c := range cases(t) {
		levels := []float64{1e-6, 1e-4, .05, .25, .5, .75, .95, 1 - 1e-4}
		for range 60 {
			levels = append(levels, rng.Float64())
		}
		slices.Sort(levels)
		q := make([]float64, len(levels))
		c.p.Quantiles(q, levels)
		for i, level := range levels {
			if q[i] != c.p.Quantile(level) {
				t.Fatalf("%s: Quantiles and Quantile differ at %g: %g, %g", c.name, level, q[i], c.p.Quantile(level))
			}
			if i > 0 && q[i] < q[i-1] {
				t.Errorf("%s: quantile %g is %g, quantile %g is %g", c.name, levels[i-1], q[i-1], level, q[i])
			}
			below, upto := c.p.levels(q[i])
			if !(below <= level+1e-6 && upto >= level-1e-6) {
				t.Errorf("%s: quantile %g is %g, whose levels are %g to %g", c.name, level, q[i], below, upto)
			}
			mass := c.p.count != nil || q[i] == c.p.transform.least() || c.p.law.n > 0
			if !mass && math.Abs(upto-below) > 1e-12 {
				t.Errorf("%s: %g has a mass of its own", c.name, q[i])
			}
		}
	}
}

func TestQuantilesNeverCrossForRandomPredictives(t *testing.T) {
	rng := stream.New(2, "random")
	laws := []*Law{nil, skewLaw(t, 19), skewLaw(t, 200), skewLaw(t, 5000)}
	for range 2000 {
		m, model, noise := 3*rng.NormFloat64(), rng.ExpFloat64(), rng.ExpFloat64()
		law := laws[rng.IntN(len(laws))]
		a, b := rng.Float64(), rng.Float64()
		a, b = min(a, b), max(a, b)
		for _, p := range []Predictive{
			Gaussian(Identity, m, model, noise), Gaussian(Log1p, m, model, noise), Gaussian(Sqrt, m, model, noise),
			Gaussian(Cbrt1p, m, model, noise),
		} {
			p = p.With(law)
			if low, high := p.Quantile(a), p.Quantile(b); low > high {
				t.Fatalf("%v m %g: quantile %g is %g, quantile %g is %g", p.transform, m, a, low, b, high)
			}
		}
	}
}

// TestDrawsAgree holds every summary against draws of the same distribution.
func TestDrawsAgree(t *testing.T) {
	for _, c := range cases(t) {
		n := 200000
		if c.p.count != nil {
			n = 600 // a draw is a quantile, with a grid of its own
		}
		rng := stream.New(5, "draws")
		y := make([]float64, n)
		var sum, squares float64
		for i := range y {
			y[i] = c.p.Draw(rng)
			sum += y[i]
		}
		mean := sum / float64(n)
		var fourth float64
		for _, v := range y {
			d := v - mean
			squares += d * d
			fourth += d * d * d * d
		}
		variance := squares / float64(n)
		root := math.Sqrt(float64(n))
		if c.p.law.n == 0 { // a layer leaves the mean as it is
			near(t, c.name+" mean", c.p.Mean(), mean, 4*math.Sqrt(variance)/root)
		}
		// The standard error of the variance, from the draws themselves.
		errVar := math.Sqrt(max(fourth/float64(n)-variance*variance, 0)) / root
		near(t, c.name+" variance", c.p.SD()*c.p.SD(), variance, 5*errVar)
		slices.Sort(y)
		for _, level := range []float64{.05, .5, .9} {
			q := c.p.Quantile(level)
			upto := sharesUpTo(y, q)
			below := sharesUpTo(y, math.Nextafter(q, math.Inf(-1)))
			bound := 4 * math.Sqrt(level*(1-level)) / root
			if upto < level-bound || below > level+bound {
				t.Errorf("%s: the quantile %g is %g, draws below are %g to %g", c.name, level, q, below, upto)
			}
		}
		near(t, c.name+" median", c.p.Median(), c.p.Quantile(.5), 0)
	}
}

func sharesUpTo(sorted []float64, y float64) float64 {
	k, _ := slices.BinarySearch(sorted, math.Nextafter(y, math.Inf(1)))
	return float64(k) / float64(len(sorted))
}

// TestVarianceSplit draws f and the value given f, so that the split is that of
// its definition.
func TestVarianceSplit(t *testing.T) {
	for _, c := range cases(t) {
		p := c.p
		near(t, c.name+" total", p.SDModel()*p.SDModel()+p.SDNoise()*p.SDNoise(), p.SD()*p.SD(), 1e-9*p.SD()*p.SD())
		if p.law.n > 0 {
			plain := p.With(nil)
			near(t, c.name+" share", p.SDModel()/p.SD(), plain.SDModel()/plain.SD(), 1e-9)
			continue
		}
		if p.count != nil {
			// Closed forms of the log link.
			mean := math.Exp(p.m + p.model/2)
			near(t, c.name+" mean", p.Mean(), mean, 1e-7*mean)
			near(t, c.name+" model", p.SDModel()*p.SDModel(), mean*mean*math.Expm1(p.model), 1e-6*mean*mean)
			continue
		}
		rng := stream.New(7, "split")
		const n = 200000
		var sum, squares, within float64
		for range n {
			f := p.m + math.Sqrt(p.model)*rng.NormFloat64()
			e := math.Sqrt(p.noise)
			a := p.transform.Inverse(f + e*rng.NormFloat64())
			b := p.transform.Inverse(f + e*rng.NormFloat64())
			// Two values with one f: their covariance is Var E[y|f].
			sum += a + b
			squares += a * b
			within += (a - b) * (a - b) / 2
		}
		mean := sum / (2 * n)
		total := p.SD() * p.SD()
		near(t, c.name+" model", p.SDModel()*p.SDModel(), squares/n-mean*mean, 0.05*total)
		near(t, c.name+" noise", p.SDNoise()*p.SDNoise(), within/n, 0.05*total)
	}
}

func TestDensityIsTheSlopeOfTheCDF(t *testing.T) {
	for _, c := range append(cases(t), hardCounts()...) {
		if c.p.count != nil {
			for y := 0.0; y < 10000; y = math.Ceil(1.3*y + 0.1) {
				below, upto := c.p.levels(y)
				near(t, c.name+" probability", c.p.Density(y), upto-below, 5e-4*(upto-below)+3e-6)
			}
			continue
		}
		// The integral of the density, over the middle 98 %. A layer's density
		// is smoothed, so it is near only.
		low, high := c.p.Quantile(.01), c.p.Quantile(.99)
		const n = 20000
		sum := 0.0
		for i := range n {
			sum += c.p.Density(low + (high-low)*(float64(i)+0.5)/n)
		}
		want, tolerance := c.p.CDF(high)-c.p.CDF(low), 1e-4
		if c.p.law.n > 0 {
			tolerance = 0.03
		}
		switch least := c.p.transform.least(); {
		case low != least:
		case c.p.transform == Sqrt:
			tolerance += 4e-3 // the density has a pole at the least value
		default:
			tolerance += 0.02 // and a higher one
		}
		near(t, c.name+" integral", sum*(high-low)/n, want, tolerance)
		near(t, c.name+" log", math.Exp(c.p.LogDensity(low+1)), c.p.Density(low+1), 1e-12)
	}
	if got := Gaussian(Sqrt, .3, .4, .3).Density(0); math.Abs(got-normalCDF(-.3/math.Sqrt(.7))) > 1e-12 {
		t.Errorf("the mass at 0 is %g", got)
	}
	if got := Gaussian(Cbrt1p, 100, 1, 1).LogDensity(-1); math.Abs(got+2505.2) > 0.1 { // -100^2/4 - log(sqrt(2 pi) 100/sqrt 2)
		t.Errorf("the mass at -1, far away, has the logarithm %g", got)
	}
	if !math.IsInf(Gaussian(Log1p, 1, 1, 1).LogDensity(-1), -1) {
		t.Error("-1 has a density on the log1p scale")
	}
}

func TestMixtureAgainstBruteForce(t *testing.T) {
	for _, c := range append(cases(t), hardCounts()...) {
		p := c.p
		if p.count == nil || p.law.n > 0 {
			continue
		}
		brute := func(y float64) float64 {
			const n = 4000
			sum, total := 0.0, 0.0
			for i := range n {
				z := -8 + 16*(float64(i)+0.5)/n
				w := normalDensity(z)
				total += w
				sum += w * p.count.CDF(y, p.m+p.sd*z)
			}
			return sum / total
		}
		var g countGrid
		p.fillGrid(&g)
		for k := 0; k < g.n; k += 1 + g.n/12 {
			want := brute(g.y[k])
			tolerance := 1e-6
			if g.y[k] >= denseCounts {
				tolerance = 1e-4 // between anchors
			}
			near(t, c.name+" grid", g.level[k], want, tolerance)
			near(t, c.name+" CDF", p.CDF(g.y[k]), want, 1e-6)
		}
	}
}

func BenchmarkQuantiles(b *testing.B) {
	for _, c := range cases(b) {
		b.Run(c.name, func(b *testing.B) {
			q := make([]float64, 5)
			for b.Loop() {
				c.p.Quantiles(q, PinballLevels[:])
			}
		})
	}
}

// Far from the least value no digits cancel, and without noise there is none.
func TestMomentsOfRoots(t *testing.T) {
	for _, transform := range []Transform{Sqrt, Cbrt1p} {
		far := Gaussian(transform, 1e4, 1e-10, 1e-10).Moments()
		slope := transform.inverseDerivative(1e4)
		near(t, transform.String()+" far: sd", far.SD/slope, math.Sqrt(2e-10), 1e-9)
		near(t, transform.String()+" far: model", far.SDModel/far.SDNoise, 1, 1e-6)
		for _, m := range []float64{-5, 1, 50} {
			if got := Gaussian(transform, m, 0.3, 0).SDNoise(); got != 0 {
				t.Errorf("%v at %g: noise of sd %g where there is none", transform, m, got)
			}
		}
	}
}
