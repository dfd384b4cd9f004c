package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

var testModes = []string{"store", "time"}

// drawRows returns distributions, one count in five, and observations of them.
func drawRows(n int) ([]predictive.Distribution, []Observation) {
	rng := randstream.New(9, "rows")
	var distributions []predictive.Distribution
	var observations []Observation
	for i := range n {
		d := predictive.Gaussian(targetscale.Log1p, 1+rng.Float64(), 0.1, 0.3)
		if i%5 == 0 {
			d = predictive.CountMixture(likelihood.Poisson{}, 1+rng.Float64(), 0.1)
		}
		distributions = append(distributions, d)
		observations = append(observations, Observation{Y: math.Floor(max(d.Draw(rng), 0)), Weight: 0.5 + rng.Float64(), Index: uint64(i),
			Entities: []int32{int32(rng.IntN(4)), int32(i % 3)}, Seen: rng.IntN(20)})
	}
	return distributions, observations
}

func TestMergeEqualsOnePass(t *testing.T) {
	t.Parallel()
	distributions, observations := drawRows(900)
	one, merged := NewCalibrationSums(2, 3), NewCalibrationSums(2, 3)
	for from := 0; from < len(observations); from += 250 {
		piece := NewCalibrationSums(2, 3)
		for i := from; i < min(from+250, len(observations)); i++ {
			piece.Add(distributions[i], observations[i])
			one.Add(distributions[i], observations[i])
		}
		merged.Merge(piece)
	}
	compareNumbers(t, reflect.ValueOf(merged.Calibration(testModes, .5)), reflect.ValueOf(one.Calibration(testModes, .5)))
}

// compareNumbers compares two values of the same type, numbers to within rounding.
func compareNumbers(t *testing.T, got, want reflect.Value) {
	t.Helper()
	switch got.Kind() {
	case reflect.Struct:
		for i := range got.NumField() {
			compareNumbers(t, got.Field(i), want.Field(i))
		}
	case reflect.Slice:
		if got.Len() != want.Len() {
			t.Fatalf("got %d entries, want %d", got.Len(), want.Len())
		}
		for i := range got.Len() {
			compareNumbers(t, got.Index(i), want.Index(i))
		}
	case reflect.Float64:
		if math.Abs(got.Float()-want.Float()) > 1e-12*max(1, math.Abs(got.Float())) {
			t.Errorf("got %g, want %g", got.Float(), want.Float())
		}
	default:
		if !got.Equal(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

// TestCalibrationAgainstDefinitions computes the measures of single rows from
// quantiles, according to their definitions.
func TestCalibrationAgainstDefinitions(t *testing.T) {
	t.Parallel()
	distributions, observations := drawRows(600)
	sums := NewCalibrationSums(2, 3)
	var weight, loss, width, score, crps float64
	var inside [len(IntervalLevels)]float64
	for i, o := range observations {
		d := distributions[i]
		sums.Add(d, o)
		weight += o.Weight
		for k, level := range IntervalLevels {
			if d.Quantile((1-level)/2) <= o.Y && o.Y <= d.Quantile((1+level)/2) {
				inside[k] += o.Weight
			}
		}
		for _, level := range predictive.SummaryLevels {
			q := d.Quantile(level)
			loss += o.Weight / 5 * max(level*(o.Y-q), (1-level)*(q-o.Y))
		}
		low, high := d.Quantile(.05), d.Quantile(.95)
		width += o.Weight * (high - low)
		score += o.Weight * (high - low + 20*max(low-o.Y, o.Y-high, 0))
		crps += o.Weight * d.CRPS(o.Y)
	}
	c := sums.Calibration(testModes, 0.25)
	xi := 0.0
	for k, level := range IntervalLevels {
		checkNear(t, "share inside", float64(c.XiByLevel[k].Share), inside[k]/weight, 1e-12)
		xi += math.Abs(inside[k]/weight - level)
	}
	checkNear(t, "Xi", float64(c.Xi), xi, 1e-12)
	checkNear(t, "eta", float64(c.Eta), xi-0.25, 1e-12)
	checkNear(t, "pinball", float64(c.Pinball), loss/weight, 1e-9)
	checkNear(t, "width", float64(c.Width90), width/weight, 1e-9)
	checkNear(t, "Winkler", float64(c.Winkler90), score/weight, 1e-9)
	checkNear(t, "CRPS", float64(c.CRPS), crps/weight, 1e-12)
}

// TestCoverageGroups counts the coverage by entity and by training observations.
func TestCoverageGroups(t *testing.T) {
	t.Parallel()
	distributions, observations := drawRows(600)
	sums := NewCalibrationSums(2, 3)
	var hits, weight [3]float64 // by entity of the second mode
	for i, o := range observations {
		sums.Add(distributions[i], o)
		weight[o.Entities[1]] += o.Weight
		if distributions[i].Quantile(.05) <= o.Y && o.Y <= distributions[i].Quantile(.95) {
			hits[o.Entities[1]] += o.Weight
		}
	}
	c := sums.Calibration(testModes, 0)
	stores, times := c.CoverageByMode[0], c.CoverageByMode[1]
	if len(stores.Table) != 0 || stores.Entities != 0 || len(times.Table) != 3 || times.Entities != 3 {
		t.Fatalf("got %+v, want no stores and 3 times with %d rows or more", c.CoverageByMode, MinEntityRows)
	}
	gap := 0.0
	for i, e := range times.Table {
		share := hits[i] / weight[i]
		checkNear(t, "coverage of an entity", float64(e.Coverage), share, 1e-12)
		gap += math.Abs(share-.9) / 3
	}
	checkNear(t, "gap", float64(times.Gap), gap, 1e-12)
	if n := c.CoverageBySeen[0].N + c.CoverageBySeen[1].N + c.CoverageBySeen[2].N; n != len(observations) {
		t.Errorf("got %d rows by training observations, want %d", n, len(observations))
	}
	for _, class := range []struct {
		seen int
		new  bool
		want string
	}{{0, false, "cold"}, {0, true, "cold"}, {1, false, "few"}, {9, false, "few"}, {10, false, "warm"}, {3, true, "new combination"}, {10, true, "new combination"}} {
		if got := seenNames[seenClass(class.seen, class.new)]; got != class.want {
			t.Errorf("%d observations, new combination %v: got %q, want %q", class.seen, class.new, got, class.want)
		}
	}
}

func TestCalibrationJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(NewCalibrationSums(1, 0).Calibration([]string{"store"}, math.NaN()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"xi":null`, `"eta":null`, `"crps":null`, `"pinball":null`, `"width90":null`,
		`"coverage90":null`, `"xi_by_level":[{"level":0.9,"share":null}`, `"coverage_by_mode":[{"mode":"store","entities":0,"gap":null}]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got %s, want %s in it", text, want)
		}
	}
	var got Calibration
	if err := json.Unmarshal(text, &got); err != nil || !math.IsNaN(float64(got.Xi)) {
		t.Errorf("got xi %g, %v, want NaN", got.Xi, err)
	}
}

// TestCorrectModelIsCalibrated measures draws from the distributions themselves.
func TestCorrectModelIsCalibrated(t *testing.T) {
	t.Parallel()
	rng := randstream.New(11, "right")
	for _, transform := range []targetscale.Transform{targetscale.Identity, targetscale.Log1p, targetscale.Sqrt} {
		sums := NewCalibrationSums(0, 0)
		const n = 20000
		for i := range n {
			d := predictive.Gaussian(transform, 2+rng.Float64(), 0.1, 0.2)
			sums.Add(d, Observation{Y: d.Draw(rng), Weight: 1, Index: uint64(i)})
		}
		c := sums.Calibration(nil, 0)
		if bound := Number(5 * 3.5 * 0.5 / 141); c.Xi > bound {
			t.Errorf("%v: got Xi %g, want at most %g", transform, c.Xi, bound)
		}
		for bin, share := range c.PIT {
			if want, bound := 1.0/pitBins, 4.5*math.Sqrt(1.0/pitBins/n); math.Abs(float64(share)-want) > bound {
				t.Errorf("%v: got %g in PIT bin %d, want %g within %g", transform, share, bin, want, bound)
			}
		}
	}
}

// BenchmarkAdd adds observations to CalibrationSums. The metric is the time of 600,000
// of them on one core.
func BenchmarkAdd(b *testing.B) {
	rng := randstream.New(3, "rows")
	z := make([]float64, 20000)
	for i := range z {
		z[i] = 3 * (float64(i) - 9999) / 20000
	}
	empirical := predictive.NewScoreDistribution(z)
	negative := likelihood.NegativeBinomial{Size: 3}
	for _, c := range []struct {
		name string
		make func(*rand.Rand) predictive.Distribution
	}{
		{"identity", func(r *rand.Rand) predictive.Distribution {
			return predictive.Gaussian(targetscale.Identity, 10*r.Float64(), .5, 1)
		}},
		{"log1p", func(r *rand.Rand) predictive.Distribution {
			return predictive.Gaussian(targetscale.Log1p, 4*r.Float64(), .1, .4)
		}},
		{"log1p corrected", func(r *rand.Rand) predictive.Distribution {
			return predictive.Gaussian(targetscale.Log1p, 4*r.Float64(), .1, .4).WithScores(empirical)
		}},
		{"sqrt corrected", func(r *rand.Rand) predictive.Distribution {
			return predictive.Gaussian(targetscale.Sqrt, 4*r.Float64(), .1, .4).WithScores(empirical)
		}},
		{"poisson", func(r *rand.Rand) predictive.Distribution {
			return predictive.CountMixture(likelihood.Poisson{}, 3*r.Float64(), .05)
		}},
		{"negative binomial", func(r *rand.Rand) predictive.Distribution {
			return predictive.CountMixture(negative, 3*r.Float64(), .05)
		}},
		{"negative binomial corrected", func(r *rand.Rand) predictive.Distribution {
			return predictive.CountMixture(negative, 3*r.Float64(), .05).WithScores(empirical)
		}},
		{"poisson of hundreds", func(r *rand.Rand) predictive.Distribution {
			return predictive.CountMixture(likelihood.Poisson{}, 5+2*r.Float64(), .05)
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d, rows := make([]predictive.Distribution, 512), make([]Observation, 512)
			for i := range d {
				d[i] = c.make(rng)
				rows[i] = Observation{Y: max(math.Floor(d[i].WithScores(nil).Draw(rng)), 0), Weight: 1, Index: uint64(i), Entities: []int32{int32(i % 50), 3}}
			}
			sums := NewCalibrationSums(2, 0)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				sums.Add(d[i%512], rows[i%512])
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*600000, "s/600k")
		})
	}
}
