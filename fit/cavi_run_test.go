package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// The noise of synthetic data is found within 5 %, and 90 % intervals of the
// predictive N(E f, Var f + s2) hold 88 to 92 % of the cells not trained on,
// with and without validation data.
func TestNoiseAndCoverage(t *testing.T) {
	for _, tc := range []struct {
		name      string
		world     world
		family    tt.Family
		validated bool
	}{
		{"much data", world{sizes: []int{40, 50, 12}, ranks: []int{3}, cells: 24000, noise: 0.5}, tt.MeanField, true},
		{"little data", world{sizes: []int{60, 60, 12}, ranks: []int{2}, cells: 9000, noise: 0.3}, tt.MeanField, true},
		{"rows", world{sizes: []int{60, 60, 12}, ranks: []int{2}, cells: 9000, noise: 0.3}, tt.Rows, true},
		{"no validation", world{sizes: []int{40, 50, 12}, ranks: []int{3}, cells: 12000, noise: 0.1}, tt.MeanField, false},
	} {
		w := tc.world
		w.grouping = [][][]int{{{0}, {1}, {2}}}
		p := w.problem(t, 21, false)
		held := p.Valid
		if !tc.validated {
			p.Valid = Observations{}
		}
		if err := p.Field.SetFamily(tc.family); err != nil {
			t.Fatal(err)
		}
		opt := defaults()
		opt.Solver, opt.Sweeps = "cavi", 80
		r := solve(t, p, opt)
		if ratio := r.Noise / (w.noise * w.noise); math.Abs(math.Sqrt(ratio)-1) > 0.05 {
			t.Errorf("%s: noise %.4f is %.3f of the truth", tc.name, r.Noise, ratio)
		}
		n := held.Len()
		m := tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
		p.Field.EvaluateMoments(p.Backend, m, held.Codes)
		inside, model := 0.0, 0.0
		for i, y := range held.Y {
			sd := math.Sqrt(float64(m.Var[i]) + r.Noise)
			if math.Abs(float64(y)-float64(m.Mean[i])) < 1.6448536*sd {
				inside += 1 / float64(n)
			}
			model += float64(m.Var[i]) / float64(n)
		}
		if inside < 0.88 || inside > 0.92 {
			t.Errorf("%s: 90 %% intervals hold %.2f %%", tc.name, 100*inside)
		}
		if r.Stop != Converged {
			t.Errorf("%s: %s after %d sweeps", tc.name, r.Stop, len(r.Points))
		}
	}
}

// caviRun is a fit whose bits have to be the same however it is run.
type caviRun struct {
	name   string
	fit    variantCase
	family tt.Family
	counts *Counts
}

func caviRuns() []caviRun {
	cases := caviCases()
	at := func(name string) variantCase {
		i := slices.IndexFunc(cases, func(c variantCase) bool { return c.name == name })
		return cases[i]
	}
	return []caviRun{
		{"mean-field", at("plain sum"), tt.MeanField, nil},
		{"multivariate", at("sum, additive with joint cores"), tt.Multivariate, nil},
		{"rows", at("sum, wlr with joint cores"), tt.Rows, nil},
		{"latent scaling", at("latent scaling"), tt.MeanField, nil},
		{"poisson", at("plain sum"), tt.MeanField, &Counts{Law: "poisson", Offset: 1}},
		{"negative binomial", at("plain sum"), tt.Rows, &Counts{Law: "negative-binomial", Offset: 1}},
	}
}

// problem returns the run's problem; the field of a second one is as new.
func (r caviRun) problem(t *testing.T, cells int) *Problem {
	t.Helper()
	r.fit.world.cells = cells
	var p *Problem
	if r.counts != nil {
		p, _, _ = r.fit.world.counted(t, 5, true, 1, likelihood.NegativeBinomial{Size: 2}.Draw)
	} else {
		p = r.fit.problem(t, true)
	}
	if err := p.Field.SetFamily(r.family); err != nil {
		t.Fatal(err)
	}
	return p
}

func (r caviRun) options() Options {
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.CGSteps, opt.Counts = "cavi", 5, 3, r.counts
	return opt
}

// Going on from the state before any block ends in the same bits.
func TestCAVIResumesFromEveryBlock(t *testing.T) {
	for _, run := range caviRuns() {
		t.Run(run.name, func(t *testing.T) {
			opt := run.options()
			kept := &memory{}
			opt.Keeper = kept
			p := run.problem(t, 700)
			whole := solve(t, p, opt)
			want := flatten(nil, p.Field)
			if len(kept.states) < 15 {
				t.Fatalf("%d states kept", len(kept.states))
			}
			opt.Keeper = nil
			for i := 0; i < len(kept.states); i += 1 + len(kept.states)/9 {
				state := clone(kept.states[i])
				again := run.problem(t, 700)
				resumed := opt
				resumed.Resume = &state
				r := solve(t, again, resumed)
				if !slices.Equal(flatten(nil, again.Field), want) {
					t.Fatalf("resumed from state %d of %d: other weights", i, len(kept.states))
				}
				if r.Stop != whole.Stop || r.Score != whole.Score || r.Noise != whole.Noise || r.Size != whole.Size || r.Best != whole.Best || !slices.Equal(r.Points, whole.Points) {
					t.Fatalf("resumed from state %d: report %+v, want %+v", i, r, whole)
				}
			}
		})
	}
}

func TestCAVIThreadsGiveTheSameBits(t *testing.T) {
	for _, run := range caviRuns() {
		var want []float32
		for _, threads := range []int{1, 2, 8} {
			p := run.problem(t, 6000)
			p.Backend = cpu.New(cpu.Paths()[0], threads)
			opt := run.options()
			opt.Sweeps = 2
			r := solve(t, p, opt)
			got := append(flatten(nil, p.Field), float32(r.Noise), float32(r.Size), float32(r.Score))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other weights than 1", run.name, threads)
			}
			for _, v := range got {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatal(fmt.Errorf("%s: a weight is %g", run.name, v))
				}
			}
		}
	}
}

// A bound that is no number ends the run: with an error that names the block, or
// with the weights of the best sweep where there was one.
func TestBoundThatIsNoNumber(t *testing.T) {
	for _, late := range []bool{false, true} {
		p := caviRuns()[0].problem(t, 700)
		opt := caviRuns()[0].options()
		poison := func() { p.Train.Y[3] = float32(math.Inf(1)) }
		if !late {
			poison()
		}
		opt.Progress = func(e Event) {
			if late && e.Point != nil && e.Point.Sweep == 2 {
				poison()
			}
		}
		r, err := Solve(context.Background(), p, opt)
		var diverged *DivergedError
		if !late {
			if !errors.As(err, &diverged) || diverged.Block == "" || diverged.Sweep != 0 {
				t.Errorf("error %v", err)
			}
			continue
		}
		if err != nil || r.Stop != Diverged || len(r.Warnings) == 0 || r.Best < 0 {
			t.Errorf("error %v, report %+v", err, r)
		}
		for _, v := range append(flatten(nil, p.Field), float32(r.Noise)) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("a weight is %g", v)
			}
		}
	}
}

// A product of cores does not die out because effects that stand before it have
// explained the most: what it explains is not taken for noise.
func TestEffectsBeforeATrain(t *testing.T) {
	for _, w := range []world{
		{sizes: []int{100, 100}, cells: 3000, noise: 0.35},
		{sizes: []int{100, 100}, cells: 6000, noise: 0.5},
		{sizes: []int{200, 200}, cells: 6000, noise: 0.35},
	} {
		w.grouping, w.ranks = [][][]int{{{0}}, {{1}}, {{0}, {1}}}, []int{1, 1, 2}
		p := w.problem(t, 3, false)
		if err := p.Field.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		opt := defaults()
		opt.Solver, opt.Sweeps = "cavi", 60
		if ratio := solve(t, p, opt).Noise / (w.noise * w.noise); ratio > 1.1 {
			t.Errorf("%v of %d cells: noise is %.3f of the truth", w.sizes, w.cells, ratio)
		}
	}
}
