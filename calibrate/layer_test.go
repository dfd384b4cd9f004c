package calibrate

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/stream"
	"github.com/kernel-fried-tensor/kft/likelihood"
)

// skewed draws rows whose scores are skewed and whose spread the predictive has
// wrong, differently for every group.
func skewed(seed uint64, n, groups int) (z, location []float64, group []int32) {
	rng := stream.New(seed, "skewed")
	for range n {
		g := rng.IntN(groups)
		m := float64(g) + rng.Float64()
		y := m + (0.3+0.4*float64(g))*(rng.ExpFloat64()-1)
		p := Gaussian(Identity, m, 0.2, 0.8)
		z = append(z, p.Score(y, 0, 0))
		location = append(location, m)
		group = append(group, int32(g))
	}
	return z, location, group
}

// TestConformalCoverage calibrates on one half and counts on the other, 100
// times. A split's test coverage has the variance of two binomials, its own and
// the calibration set's.
func TestConformalCoverage(t *testing.T) {
	const n, groups, splits = 1600, 3, 100
	for _, level := range Levels {
		a := (1 - level) / 2
		sum := map[string]float64{}
		byGroup := map[string][groups]float64{}
		for s := range splits {
			z, location, group := skewed(uint64(s), 2*n, groups)
			split, err1 := FitSplit(z[:n])
			mean, err2 := FitByMean(z[:n], location[:n], 4)
			entity, err3 := FitByEntity(z[:n], group[:n])
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			for name, layer := range map[string]*Layer{"split": split, "mean": mean, "entity": entity} {
				hits, own := 0.0, [groups][2]float64{}
				for i := n; i < 2*n; i++ {
					law := layer.Law(location[i], group[i])
					own[group[i]][1]++
					if law.Z(a) <= z[i] && z[i] <= law.Z(1-a) {
						hits++
						own[group[i]][0]++
					}
				}
				coverage := hits / n
				sum[name] += coverage / splits
				if bound := 4.5 * math.Sqrt(2*level*(1-level)/n); math.Abs(coverage-level) > bound {
					t.Errorf("%s, split %d: the %g interval covers %g", name, s, level, coverage)
				}
				all := byGroup[name]
				for g := range all {
					all[g] += own[g][0] / own[g][1] / splits
				}
				byGroup[name] = all
			}
		}
		for name, mean := range sum {
			bound := 4 * math.Sqrt(2*level*(1-level)/n/splits)
			if math.Abs(mean-level) > bound {
				t.Errorf("%s: the %g interval covers %g on average, not within %g", name, level, mean, bound)
			}
		}
		for g, mean := range byGroup["entity"] {
			if bound := 4 * math.Sqrt(2*level*(1-level)/(n/groups)/splits); math.Abs(mean-level) > bound {
				t.Errorf("group %d: the %g interval covers %g on average, not within %g", g, level, mean, bound)
			}
		}
		if level == 0.9 && math.Abs(byGroup["split"][groups-1]-level) < 0.03 {
			t.Error("the pool covers every group: this test cannot tell groups from a pool")
		}
	}
}

// TestOutwardCovers takes few rows and scores in two heaps, where interpolation
// errs to the inside.
func TestOutwardCovers(t *testing.T) {
	rng := stream.New(1, "heaps")
	draw := func() float64 { return math.Copysign(1+0.01*rng.Float64(), rng.Float64()-0.05) }
	const n, repeats = 30, 20000
	hits := 0
	for range repeats {
		z := make([]float64, n)
		for i := range z {
			z[i] = draw()
		}
		slices.Sort(z)
		law := newLaw(z)
		if v := draw(); law.Z(law.Outward(.05)) <= v && v <= law.Z(law.Outward(.95)) {
			hits++
		}
	}
	if got, least := float64(hits)/repeats, 0.9-3*math.Sqrt(.09/repeats); got < least {
		t.Errorf("the 90 %% interval covers %g", got)
	}
}

func TestTooFewRows(t *testing.T) {
	for level, want := range map[float64]int{.9: 19, .5: 3, .99: 199, .98: 99} {
		if got := NeededFor(level); got != want {
			t.Errorf("NeededFor(%g) is %d, want %d", level, got, want)
		}
	}
	_, err := FitSplit(make([]float64, 18))
	var few *TooFewError
	if !errors.As(err, &few) || few.Needed != 19 || few.Rows != 18 {
		t.Errorf("18 rows: %v", err)
	}
	z, _, _ := skewed(1, 100, 1)
	l, err := FitSplit(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Check(.05, .5, .99); err != nil {
		t.Error(err)
	}
	if err := l.Check(.05, .995); !errors.As(err, &few) || few.Needed != 199 {
		t.Errorf("level .995 of 100 rows: %v", err)
	}
	z[3] = math.NaN()
	if _, err := FitSplit(z); err == nil {
		t.Error("a score that is no number was taken")
	}
}

func TestSmallGroupsUseThePool(t *testing.T) {
	z, _, _ := skewed(1, 1000, 1)
	group := make([]int32, len(z))
	for i := range group {
		switch {
		case i < LeastGroup:
			group[i] = 5
		case i < 2*LeastGroup-1:
			group[i] = 2
		default:
			group[i] = -1
		}
	}
	l, err := FitByEntity(z, group)
	if err != nil {
		t.Fatal(err)
	}
	for entity, size := range map[int32]int{5: LeastGroup, 2: 1000, 0: 1000, -1: 1000, 77: 1000} {
		if got := l.Law(0, entity).Size(); got != size {
			t.Errorf("entity %d uses a law of %d rows, want %d", entity, got, size)
		}
	}
}

func TestLawIsTheOrderStatistics(t *testing.T) {
	for _, n := range []int{1, 2, 19, 2001, 2002, 2500, 30000} {
		z, _, _ := skewed(2, n, 2)
		slices.Sort(z)
		law := newLaw(z)
		worst := 0.0
		for k := 1; k <= n; k++ {
			got := law.Z(float64(k) / float64(n+1))
			exact := n <= maxKnots || k <= tailKnots || k > n-tailKnots
			if off := math.Abs(got - z[k-1]); exact && off > 1e-9 {
				t.Fatalf("n %d: rank %d is %g, want %g", n, k, got, z[k-1])
			} else if !exact {
				worst = max(worst, off)
			}
		}
		if worst > 0.02 {
			t.Errorf("n %d: between knots the law is off by %g", n, worst)
		}
		before := math.Inf(-1)
		for i := 1; i < 5000; i++ {
			p := float64(i) / 5000
			v := law.Z(p)
			if v < before {
				t.Fatalf("n %d: Z falls at %g", n, p)
			}
			before = v
			if below, upto := law.below(v), law.CDF(v); below > p+1e-9 || upto < p-1e-9 {
				t.Fatalf("n %d: Z(%g) = %g, whose levels are %g to %g", n, p, v, below, upto)
			}
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	z, location, group := skewed(3, 5000, 4)
	split, _ := FitSplit(z)
	mean, _ := FitByMean(z, location, 10)
	entity, _ := FitByEntity(z, group)
	for _, l := range []*Layer{split, mean, entity} {
		back, err := FromRecord(l.Record())
		if err != nil {
			t.Fatal(l.Grouping(), err)
		}
		if !reflect.DeepEqual(l, back) {
			t.Errorf("%s: a layer does not come back from its record", l.Grouping())
		}
	}
	for name, spoil := range map[string]func(*Record){
		"grouping": func(r *Record) { r.Grouping = "moon" },
		"short":    func(r *Record) { r.Knots = r.Knots[:10] },
		"long":     func(r *Record) { r.Knots = append(r.Knots, 9) },
		"order":    func(r *Record) { r.Knots[0] = 99 },
		"nan":      func(r *Record) { r.Knots[3] = math.NaN() },
		"sizes":    func(r *Record) { r.Size = nil },
		"groups":   func(r *Record) { r.Group[0] = -1 },
	} {
		r := entity.Record()
		spoil(&r)
		if _, err := FromRecord(r); err == nil {
			t.Errorf("%s: a spoilt record was taken", name)
		}
	}
}

// TestCountLayerMendsANarrowLaw fits a Poisson layer to counts that scatter far
// more than a Poisson: the promise must hold even where it calls them impossible.
func TestCountLayerMendsANarrowLaw(t *testing.T) {
	rng := stream.New(4, "counts")
	law := likelihood.NegativeBinomial{Size: 0.8}
	const n = 1500
	var z []float64
	var p []Predictive
	var y []float64
	for i := range 2 * n {
		m := 1 + 1.5*rng.Float64()
		p = append(p, Count(likelihood.Poisson{}, m, 0.02))
		y = append(y, law.Draw(rng, m))
		if i < n {
			z = append(z, p[i].Score(y[i], 1, uint64(i)))
		}
	}
	layer, err := FitSplit(z)
	if err != nil {
		t.Fatal(err)
	}
	plain, mended := NewTally(0, 1), NewTally(0, 1)
	for i := n; i < 2*n; i++ {
		row := Row{Y: y[i], Weight: 1, Index: uint64(i)}
		plain.Add(p[i], row)
		mended.Add(p[i].With(layer.Law(p[i].Location(), 0)), row)
	}
	before, after := plain.Report(nil, 0), mended.Report(nil, 0)
	if before.Coverage90 > 0.8 {
		t.Errorf("the plain Poisson covers %g: it needs no mending", before.Coverage90)
	}
	// Closed intervals of counts cover more than their level.
	if c := after.Coverage90; c < 0.88 || c > 0.97 {
		t.Errorf("with the layer the 90 %% interval covers %g", c)
	}
	if !(after.CRPS < before.CRPS) {
		t.Errorf("the layer makes the CRPS %g from %g", after.CRPS, before.CRPS)
	}
	for bin, share := range after.PIT {
		near(t, fmt.Sprint("PIT bin ", bin), float64(share), 1.0/pitBins, 5*math.Sqrt(2.0/pitBins/n))
	}
}
