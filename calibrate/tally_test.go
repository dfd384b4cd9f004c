package calibrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/stream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// bruteCRPS integrates (F - 1{y <= x})^2 over x.
func bruteCRPS(p Predictive, y float64) float64 {
	if p.count != nil {
		sum := 0.0
		for x := 0.0; x < 1e6; x++ {
			f := p.CDF(x)
			if y <= x {
				f--
			}
			sum += f * f
			if x > y && f > -1e-7 {
				break
			}
		}
		return sum
	}
	low, high := min(y, p.Quantile(1e-9)), max(y, p.Quantile(1-1e-9))
	const n = 100000
	sum := 0.0
	for i := range n {
		// Cubed steps reach the long tail and are fine where the mass is.
		a, b := float64(i)/n, float64(i+1)/n
		x := low + (high-low)*math.Pow((a+b)/2, 3)
		f := p.CDF(x)
		if y <= x {
			f--
		}
		sum += f * f * (high - low) * (b*b*b - a*a*a)
	}
	return sum
}

func TestCRPSAgainstBruteForce(t *testing.T) {
	for _, c := range cases(t) {
		if strings.Contains(c.name, "large") && testing.Short() {
			continue
		}
		for _, level := range []float64{.03, .6, .999} {
			y := c.p.Quantile(level)
			if c.p.count != nil && (c.p.law.n > 0 || y > 100) {
				continue // see TestGridAgainstSum
			}
			want := bruteCRPS(c.p, y)
			tolerance := 1e-4 * want
			switch {
			case c.name == "log1p wide with layer", c.name == "cbrt1p near its least with layer":
				tolerance = 0.02 * want // a mean of exp(12), or a value of 3000, with probability 1e-4
			case c.p.law.n > 0:
				tolerance = 2e-3 * want
			case c.p.count != nil:
				tolerance = 2e-3 * want // levels between grid points are on a line
			}
			near(t, c.name+" CRPS", c.p.CRPS(y), want, tolerance+1e-6)
		}
	}
}

// TestGridAgainstSum holds the CRPS and mean of large counts, whose grid has
// gaps, and of layers against E|Y-y| - E|Y-Y'|/2 from quantiles at even levels.
func TestGridAgainstSum(t *testing.T) {
	for _, c := range cases(t) {
		if c.p.count == nil {
			continue
		}
		const n = 2000
		levels, q := make([]float64, n), make([]float64, n)
		for i := range levels {
			levels[i] = (float64(i) + 0.5) / n
		}
		c.p.Quantiles(q, levels)
		for _, y := range []float64{q[n/20], q[n*7/10], q[n-1]} {
			want := 0.0
			for i, level := range levels {
				want += 2 * Pinball(level, q[i], y) / n
			}
			near(t, c.name+" CRPS", c.p.CRPS(y), want, 0.01*want)
		}
	}
}

// TestNodesAgreeWithClosedForms turns the closed forms off.
func TestNodesAgreeWithClosedForms(t *testing.T) {
	for _, p := range []Predictive{Gaussian(Identity, 3, .5, 2), Gaussian(Log1p, 2, .1, .4), Gaussian(Log1p, 1, .9, .6)} {
		for _, level := range []float64{1e-4, .1, .37, .5, .9, .9999} {
			z := normalQuantile(level)
			y := p.fromScore(z)
			near(t, p.transform.String()+" CRPS", p.nodeCRPS(y, z), p.CRPS(y), 2e-4*p.CRPS(y))
		}
		near(t, "variance", p.layerVariance(), p.SD()*p.SD(), 1e-2*p.SD()*p.SD())
	}
}

func rowsFor(n int) ([]Predictive, []Row) {
	rng := stream.New(9, "rows")
	var ps []Predictive
	var rows []Row
	for i := range n {
		p := Gaussian(Log1p, 1+rng.Float64(), 0.1, 0.3)
		if i%5 == 0 {
			p = Count(likelihood.Poisson{}, 1+rng.Float64(), 0.1)
		}
		ps = append(ps, p)
		rows = append(rows, Row{Y: math.Floor(max(p.Draw(rng), 0)), Weight: 0.5 + rng.Float64(), Index: uint64(i),
			Entities: []int32{int32(rng.IntN(4)), int32(i % 3)}, Seen: rng.IntN(20)})
	}
	return ps, rows
}

func TestMergeEqualsOnePass(t *testing.T) {
	ps, rows := rowsFor(900)
	one, parts := NewTally(2, 3), NewTally(2, 3)
	for from := 0; from < len(rows); from += 250 {
		part := NewTally(2, 3)
		for i := from; i < min(from+250, len(rows)); i++ {
			part.Add(ps[i], rows[i])
			one.Add(ps[i], rows[i])
		}
		parts.Merge(part)
	}
	a, b := one.Report([]string{"store", "time"}, .5), parts.Report([]string{"store", "time"}, .5)
	compareNumbers(t, reflect.ValueOf(a), reflect.ValueOf(b))
}

func compareNumbers(t *testing.T, a, b reflect.Value) {
	t.Helper()
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			compareNumbers(t, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		if a.Len() != b.Len() {
			t.Fatalf("%d and %d entries", a.Len(), b.Len())
		}
		for i := range a.Len() {
			compareNumbers(t, a.Index(i), b.Index(i))
		}
	case reflect.Float64:
		if math.Abs(a.Float()-b.Float()) > 1e-12*max(1, math.Abs(a.Float())) {
			t.Errorf("%g and %g", a.Float(), b.Float())
		}
	default:
		if !a.Equal(b) {
			t.Errorf("%v and %v", a, b)
		}
	}
}

// TestReportAgainstItsDefinitions computes the measures row by row from
// quantiles, as they are written down.
func TestReportAgainstItsDefinitions(t *testing.T) {
	ps, rows := rowsFor(600)
	tally := NewTally(2, 3)
	var weight, pinball, width, winkler, crps float64
	var inside [5]float64
	stores := map[int32][3]float64{}
	for i, row := range rows {
		tally.Add(ps[i], row)
		weight += row.Weight
		for k, level := range Levels {
			if ps[i].Quantile((1-level)/2) <= row.Y && row.Y <= ps[i].Quantile((1+level)/2) {
				inside[k] += row.Weight
				if k == 0 {
					s := stores[row.Entities[0]]
					s[1] += row.Weight
					stores[row.Entities[0]] = s
				}
			}
		}
		s := stores[row.Entities[0]]
		s[0]++
		s[2] += row.Weight
		stores[row.Entities[0]] = s
		for _, level := range PinballLevels {
			pinball += row.Weight / 5 * Pinball(level, ps[i].Quantile(level), row.Y)
		}
		low, high := ps[i].Quantile(.05), ps[i].Quantile(.95)
		width += row.Weight * (high - low)
		winkler += row.Weight * (high - low + 20*max(low-row.Y, row.Y-high, 0))
		crps += row.Weight * ps[i].CRPS(row.Y)
	}
	r := tally.Report([]string{"store", "time"}, 0.25)
	xi := 0.0
	for k, level := range Levels {
		near(t, "xi", float64(r.XiByLevel[k].Share), inside[k]/weight, 1e-12)
		xi += math.Abs(inside[k]/weight - level)
	}
	near(t, "Xi", float64(r.Xi), xi, 1e-12)
	near(t, "eta", float64(r.Eta), xi-0.25, 1e-12)
	near(t, "pinball", float64(r.Pinball), pinball/weight, 1e-9)
	near(t, "width", float64(r.Width90), width/weight, 1e-9)
	near(t, "Winkler", float64(r.Winkler90), winkler/weight, 1e-9)
	near(t, "CRPS", float64(r.CRPS), crps/weight, 1e-12)
	if len(r.CoverageByMode[0].Table) != 0 || len(r.CoverageByMode[1].Table) != 3 {
		t.Errorf("entities with %d rows or more: %+v", LeastGroup, r.CoverageByMode)
	}
	if n := r.CoverageBySeen[0].N + r.CoverageBySeen[1].N + r.CoverageBySeen[2].N; n != len(rows) {
		t.Errorf("%d rows by training observations", n)
	}
}

func TestReportJSON(t *testing.T) {
	text, err := json.Marshal(NewTally(1, 0).Report([]string{"store"}, math.NaN()))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{`"xi":null`, `"eta":null`, `"crps":null`, `"pinball":null`, `"width90":null`,
		`"coverage90":null`, `"xi_by_level":[{"level":0.9,"share":null}`, `"coverage_by_mode":[{"mode":"store","entities":0,"gap":null}]`} {
		if !strings.Contains(string(text), key) {
			t.Errorf("no %s in %s", key, text)
		}
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil || !math.IsNaN(float64(back.Xi)) {
		t.Errorf("read back: %v, xi %g", err, back.Xi)
	}
}

// A model that is right must look right.
func TestRightModelIsCalibrated(t *testing.T) {
	rng := stream.New(11, "right")
	for _, transform := range []Transform{Identity, Log1p, Sqrt} {
		tally := NewTally(0, 0)
		const n = 20000
		for i := range n {
			p := Gaussian(transform, 2+rng.Float64(), 0.1, 0.2)
			tally.Add(p, Row{Y: p.Draw(rng), Weight: 1, Index: uint64(i)})
		}
		r := tally.Report(nil, 0)
		if r.Xi > 5*3.5*0.5/141 {
			t.Errorf("%v: Xi is %g", transform, r.Xi)
		}
		for bin, share := range r.PIT {
			if math.Abs(float64(share)-1.0/pitBins) > 4.5*math.Sqrt(1.0/pitBins/n) {
				t.Errorf("%v: PIT bin %d has %g", transform, bin, share)
			}
		}
	}
}

func TestHeat(t *testing.T) {
	a, b := NewHeat(2, 3), NewHeat(2, 3)
	p := Gaussian(Identity, 0, 0, 1)
	for i, y := range []float64{0, 1, 1.5, 3} { // inside 5, 2, 1 and 0 intervals
		h := a
		if i%2 == 1 {
			h = b
		}
		h.Add(1, 2, p, y)
		h.Add(-1, 2, p, y)
		h.Add(1, 7, p, y)
	}
	a.Merge(b)
	for level, want := range []int{3, 2, 1, 1, 1} {
		if got := a.Hits(level, 1, 2); got != want {
			t.Errorf("%d values in the %g interval, want %d", got, Levels[level], want)
		}
	}
	if a.Count(1, 2) != 4 || a.RowCount(1) != 4 || a.RowCount(0) != 0 {
		t.Errorf("counts %d, %d, %d", a.Count(1, 2), a.RowCount(1), a.RowCount(0))
	}
	var svg, image bytes.Buffer
	labels := HeatLabels{"store", "month", []string{"idle", "busy"}, []string{"jan", "feb", "mar"}}
	if err := errors.Join(a.WriteSVG(&svg, 0, labels), a.WritePNG(&image, 0, labels)); err != nil {
		t.Fatal(err)
	}
	if text := svg.String(); !strings.Contains(text, "busy") || strings.Contains(text, "idle") || !strings.Contains(text, "90 % interval") {
		t.Error("the drawing does not show the entities that have values, and those alone")
	}
	if image.Len() == 0 {
		t.Error("no image")
	}
}

// BenchmarkTally measures rows with five quantiles, CRPS and the rest; the
// metric is the time of 600,000 of them on one core.
func BenchmarkTally(b *testing.B) {
	law := skewLaw(b, 20000)
	for _, c := range []struct {
		name string
		make func(*rand.Rand) Predictive
	}{
		{"identity", func(r *rand.Rand) Predictive { return Gaussian(Identity, 10*r.Float64(), .5, 1) }},
		{"log1p", func(r *rand.Rand) Predictive { return Gaussian(Log1p, 4*r.Float64(), .1, .4) }},
		{"log1p with layer", func(r *rand.Rand) Predictive { return Gaussian(Log1p, 4*r.Float64(), .1, .4).With(law) }},
		{"sqrt with layer", func(r *rand.Rand) Predictive { return Gaussian(Sqrt, 4*r.Float64(), .1, .4).With(law) }},
		{"poisson", func(r *rand.Rand) Predictive { return Count(likelihood.Poisson{}, 3*r.Float64(), .05) }},
		{"negative binomial", func(r *rand.Rand) Predictive { return Count(likelihood.NegativeBinomial{Size: 3}, 3*r.Float64(), .05) }},
		{"negative binomial with layer", func(r *rand.Rand) Predictive {
			return Count(likelihood.NegativeBinomial{Size: 3}, 3*r.Float64(), .05).With(law)
		}},
		{"poisson of hundreds", func(r *rand.Rand) Predictive { return Count(likelihood.Poisson{}, 5+2*r.Float64(), .05) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			rng := stream.New(1, "bench")
			ps, rows := make([]Predictive, 512), make([]Row, 512)
			for i := range ps {
				ps[i] = c.make(rng)
				rows[i] = Row{Y: max(math.Floor(ps[i].With(nil).Draw(rng)), 0), Weight: 1, Index: uint64(i), Entities: []int32{int32(i % 50), 3}}
			}
			tally := NewTally(2, 0)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				tally.Add(ps[i%512], rows[i%512])
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*600000, "s/600k")
		})
	}
}
