package conformal

import (
	"errors"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// skewedRows draws rows with skewed scores whose spread differs between groups, while
// the predictive distribution assumes the same spread for all.
func skewedRows(seed uint64, n, groups int) (scores, location []float64, group []int32) {
	rng := randstream.New(seed, "skewed")
	for range n {
		g := rng.IntN(groups)
		m := float64(g) + rng.Float64()
		y := m + (0.3+0.4*float64(g))*(rng.ExpFloat64()-1)
		d := predictive.Gaussian(targetscale.Identity, m, 0.2, 0.8)
		scores = append(scores, d.Score(y, 0, 0))
		location = append(location, m)
		group = append(group, int32(g))
	}
	return scores, location, group
}

// spreadOf returns a number that does not follow from the group of skewedRows.
func spreadOf(location float64) float64 { return location - math.Floor(location) }

func spreads(location []float64) []float64 {
	all := make([]float64, len(location))
	for i, m := range location {
		all[i] = spreadOf(m)
	}
	return all
}

// TestCoverage calibrates on one half of the rows and counts the coverage on the
// other, 100 times. The coverage of one test half has the variance of two binomial
// shares: that of the test rows and that of the calibration rows.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const n, groups, splits = 1600, 3, 100
	for _, level := range metrics.IntervalLevels {
		a := (1 - level) / 2
		sum := map[string]float64{}
		byGroup := map[string][groups]float64{}
		for s := range splits {
			z, location, group := skewedRows(uint64(s), 2*n, groups)
			split, err1 := NewSplit(2, z[:n])
			mean, err2 := NewByMean(2, z[:n], location[:n], 4)
			spread, err4 := NewBySpread(nil, 2, z[:n], location[:n], spreads(location[:n]), 2, 2)
			entity, err3 := NewByEntity(2, z[:n], group[:n])
			if err := errors.Join(err1, err2, err3, err4); err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]*Correction{"split": split, "mean": mean, "spread": spread, "entity": entity} {
				hits, own := 0.0, [groups]struct{ hits, rows float64 }{}
				for i := n; i < 2*n; i++ {
					scores := c.scores(location[i], spreadOf(location[i]), group[i])
					own[group[i]].rows++
					if scores.Quantile(a) <= z[i] && z[i] <= scores.Quantile(1-a) {
						hits++
						own[group[i]].hits++
					}
				}
				coverage := hits / n
				sum[name] += coverage / splits
				if bound := 4.5 * math.Sqrt(2*level*(1-level)/n); math.Abs(coverage-level) > bound {
					t.Errorf("%s, repetition %d: got coverage %g, want %g within %g", name, s, coverage, level, bound)
				}
				all := byGroup[name]
				for g := range all {
					all[g] += own[g].hits / own[g].rows / splits
				}
				byGroup[name] = all
			}
		}
		for name, mean := range sum {
			bound := 4 * math.Sqrt(2*level*(1-level)/n/splits)
			if math.Abs(mean-level) > bound {
				t.Errorf("%s: got mean coverage %g, want %g within %g", name, mean, level, bound)
			}
		}
		for g, mean := range byGroup["entity"] {
			if bound := 4 * math.Sqrt(2*level*(1-level)/(n/groups)/splits); math.Abs(mean-level) > bound {
				t.Errorf("group %d: got mean coverage %g, want %g within %g", g, mean, level, bound)
			}
		}
		if got := byGroup["split"][groups-1]; level == 0.9 && math.Abs(got-level) < 0.03 {
			t.Errorf("the pooled distribution covers %g of the last group: the rows do not distinguish groups", got)
		}
	}
}

func TestRowsNeeded(t *testing.T) {
	t.Parallel()
	for level, want := range map[float64]int{.9: 19, .5: 3, .99: 199, .98: 99} {
		if got := RowsNeeded(level); got != want {
			t.Errorf("RowsNeeded(%g): got %d, want %d", level, got, want)
		}
	}
}

func TestTooFewRows(t *testing.T) {
	t.Parallel()
	var few *TooFewRowsError
	if _, err := NewSplit(2, make([]float64, 18)); !errors.As(err, &few) || few.Needed != 19 || few.Rows != 18 {
		t.Errorf("18 rows: got %v, want an error that requires 19", err)
	}
	for _, c := range []struct {
		err  TooFewRowsError
		want string
	}{
		{TooFewRowsError{1, minLevel, 19}, "1 calibration row cannot give a 90 % interval, which needs 19 or more; calibrate on more rows"},
		{TooFewRowsError{21, 0.998, 999}, "21 calibration rows cannot give a 99.8 % interval, which needs 999 or more; calibrate on more rows or request a narrower interval"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got message %q, want %q", got, c.want)
		}
	}
	z, _, _ := skewedRows(1, 100, 1)
	c, err := NewSplit(2, z)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(.05, .5, .99); err != nil {
		t.Error(err)
	}
	if err := c.Check(.05, .995); !errors.As(err, &few) || few.Needed != 199 {
		t.Errorf("level .995 of 100 rows: got %v, want an error that requires 199", err)
	}
	z[3] = math.NaN()
	if _, err := NewSplit(2, z); err == nil {
		t.Error("a NaN score: got no error")
	}
}

func TestSmallGroupsUseThePool(t *testing.T) {
	t.Parallel()
	z, _, _ := skewedRows(1, 1000, 1)
	group := make([]int32, len(z))
	for i := range group {
		switch {
		case i < MinGroupRows:
			group[i] = 5
		case i < 2*MinGroupRows-1:
			group[i] = 2
		default:
			group[i] = -1
		}
	}
	c, err := NewByEntity(2, z, group)
	if err != nil {
		t.Fatal(err)
	}
	for entity, want := range map[int32]int{5: MinGroupRows, 2: 1000, 0: 1000, -1: 1000, 77: 1000} {
		if got := c.scores(0, 1, entity).Size(); got != want {
			t.Errorf("entity %d: got a distribution of %d rows, want %d", entity, got, want)
		}
	}
	if got := c.Groups(); got != 1 {
		t.Errorf("got %d groups, want 1", got)
	}
}

// TestCountsThatAreTooNarrow corrects a Poisson distribution on counts that vary far
// more. The coverage must hold even for counts that the Poisson gives a probability
// near 0.
func TestCountsThatAreTooNarrow(t *testing.T) {
	t.Parallel()
	rng := randstream.New(4, "counts")
	truth := likelihood.NegativeBinomial{Size: 0.8}
	const n = 1500
	var z, y []float64
	var d []predictive.Distribution
	for i := range 2 * n {
		m := 1 + 1.5*rng.Float64()
		d = append(d, predictive.CountMixture(likelihood.Poisson{}, m, 0.02))
		y = append(y, truth.Draw(rng, m))
		if i < n {
			z = append(z, d[i].Score(y[i], 1, uint64(i)))
		}
	}
	correction, err := NewSplit(2, z)
	if err != nil {
		t.Fatal(err)
	}
	plain, corrected := metrics.NewCalibrationSums(0, 1), metrics.NewCalibrationSums(0, 1)
	for i := n; i < 2*n; i++ {
		o := metrics.Observation{Y: y[i], Weight: 1, Index: uint64(i)}
		plain.Add(d[i], o)
		corrected.Add(correction.Apply(d[i], 0, 0), o)
	}
	before, after := plain.Calibration(nil, 0), corrected.Calibration(nil, 0)
	if got := before.Coverage90; got > 0.8 {
		t.Errorf("before the correction: got coverage %g, want at most 0.8", got)
	}
	// Closed intervals of counts cover more than their level.
	if got := after.Coverage90; got < 0.88 || got > 0.97 {
		t.Errorf("after the correction: got coverage %g, want 0.88 to 0.97", got)
	}
	if !(after.CRPS < before.CRPS) {
		t.Errorf("got CRPS %g after the correction, want less than %g", after.CRPS, before.CRPS)
	}
	bins := float64(len(after.PIT))
	for bin, got := range after.PIT {
		if want, bound := 1/bins, 5*math.Sqrt(2/bins/n); math.Abs(float64(got)-want) > bound {
			t.Errorf("PIT bin %d: got %g, want %g within %g", bin, got, want, bound)
		}
	}
}
