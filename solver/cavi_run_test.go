package solver

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// The noise of synthetic data is recovered within 5 %, and 90 % intervals of the
// predictive N(E f, Var f + s2) contain 88 to 92 % of the cells that were not
// trained on, with and without a validation set.
func TestNoiseAndCoverage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		data      synthetic
		family    tt.Family
		validated bool
	}{
		{"much data", synthetic{sizes: []int{40, 50, 12}, ranks: []int{3}, cells: 24000, noise: 0.5}, tt.MeanField, true},
		{"little data", synthetic{sizes: []int{60, 60, 12}, ranks: []int{2}, cells: 9000, noise: 0.3}, tt.MeanField, true},
		{"entity-covariance", synthetic{sizes: []int{60, 60, 12}, ranks: []int{2}, cells: 9000, noise: 0.3}, tt.EntityCovariance, true},
		{"no validation", synthetic{sizes: []int{40, 50, 12}, ranks: []int{3}, cells: 12000, noise: 0.1}, tt.MeanField, false},
	} {
		w := tc.data
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
			t.Errorf("%s: got noise %.4f, %.3f times the truth, want the same within 5 %%", tc.name, r.Noise, ratio)
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
			t.Errorf("%s: 90 %% intervals contain %.2f %%, want 88 to 92", tc.name, 100*inside)
		}
		if r.Stop != Converged {
			t.Errorf("%s: got stop %q after %d sweeps, want convergence", tc.name, r.Stop, len(r.Points))
		}
	}
}

// posteriorRun is a fit whose result must be reproducible bit for bit.
type posteriorRun struct {
	name   string
	fit    variantCase
	family tt.Family
	counts *Likelihood
}

func posteriorRuns() []posteriorRun {
	cases := posteriorCases()
	at := func(name string) variantCase {
		i := slices.IndexFunc(cases, func(c variantCase) bool { return c.name == name })
		return cases[i]
	}
	return []posteriorRun{
		{"mean-field", at("plain sum"), tt.MeanField, nil},
		{"multivariate", at("sum, additive with joint cores"), tt.Multivariate, nil},
		{"entity-covariance", at("sum, wlr with joint cores"), tt.EntityCovariance, nil},
		{"latent scaling", at("latent scaling"), tt.MeanField, nil},
		{"poisson", at("plain sum"), tt.MeanField, &Likelihood{likelihood.Poisson{}, 1}},
		{"negative binomial", at("plain sum"), tt.EntityCovariance, &Likelihood{likelihood.NegativeBinomial{Size: 1}, 1}},
	}
}

// problem returns the problem of the run with a new field.
func (r posteriorRun) problem(t *testing.T, cells int) *Problem {
	t.Helper()
	r.fit.data.cells = cells
	var p *Problem
	if r.counts != nil {
		p, _, _ = r.fit.data.countProblem(t, 5, true, 1, likelihood.NegativeBinomial{Size: 2}.Draw)
	} else {
		p = r.fit.problem(t, true)
	}
	if err := p.Field.SetFamily(r.family); err != nil {
		t.Fatal(err)
	}
	return p
}

func (r posteriorRun) options() Options {
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.CGSteps, opt.Likelihood = "cavi", 5, 3, r.counts
	return opt
}

// Resuming from the state before any block gives identical bits.
func TestCAVIResumesFromEveryBlock(t *testing.T) {
	t.Parallel()
	for _, run := range posteriorRuns() {
		t.Run(run.name, func(t *testing.T) {
			checkResume(t, run.options(), 15, 9, func() *Problem { return run.problem(t, 700) })
		})
	}
}

func TestCAVIThreadsGiveSameBits(t *testing.T) {
	t.Parallel()
	for _, run := range posteriorRuns() {
		var want []float32
		for _, threads := range []int{1, 2, 7, 16, 64} {
			p := run.problem(t, 6000)
			p.Backend = cpu.New(cpu.Paths()[0], threads)
			opt := run.options()
			opt.Sweeps = 2
			r := solve(t, p, opt)
			got := append(flatten(1, nil, p.Field), float32(r.Noise), float32(r.Score))
			if r.Law != nil {
				for _, v := range r.Law.Parameters() {
					got = append(got, float32(v))
				}
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other weights than 1 thread", run.name, threads)
			}
			for _, v := range got {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatalf("%s: got weight %g, want finite weights", run.name, v)
				}
			}
		}
	}
}

// A bound that is not finite ends the run: with an error that names the block, or
// with the weights of the best sweep.
func TestNonFiniteBound(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		p := posteriorRuns()[0].problem(t, 700)
		opt := posteriorRuns()[0].options()
		poison := func() { p.Train.Y[3] = float32(math.Inf(1)) }
		if !late {
			poison()
		}
		opt.Progress = func(e Event) {
			if late && e.Point != nil && e.Point.Sweep == 2 {
				poison()
			}
		}
		r, err := Solve(t.Context(), p, opt)
		var diverged *DivergedError
		if !late {
			if !errors.As(err, &diverged) || diverged.Block == "" || diverged.Sweep != 0 {
				t.Errorf("got error %v, want a DivergedError with the block, in sweep 0", err)
			}
			continue
		}
		if err != nil || r.Stop != Diverged || len(r.Warnings) == 0 || r.Best < 0 {
			t.Errorf("got error %v and report %+v, want a report with the best sweep", err, r)
		}
		for _, v := range append(flatten(1, nil, p.Field), float32(r.Noise)) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				t.Fatalf("got weight %g, want finite weights", v)
			}
		}
	}
}

// Main effects before a product of cores must not make the product vanish: the
// variance it explains must not be attributed to noise.
func TestEffectsBeforeTrain(t *testing.T) {
	t.Parallel()
	for _, w := range []synthetic{
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
			t.Errorf("sizes %v, %d cells: noise is %.3f times the truth, want at most 1.1", w.sizes, w.cells, ratio)
		}
	}
}

// The inner cores of a train of rank 1 are solved by the pass that gives their equations, and conjugate gradients of a
// point estimate end when all systems are solved.
func TestRankOneNeedsFewPasses(t *testing.T) {
	t.Parallel()
	w := fourCores
	w.ranks = []int{1}
	fit := func(solver string, sweeps, steps int) Report {
		p := w.problem(t, 3, false)
		if solver == "cavi" {
			if err := p.Field.SetFamily(tt.MeanField); err != nil {
				t.Fatal(err)
			}
		}
		opt := defaults()
		opt.Solver, opt.Sweeps, opt.CGSteps, opt.Patience = solver, sweeps, steps, 100
		return solve(t, p, opt)
	}
	short, long := fit("cavi", 5, 6), fit("cavi", 10, 6)
	if perSweep := float64(long.Passes-short.Passes) / 5; perSweep > 8 {
		t.Errorf("a sweep over four cores of rank 1 costs %.1f passes", perSweep)
	}
	if long.Score > 2*w.noise*w.noise {
		t.Errorf("validation loss %.3f, twice the variance of the noise is %.3f", long.Score, 2*w.noise*w.noise)
	}
	if some, many := fit("als", 5, 6).Passes, fit("als", 5, 60).Passes; some != many {
		t.Errorf("%d passes with 6 steps, %d with 60", some, many)
	}
}
