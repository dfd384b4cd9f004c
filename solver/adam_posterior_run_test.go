package solver

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/tt"
)

// adamRuns lists fits whose results must be reproducible bit for bit.
func adamRuns() []posteriorRun {
	return slices.DeleteFunc(posteriorRuns(), func(r posteriorRun) bool { return r.counts != nil })
}

func TestAdamPosteriorResumesFromEveryBlock(t *testing.T) {
	t.Parallel()
	for i, run := range adamRuns() {
		for _, validated := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, validation %v", run.name, validated), func(t *testing.T) {
				opt := adamOptions(8, []Schedule{Joint, Blocks}[i%2])
				opt.Patience, opt.ProductCovariance = 2, validated
				whole := checkResume(t, opt, 1, 6, func() *Problem {
					p := run.problem(t, 600)
					if !validated {
						p.Valid = Observations{}
					}
					return p
				})
				if warned := len(whole.Warnings) > 0; warned != (run.family == tt.EntityCovariance) {
					t.Errorf("got warnings %q, want one only for entity-covariance", whole.Warnings)
				}
			})
		}
	}
}

func TestAdamPosteriorThreadsGiveSameBits(t *testing.T) {
	t.Parallel()
	for _, run := range adamRuns() {
		var want []float32
		for _, threads := range []int{1, 2, 8} {
			p := run.problem(t, 4000)
			p.Backend = cpu.New(cpu.Paths()[0], threads)
			r := solve(t, p, adamOptions(2, Joint))
			got := append(flatten(1, nil, p.Field), float32(r.Noise), float32(r.Score))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other weights than 1 thread", run.name, threads)
			}
		}
	}
}

// Means that no longer improve do not end a run. The variances follow, and the
// result is not worse than their start.
func TestAdamReachesVariances(t *testing.T) {
	t.Parallel()
	p := adamRuns()[0].problem(t, 2000)
	opt := adamOptions(60, Joint)
	opt.Patience = 2
	names := map[string]bool{}
	opt.Progress = func(e Event) { names[e.BlockName] = true }
	r := solve(t, p, opt)
	first := slices.IndexFunc(r.Points, func(p Point) bool { return p.Sweep >= 30 })
	if first < 1 || first >= 30 || r.Points[first].Sweep != 30 {
		t.Fatalf("the second phase begins with point %d, want one in 1 to 29 at sweep 30: %+v", first, r.Points)
	}
	if !names["all cores"] || !names["variances of all cores"] {
		t.Errorf("got blocks %v, want both phases", names)
	}
	for _, point := range r.Points[first:] {
		if point.Score < r.Score || point.Valid > 0.5 {
			t.Errorf("got point %+v, want a score of at least %g and a validation error of at most 0.5", point, r.Score)
		}
	}
	if len(r.Warnings) > 0 {
		t.Errorf("got warnings %q, want none", r.Warnings)
	}
}

// A run that ends before the variances phase warns.
func TestAdamStoppedBeforeVariances(t *testing.T) {
	t.Parallel()
	p := adamRuns()[0].problem(t, 600)
	opt := adamOptions(60, Joint)
	clock := time.Unix(0, 0)
	opt.TimeBudget, opt.now = 3*time.Second, func() time.Time { return clock }
	opt.Progress = func(e Event) {
		if e.Point != nil {
			clock = clock.Add(time.Second)
		}
	}
	if r := solve(t, p, opt); r.Stop != Budget || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "before adam updated the variances") {
		t.Errorf("got %+v, want a stop by the time budget and a warning about variances", r)
	}
}

// After a NaN bound the run continues from the best posterior. Without one it fails
// with the name of the block.
func TestAdamNonFiniteBound(t *testing.T) {
	t.Parallel()
	p := adamRuns()[0].problem(t, 700)
	opt := adamOptions(10, Joint)
	opt.Progress = func(e Event) {
		if e.Point != nil && e.Point.Sweep == 6 {
			p.Field.Terms[0].Cores[0].Slices.Var[0] = float32(math.NaN())
		}
	}
	r := solve(t, p, opt)
	checkPositiveVariances(t, p.Field)
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "diverged once") {
		t.Errorf("got warnings %q, want one about divergence", r.Warnings)
	}
	p = adamRuns()[0].problem(t, 700)
	p.Train.Y[3] = float32(math.Inf(1))
	_, err := Solve(t.Context(), p, adamOptions(20, Blocks))
	var diverged *DivergedError
	if !errors.As(err, &diverged) || diverged.Block == "" || diverged.Unit != "epoch" {
		t.Errorf("got error %v, want a DivergedError with block and epoch", err)
	}
}

func TestAdamRejectsOptions(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*Options){
		"counts": func(o *Options) { o.Likelihood = &Likelihood{Law: likelihood.Poisson{}} },
		"noise": func(o *Options) {
			o.Noise = func(_, s []float32) ([]float64, float64) { return make([]float64, len(s)), 1 }
		},
		"epochs": func(o *Options) { o.Sweeps = 1 },
	} {
		opt := adamOptions(4, Joint)
		set(&opt)
		if _, err := Solve(t.Context(), adamRuns()[0].problem(t, 600), opt); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

// TestAdamProductCovariance checks that the paper's parametrisation of covariances reaches
// about the bound of cavi, whose covariances are exact.
func TestAdamProductCovariance(t *testing.T) {
	t.Parallel()
	cases := posteriorCases()
	tc := cases[slices.IndexFunc(cases, func(c variantCase) bool { return c.name == "additive" })]
	var bound, variance [3]float64
	for i := range bound {
		opt := adamOptions(100, Joint)
		opt.Seed, opt.ProductCovariance = 2, i == 1
		if i == 0 {
			opt.Solver, opt.Sweeps = "cavi", 40
		}
		p := sameFormProblem(t, tc, tt.Multivariate)
		r := solve(t, p, opt)
		checkPositiveVariances(t, p.Field)
		bound[i], variance[i] = boundAndVariance(t, p, r)
	}
	t.Logf("bound per observation: cavi %.4f, product %.4f, triangular %.4f; variance %.5f, %.5f, %.5f", bound[0], bound[1], bound[2], variance[0], variance[1], variance[2])
	if !(math.Abs(bound[1]-bound[0]) < 0.05) || !(math.Abs(variance[1]/variance[0]-1) < 0.25) || bound[1] == bound[2] {
		t.Errorf("got bound %.4f and variance %.5f, want about %.4f and %.5f, and not exactly those of the triangular factor", bound[1], variance[1], bound[0], variance[0])
	}
}
