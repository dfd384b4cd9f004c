package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

type distribution interface {
	LogProb(y, f float64) float64
	Mean(f float64) float64
	Var(f float64) float64
	CDF(y, f float64) float64
	Draw(rng *rand.Rand, f float64) float64
}

var distributions = []distribution{
	Poisson{}, NegativeBinomial{0.1}, NegativeBinomial{1}, NegativeBinomial{7.5}, NegativeBinomial{1e3}, NegativeBinomial{1e6},
	ZeroInflated{Zero: 0.3, Size: 2}, ZeroInflated{Zero: 0.01, Size: 1e6},
	Hurdle{Size: 1, Slope: 1}, Hurdle{Size: 0.3, Shift: -1, Slope: 0.5}, Hurdle{Size: 40, Shift: 1, Slope: 2},
}

// TestProbabilitiesSum compares sums of probabilities with the distribution
// function and with the moments.
func TestProbabilitiesSum(t *testing.T) {
	t.Parallel()
	for _, d := range distributions {
		for _, f := range []float64{-3, 0, 2, 6} {
			var sum, first, second float64
			mean, variance := d.Mean(f), d.Var(f)
			most := mean + 14*math.Sqrt(variance) + 30*variance/mean // the tail is like that of a gamma variable
			what := fmt.Sprintf("%T%v f %g", d, d, f)
			worst := 0.0
			for y := 0.0; y <= most; y++ {
				p := math.Exp(d.LogProb(y, f))
				sum += p
				first += p * y
				second += p * y * y
				if y < 50 || int(y)%97 == 0 {
					worst = max(worst, math.Abs(d.CDF(y, f)-sum))
				}
			}
			near(t, what+" distribution function", worst, 0, 1e-9)
			near(t, what+" total", sum, 1, 1e-8)
			near(t, what+" mean", first/mean, 1, 1e-6)
			near(t, what+" variance", (second-first*first)/variance, 1, 1e-4)
		}
	}
}

// TestSpecialFunctions compares with an independent implementation, including
// large arguments.
func TestSpecialFunctions(t *testing.T) {
	t.Parallel()
	for _, a := range []float64{1, 2, 17, 400, 1e4, 1e6} {
		for _, x := range []float64{1e-3, 0.4, 0.9, 0.99, 1, 1.01, 1.1, 2, 5} {
			near(t, fmt.Sprintf("Q(%g, %g)", a, a*x), upperGamma(a, a*x), mathext.GammaIncRegComp(a, a*x), 1e-8)
		}
	}
	for _, a := range []float64{0.05, 1, 6.5, 300, 1e5} {
		for _, b := range []float64{1, 2, 30, 5000, 1e6} {
			for _, x := range []float64{1e-4, 0.1, a / (a + b), 0.6, 0.95} {
				near(t, fmt.Sprintf("I(%g, %g, %g)", a, b, x), incompleteBeta(a, b, (1-x)/x), mathext.RegIncBeta(a, b, x), 1e-8)
			}
		}
	}
	for _, x := range []float64{1e-3, 0.2, 1, 3.7, 7.99, 8, 55, 1e7} {
		near(t, fmt.Sprintf("digamma(%g)", x), digamma(x), mathext.Digamma(x), 1e-10*max(1, math.Abs(mathext.Digamma(x))))
		near(t, fmt.Sprintf("trigamma(%g)", x), trigamma(x)/mathext.Zeta(2, x), 1, 1e-10)
	}
	const euler = 0.57721566490153286
	near(t, "digamma(1)", digamma(1), -euler, 1e-13)
	near(t, "digamma(1/2)", digamma(0.5), -euler-2*math.Ln2, 1e-13)
	near(t, "trigamma(1)", trigamma(1), math.Pi*math.Pi/6, 1e-13)
	for _, r := range []float64{0.5, 31.9, 32.1, 1e3} {
		for _, y := range []float64{0, 1, 50, 1e4} {
			near(t, fmt.Sprintf("rising %g %g", r, y), logRising(r, y), logGamma(r+y)-logGamma(r), 1e-10*(1+logGamma(r+y)))
		}
	}
}

func TestDrawsHaveTheMomentsAndQuantiles(t *testing.T) {
	t.Parallel()
	const draws = 40000
	for k, d := range distributions {
		for _, f := range []float64{-1, 1.5, 2.31, 6, 14, 25} { // 2.31 is just above the change of method
			rng := randstream.New(5, "draws", uint64(k))
			mean, variance := d.Mean(f), d.Var(f)
			var first, second, below float64
			middle := math.Floor(mean)
			share := d.CDF(middle, min(f, 14))
			for range draws {
				y := d.Draw(rng, f)
				if y < 0 || y != math.Floor(y) {
					t.Fatalf("%T: drew %g, want a non-negative integer", d, y)
				}
				first += y - mean
				second += (y - mean) * (y - mean)
				if y <= middle {
					below++
				}
			}
			what := fmt.Sprintf("%T%v f %g", d, d, f)
			near(t, what+" mean", first/draws/math.Sqrt(variance), 0, 5/math.Sqrt(draws))
			excess := 3.0 // ratio of the fourth moment to the squared variance, for the error of the variance
			if n, ok := d.(NegativeBinomial); ok {
				excess += 6/n.Size + 1/variance
			} else {
				excess += 1 / variance
			}
			if z, ok := d.(interface{ Base() NegativeBinomial }); ok { // of the counts above 0, which are a share of all
				excess = (excess + 6/z.Base().Size) / (1 - d.CDF(0, f))
			}
			near(t, what+" variance", second/draws/variance, 1, 5*math.Sqrt(excess/draws))
			if f <= 14 {
				near(t, what+" share below the mean", below/draws, share, 2.5/math.Sqrt(draws))
			}
		}
	}
}

// TestDrawsHaveTheDistribution bounds the largest distance of the empirical
// distribution of the draws from the true one, for rates drawn by rejection,
// where moments alone would not detect a wrong constant.
func TestDrawsHaveTheDistribution(t *testing.T) {
	t.Parallel()
	const draws = 300000
	for _, rate := range []float64{10.5, 40} {
		rng := randstream.New(7, "distribution")
		counts := make([]float64, 200)
		for range draws {
			counts[int(drawPoisson(rng, rate))]++
		}
		worst, sum := 0.0, 0.0
		for y, n := range counts {
			sum += n / draws
			worst = max(worst, math.Abs(sum-Poisson{}.CDF(float64(y), math.Log(rate))))
		}
		near(t, fmt.Sprint("rate ", rate), worst, 0, 1.95/math.Sqrt(draws)) // Kolmogorov, 1 in 1000
	}
}

func TestExtremesStayFinite(t *testing.T) {
	t.Parallel()
	for _, d := range distributions {
		for _, f := range []float64{-1e5, -200, 39, 200, 1e5} {
			for _, x := range []float64{d.Mean(f), d.Var(f), d.CDF(0, f), d.Draw(randstream.New(1, "extreme"), f), d.LogProb(2, f)} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("%T%v: got %g at f %g, want a finite number", d, d, x, f)
				}
			}
		}
		if got := d.CDF(-1, 0); got != 0 {
			t.Errorf("%T: P(Y <= -1) = %g, want 0", d, got)
		}
	}
}
