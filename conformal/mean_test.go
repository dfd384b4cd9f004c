package conformal

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// drawMeans returns n predictions, log-normal in size, with skewed values whose mean is
// truth(prediction).
func drawMeans(rng *rand.Rand, n int, truth func(float64) float64) (predicted, actual []float64) {
	for range n {
		p := math.Exp(1.5 + 0.9*rng.NormFloat64())
		predicted = append(predicted, p)
		actual = append(actual, truth(p)*math.Exp(0.8*rng.NormFloat64()-0.32))
	}
	return predicted, actual
}

// biased is too large for small predictions and too small for large ones, like a mean
// after the inverse of a transform.
func biased(p float64) float64 { return p * (0.85 + 0.25*p/(p+5)) }

// TestMeanCurveRemovesBias: the totals of ten groups by size, which the predictions miss
// by up to 13 %, are right after the correction.
func TestMeanCurveRemovesBias(t *testing.T) {
	t.Parallel()
	const seeds = 10
	var before, after, want [10]float64
	for seed := range uint64(seeds) {
		rng := randstream.New(seed, "bias")
		curve := meanCurve(mustDraw(drawMeans(rng, 20_000, biased)))
		for k := range 10 {
			for range 200 {
				p := math.Exp(1.5 + 0.9*normalQuantile((float64(k)+rng.Float64())/10))
				before[k] += p
				after[k] += curve.At(p)
				want[k] += biased(p)
			}
		}
	}
	worst := 0.0
	for k := range want {
		worst = max(worst, math.Abs(before[k]/want[k]-1))
		if r := after[k] / want[k]; math.Abs(r-1) > 0.03 {
			t.Errorf("decile %d: got predicted / actual %.3f (before: %.3f), want 1 +- 0.03", k+1, r, before[k]/want[k])
		}
	}
	if worst < 0.1 {
		t.Errorf("got a bias of at most %.3f before the correction, want a test with more", worst)
	}
}

func mustDraw(predicted, actual []float64) (p, a, w []float64) { return predicted, actual, nil }

func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Without a bias, the factors are far closer to 1 than the ratios of the single bins,
// whose standard errors are .094, .094 and .042.
func TestMeanCurveWithoutBias(t *testing.T) {
	t.Parallel()
	for n, most := range map[int]float64{100: 0.09, 1000: 0.06, 20_000: 0.02} {
		squares, count := 0.0, 0
		for seed := range uint64(20) {
			c := meanCurve(mustDraw(drawMeans(randstream.New(seed, "unbiased"), n, func(p float64) float64 { return p })))
			predicted, corrected := c.Knots()
			for i, p := range predicted {
				squares += (corrected[i]/p - 1) * (corrected[i]/p - 1)
				count++
			}
		}
		if got := math.Sqrt(squares / float64(count)); got > most {
			t.Errorf("%d rows: the factors deviate from 1 by %.3f on average, want at most %g", n, got, most)
		}
	}
}

// TestMeanCurveOfFewRows checks that the correction that few rows give to predictions without bias adds less than half of what their mean
// error would add.
func TestMeanCurveOfFewRows(t *testing.T) {
	t.Parallel()
	const tables, n = 200, 250
	added := 0.0
	for seed := range uint64(tables) {
		rng := randstream.New(seed, "few")
		var predicted, actual []float64
		for range n {
			p := 0.3 * rng.NormFloat64()
			predicted, actual = append(predicted, p), append(actual, p+rng.NormFloat64())
		}
		curve := meanCurve(predicted, actual, nil)
		for _, p := range predicted {
			added += (curve.At(p) - p) * (curve.At(p) - p) / n / tables
		}
	}
	if added > 0.5/n {
		t.Errorf("got an added error of %.2f / n, want less than 0.5 / n", added*n)
	}
}

// The corrected mean never decreases, also where the actual values do.
func TestMeanCurveIsMonotone(t *testing.T) {
	t.Parallel()
	for name, truth := range map[string]func(float64) float64{
		"decreasing": func(p float64) float64 { return 10 / (1 + p) },
		"waves":      func(p float64) float64 { return p * (1 + 0.5*math.Sin(5*p)) },
		"zero":       func(float64) float64 { return 0 },
		"signed":     func(p float64) float64 { return 5 - p },
	} {
		c := meanCurve(mustDraw(drawMeans(randstream.New(1, "monotone"), 4000, truth)))
		before := math.Inf(-1)
		for p := -1.0; p < 100; p += 0.01 {
			v := c.At(p)
			if !(v >= before-1e-12) {
				t.Errorf("%s: got %g at %g after %g", name, v, p, before)
				break
			}
			before = v
		}
	}
}

// Values below zero are corrected by shifts.
func TestMeanCurveOfSignedTarget(t *testing.T) {
	t.Parallel()
	rng := randstream.New(3, "signed")
	var predicted, actual []float64
	for range 20_000 {
		p := 2 * rng.NormFloat64()
		predicted, actual = append(predicted, p), append(actual, 0.3+0.8*p+rng.NormFloat64())
	}
	c := NewMeanCurve(nil, 2, predicted, actual, nil)
	if !c.Signed() {
		t.Fatal("got factors, want shifts")
	}
	for _, p := range []float64{-3, -1, 0, 1, 3} {
		if got, want := c.At(p), 0.3+0.8*p; math.Abs(got-want) > 0.1 {
			t.Errorf("got %.3f at %g, want %.3f", got, p, want)
		}
	}
}

// Weights count as repeated rows, and rows of weight 0 not at all.
func TestMeanCurveWeights(t *testing.T) {
	t.Parallel()
	predicted, actual := drawMeans(randstream.New(5, "weights"), 2000, biased)
	weight := make([]float64, 2000)
	for i := range weight {
		weight[i] = 1
	}
	plain := NewMeanCurve(nil, 2, predicted, actual, nil)
	for _, p := range []float64{math.NaN(), 3, 1e6} {
		predicted, actual, weight = append(predicted, p), append(actual, -100), append(weight, 0)
	}
	weighted := NewMeanCurve(nil, 2, predicted, actual, weight)
	for _, p := range []float64{0.5, 3, 50} {
		if got, want := weighted.At(p), plain.At(p); got != want {
			t.Errorf("got %g at %g, want %g", got, p, want)
		}
	}
}

// Rows from which nothing can be learned give no correction, and never a panic.
func TestMeanCurveOfUnusableRows(t *testing.T) {
	t.Parallel()
	same := func(v float64, n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = v
		}
		return out
	}
	for name, c := range map[string]*predictive.MeanCurve{
		"no rows":              NewMeanCurve(nil, 2, nil, nil, nil),
		"few rows":             NewMeanCurve(nil, 2, same(1, 99), same(2, 99), nil),
		"negative predictions": NewMeanCurve(nil, 2, same(-1, 300), same(2, 300), nil),
		"zero predictions":     NewMeanCurve(nil, 2, same(0, 300), same(2, 300), nil),
		"infinite predictions": NewMeanCurve(nil, 2, same(math.Inf(1), 300), same(2, 300), nil),
		"huge predictions":     NewMeanCurve(nil, 2, same(1e308, 300), same(2, 300), nil),
	} {
		if c != nil {
			t.Errorf("%s: got %v, want none", name, c)
		}
	}
	if c := NewMeanCurve(nil, 2, same(2, 300), same(2.5, 300), nil); math.Abs(c.At(2)-2.5) > 1e-3 {
		t.Errorf("one prediction: got %g, want 2.5", c.At(2))
	}
	if c := NewMeanCurve(nil, 2, same(-2, 300), same(-2.5, 300), nil); math.Abs(c.At(-2)+2.5) > 1e-3 {
		t.Errorf("one negative prediction: got %g, want -2.5", c.At(-2))
	}
}

func meanCurve(predicted, actual, weight []float64) *predictive.MeanCurve {
	return NewMeanCurve(nil, 2, predicted, actual, weight)
}
