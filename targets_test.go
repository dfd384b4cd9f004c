package kft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// effectsTable returns a table of shops and goods whose column y is drawn given the sum
// of an effect per shop and one per good, with the sums by cell.
func effectsTable(rng *rand.Rand, spread float64, draw func(rng *rand.Rand, f float64) string) (string, map[[2]int]float64) {
	shops, goods := make([]float64, 110), make([]float64, 90)
	for _, effects := range [][]float64{shops, goods} {
		for i := range effects {
			effects[i] = spread * rng.NormFloat64()
		}
	}
	f := map[[2]int]float64{}
	var b strings.Builder
	b.WriteString("shop,good,y\n")
	for i, s := range shops {
		for j, g := range goods {
			f[[2]int{i, j}] = s + g
			fmt.Fprintf(&b, "s%d,g%d,%s\n", i, j, draw(rng, s+g))
		}
	}
	return b.String(), f
}

// effectsSpec fits effects to the table of effectsTable.
func effectsSpec(t *testing.T, table, likelihood string) kft.Spec {
	return kft.Spec{
		Data:        kft.DataSpec{Files: []string{writeFile(t, "table.csv", table)}, Target: "y", Modes: []string{"shop", "good"}},
		Terms:       []string{"shop", "good"},
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Likelihood: likelihood, Conformal: "none"},
	}
}

// pitDeviation returns the largest deviation of the randomised PIT from uniform, in
// shares of 20 bins.
func pitDeviation(c *kft.Calibration) float64 {
	worst := 0.0
	for _, share := range c.PIT {
		worst = max(worst, math.Abs(float64(share)-0.05))
	}
	return worst
}

// A target of two words is recognised, its log odds are recovered, and probabilities are
// reliable.
func TestBernoulliTarget(t *testing.T) {
	t.Parallel()
	table, f := effectsTable(randstream.New(3, "binary"), 1, func(rng *rand.Rand, f float64) string {
		return []string{"no", "Yes"}[int(likelihood.Bernoulli{}.Draw(rng, f-0.5))]
	})
	spec := effectsSpec(t, table, "auto")
	m, r := fit(t, spec, kft.Options{})
	if got := m.Spec().Uncertainty.Likelihood; got != "bernoulli" {
		t.Fatalf("got likelihood %s", got)
	}
	var cells []kft.Cell
	var truth []float64
	for at, v := range f {
		cells, truth = append(cells, kft.Cell{"shop": fmt.Sprintf("s%d", at[0]), "good": fmt.Sprintf("g%d", at[1])}), append(truth, v-0.5)
	}
	var xy, xx, yy float64
	for i, p := range predictCells(t, m, cells...) {
		x := math.Log(p.Mean / (1 - p.Mean))
		xy, xx, yy = xy+x*truth[i], xx+x*x, yy+truth[i]*truth[i]
		if low, high := p.Interval(0.9); (low != 0 && low != 1) || (high != 0 && high != 1) || p.Mean <= 0 || p.Mean >= 1 {
			t.Fatalf("got mean %g and interval %g to %g", p.Mean, low, high)
		}
	}
	if c := xy / math.Sqrt(xx*yy); c < 0.95 {
		t.Errorf("got correlation %.3f of log odds, want 0.95", c)
	}
	if slope := xy / xx; math.Abs(slope-1) > 0.15 {
		t.Errorf("true log odds have slope %.3f on predicted ones, want 1", slope)
	}
	b := r.Test.Binary
	if b == nil || len(b.Reliability) < 9 || b.Gap() > 0.1 || pitDeviation(r.Test.Calibration) > 0.035 {
		t.Errorf("got %+v, PIT %v", b, r.Test.Calibration.PIT)
	}
	best, _ := r.BestFormula()
	if theirs := best.Test.Binary; b.LogLoss > theirs.LogLoss || b.Brier > theirs.Brier {
		t.Errorf("got log loss %.4f and Brier score %.4f, the best formula %.4f and %.4f", b.LogLoss, b.Brier, theirs.LogLoss, theirs.Brier)
	}
	again := reload(t, m)
	if a, b := predictCells(t, m, cells[0])[0], predictCells(t, again, cells[0])[0]; a.Mean != b.Mean {
		t.Errorf("got probability %g before and %g after saving", a.Mean, b.Mean)
	}
}

// Targets that the likelihood does not allow are refused with their row.
func TestTargetsOutsideTheLikelihood(t *testing.T) {
	t.Parallel()
	rows := func(values ...string) string {
		var b strings.Builder
		b.WriteString("shop,good,y\n")
		for i, v := range values {
			fmt.Fprintf(&b, "s%d,g%d,%s\n", i/3, i%3, v)
		}
		return b.String()
	}
	for _, c := range []struct{ likelihood, table, want string }{
		{"bernoulli", rows("0", "1", "1", "2", "0", "1"), "data row 4, column y: the target 2 is neither 0 nor 1"},
		{"bernoulli", rows("no", "yes", "maybe", "no", "no", "yes"), `line 4, column "y", value "maybe": this is neither yes nor no`},
		{"gaussian", rows("3", "5", "yes", "4", "2", "1"), `line 4, column "y", value "yes": this is not a number`},
	} {
		_, _, err := kft.Fit(t.Context(), effectsSpec(t, c.table, c.likelihood), kft.Source{}, kft.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", c.likelihood, err, c.want)
		}
	}
}

// Student noise recovers its scale and degrees of freedom, predicts means better than
// normal noise if there are outliers, and its intervals hold their share.
func TestStudentTarget(t *testing.T) {
	t.Parallel()
	law := likelihood.StudentT{Variance: 0.25, DF: 3}
	table, f := effectsTable(randstream.New(4, "student"), 1, func(rng *rand.Rand, f float64) string {
		return fmt.Sprint(10 + f + math.Sqrt(law.Variance)*law.Noise(rng))
	})
	squared := map[string]float64{}
	for _, name := range []string{"gaussian", "student"} {
		spec := effectsSpec(t, table, name)
		spec.Transform = "identity"
		m, r := fit(t, spec, kft.Options{})
		for at, v := range f {
			if at[0]%9 == 0 {
				p := predictCells(t, m, kft.Cell{"shop": fmt.Sprintf("s%d", at[0]), "good": fmt.Sprintf("g%d", at[1])})[0]
				squared[name] += (p.Mean - 10 - v) * (p.Mean - 10 - v)
			}
		}
		if name == "gaussian" {
			continue
		}
		u := m.Uncertainty()
		if math.Abs(math.Log(u.Noise.SD*u.Noise.SD/law.Variance)) > 0.15 || math.Abs(math.Log(u.DF/law.DF)) > 0.25 {
			t.Errorf("got sd %.3f and %.3g degrees of freedom, want %g and %g", u.Noise.SD, u.DF, math.Sqrt(law.Variance), law.DF)
		}
		if got := float64(r.Test.Calibration.Coverage90); got < 0.88 || got > 0.92 {
			t.Errorf("got coverage %.3f of 90 %% intervals, want 0.88 to 0.92", got)
		}
		cell := kft.Cell{"shop": "s1", "good": "g1"}
		drawn, err := m.Samples(t.Context(), []kft.Cell{cell}, 4000)
		if err != nil {
			t.Fatal(err)
		}
		low, high := predictCells(t, m, cell)[0].Interval(0.9)
		inside := 0
		for _, v := range drawn[0] {
			if v >= low && v <= high {
				inside++
			}
		}
		if share := float64(inside) / 4000; math.Abs(share-0.9) > 0.02 {
			t.Errorf("got %.3f of the samples in the 90 %% interval", share)
		}
		if a, b := predictCells(t, m, cell)[0], predictCells(t, reload(t, m), cell)[0]; a.SD != b.SD || a.Mean != b.Mean {
			t.Errorf("got mean %g and sd %g before, %g and %g after saving", a.Mean, a.SD, b.Mean, b.SD)
		}
	}
	if squared["student"] > 0.8*squared["gaussian"] {
		t.Errorf("got squared errors %v of the field, want those of student noise lower by a fifth", squared)
	}
}

// Censored values do not pull predictions down, the noise is recovered, and intervals
// hold the true values.
func TestCensoredTarget(t *testing.T) {
	t.Parallel()
	truth := map[string]float64{}
	row := 0
	table, _ := effectsTable(randstream.New(5, "censored"), 1, func(rng *rand.Rand, f float64) string {
		y := 20 + f + 0.7*rng.NormFloat64()
		id := fmt.Sprintf("s%d,g%d", row/90, row%90)
		truth[id] = y
		row++
		if stock := 20.5 + rng.NormFloat64(); y > stock {
			return fmt.Sprintf("%g,yes", stock)
		}
		return fmt.Sprintf("%g,no", y)
	})
	table = strings.Replace(table, "shop,good,y", "shop,good,y,sold_out", 1)
	spec := effectsSpec(t, table, "gaussian")
	spec.Data.Censored, spec.Transform = "sold_out", "identity"
	m, r := fit(t, spec, kft.Options{})
	if n := r.Test.Censored; n == nil || n.N < 300 || r.Test.N+n.N < 1900 {
		t.Fatalf("got %d test rows and %+v, want the censored ones apart", r.Test.N, n)
	}
	if sd := m.Uncertainty().Noise.SD; math.Abs(sd/0.7-1) > 0.06 {
		t.Errorf("got noise of sd %.3f, want 0.7", sd)
	}
	bias, inside, n := 0.0, 0.0, 0.0
	for id, y := range truth {
		if n++; n > 3000 {
			break
		}
		shop, good, _ := strings.Cut(id, ",")
		p := predictCells(t, m, kft.Cell{"shop": shop, "good": good})[0]
		bias += p.Mean - y
		if low, high := p.Interval(0.9); low <= y && y <= high {
			inside++
		}
	}
	if bias /= n; math.Abs(bias) > 0.06 {
		t.Errorf("got bias %.3f of the true values, want 0", bias)
	}
	if share := inside / n; share < 0.88 || share > 0.92 {
		t.Errorf("90 %% intervals hold %.3f of the true values, want 0.88 to 0.92", share)
	}
	if _, _, err := kft.Fit(t.Context(), effectsSpec(t, strings.Replace(table, ",yes", ",perhaps", 1), "gaussian"), kft.Source{}, kft.Options{}); err != nil {
		t.Fatalf("the column is not used: %v", err)
	}
	bad := effectsSpec(t, strings.Replace(table, ",yes", ",perhaps", 1), "gaussian")
	bad.Data.Censored = "sold_out"
	if _, _, err := kft.Fit(t.Context(), bad, kft.Source{}, kft.Options{}); err == nil || !strings.Contains(err.Error(), `value "perhaps": this does not say whether the target is censored`) {
		t.Errorf("got %v", err)
	}
}

// Cut points of ordered values are recovered, the randomised PIT is uniform, and other
// values are refused.
func TestOrdinalTarget(t *testing.T) {
	t.Parallel()
	law := likelihood.Ordinal{Levels: []float64{0.5, 1, 2, 3, 5}, Cuts: []float64{-1.2, -0.9, 0.3, 1.5}}
	table, f := effectsTable(randstream.New(6, "ordinal"), 0.7, func(rng *rand.Rand, f float64) string { return fmt.Sprint(law.Draw(rng, f)) })
	m, r := fit(t, effectsSpec(t, table, "ordinal"), kft.Options{})
	if d := pitDeviation(r.Test.Calibration); d > 0.02 {
		t.Errorf("the PIT deviates from uniform by %.3f: %v", d, r.Test.Calibration.PIT)
	}
	var off, bias, n float64
	for at, v := range f {
		if at[1] != 3 {
			continue
		}
		p := predictCells(t, m, kft.Cell{"shop": fmt.Sprintf("s%d", at[0]), "good": "g3"})[0]
		for k := range law.Cuts {
			d := p.Distribution().CDF(law.Levels[k]) - law.CDF(k, v)
			off, bias, n = off+math.Abs(d), bias+d, n+1
		}
	}
	if off/n > 0.06 || math.Abs(bias/n) > 0.05 {
		t.Errorf("probabilities are off by %.3f, with bias %.3f", off/n, bias/n)
	}
	cell := kft.Cell{"shop": "s1", "good": "g1"}
	if a, b := predictCells(t, m, cell)[0], predictCells(t, reload(t, m), cell)[0]; a.Mean != b.Mean || a.Median != b.Median {
		t.Errorf("got %g before and %g after saving", a.Mean, b.Mean)
	}
	other := writeFile(t, "other.csv", "shop,good,y\ns1,g1,4\n")
	if _, _, err := m.Evaluate(t.Context(), kft.Files(other), kft.TableOptions{}); err == nil || !strings.Contains(err.Error(), "the target 4 is not one of the values") {
		t.Errorf("got %v", err)
	}
	_, normal := fit(t, effectsSpec(t, table, "gaussian"), kft.Options{})
	if a, b := r.Test.Calibration, normal.Test.Calibration; a.CRPS > b.CRPS {
		t.Errorf("got CRPS %.4f, that of normal noise is %.4f", a.CRPS, b.CRPS)
	}
	var many strings.Builder
	many.WriteString("shop,good,y\n")
	for i := range 60 {
		fmt.Fprintf(&many, "s%d,g%d,%d\n", i/10, i%10, i)
	}
	_, _, err := kft.Fit(t.Context(), effectsSpec(t, many.String(), "ordinal"), kft.Source{}, kft.Options{})
	if err == nil || !strings.Contains(err.Error(), "more than 30 different values") {
		t.Errorf("got %v", err)
	}
}

// The parameters of counts with many zeros are recovered, intervals hold, and an
// automatic choice finds such a likelihood.
func TestCountsWithManyZeros(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		draw  func(rng *rand.Rand, f float64) float64
		check func(u kft.UncertaintyInfo) bool
	}{
		{"zero-inflated", likelihood.ZeroInflated{Zero: 0.3, Size: 3}.Draw, func(u kft.UncertaintyInfo) bool {
			return math.Abs(u.Zero-0.3) < 0.03 && math.Abs(math.Log(u.Size/3)) < 0.2
		}},
		{"hurdle", likelihood.Hurdle{Size: 3, Shift: -0.5, Slope: 0.5}.Draw, func(u kft.UncertaintyInfo) bool {
			return u.Hurdle != nil && math.Abs(u.Hurdle.Shift+0.5) < 0.15 && math.Abs(u.Hurdle.Slope-0.5) < 0.1 && math.Abs(math.Log(u.Size/3)) < 0.2
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			table, f := effectsTable(randstream.New(5, "zeros"), 0.5, func(rng *rand.Rand, f float64) string {
				return fmt.Sprint(c.draw(rng, 1.5+f))
			})
			spec := effectsSpec(t, table, c.name)
			m, r := fit(t, spec, kft.Options{})
			if u := m.Uncertainty(); !c.check(u) {
				t.Errorf("got %+v, hurdle %+v", u, u.Hurdle)
			}
			inside := 0.0 // of the randomised PIT
			for _, share := range r.Test.Calibration.PIT[1:19] {
				inside += float64(share)
			}
			if inside < 0.88 || inside > 0.92 || pitDeviation(r.Test.Calibration) > 0.02 {
				t.Errorf("%.3f of the randomised PIT are between .05 and .95; by bin %v", inside, r.Test.Calibration.PIT)
			}
			cell := kft.Cell{"shop": "s3", "good": "g7"}
			p := predictCells(t, m, cell)[0]
			rng, mean := randstream.New(6, "mean"), 0.0
			for range 20000 {
				mean += c.draw(rng, 1.5+f[[2]int{3, 7}]) / 20000
			}
			if math.Abs(math.Log(p.Mean/mean)) > 0.25 {
				t.Errorf("got mean %.3g, want %.3g", p.Mean, mean)
			}
			if again := predictCells(t, reload(t, m), cell)[0]; p.Mean != again.Mean || p.SD != again.SD {
				t.Errorf("got %+v before and %+v after saving", p, again)
			}
		})
	}
}

// Counts with many zeros are recognised, those with few are not offered such likelihoods.
func TestAutomaticCountsWithManyZeros(t *testing.T) {
	t.Parallel()
	rng := randstream.New(7, "many zeros")
	for _, zero := range []float64{0.4, 0.001} {
		var b strings.Builder
		b.WriteString("shop,good,y\n")
		for i := range 25 {
			for j := range 30 {
				fmt.Fprintf(&b, "s%d,g%d,%g\n", i, j, likelihood.ZeroInflated{Zero: zero, Size: 20}.Draw(rng, 2.5+0.01*float64(i-j)))
			}
		}
		m, r := fit(t, effectsSpec(t, b.String(), "auto"), kft.Options{})
		got := m.Spec().Uncertainty.Likelihood
		if many := got == "zero-inflated" || got == "hurdle"; many != (zero > 0.2) {
			t.Errorf("%g further zeros: got %s", zero, got)
		}
		if offered := slices.ContainsFunc(r.Choices, func(c kft.Choice) bool { return c.Likelihood == "hurdle" }); offered != (zero > 0.2) {
			t.Errorf("%g further zeros: got the choices %+v", zero, r.Choices)
		}
	}
}
