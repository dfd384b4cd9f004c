package solver

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Every solver recovers the truth of every form of model, up to the noise.
func TestRecoversTruth(t *testing.T) {
	t.Parallel()
	solvers := map[string]func(*Options){
		"als":        func(*Options) {},
		"adam joint": func(o *Options) { o.Solver, o.Sweeps = "adam", 60 },
		"adam block": func(o *Options) { o.Solver, o.Schedule, o.Sweeps = "adam", Blocks, 60 },
	}
	for name, w := range map[string]synthetic{"three": threeCores, "sum": sumOfTerms, "four": fourCores} {
		for solver, set := range solvers {
			t.Run(name+"/"+solver, func(t *testing.T) {
				opt := defaults()
				set(&opt)
				w.cells = 12000
				r := solve(t, w.problem(t, 2, false), opt)
				// The noise contributes 0.04 of about 1.
				if limit := 0.1; r.Score > limit {
					t.Errorf("got validation error %.4f, want at most %.2f", r.Score, limit)
				}
			})
		}
	}
}

func TestThreadsGiveSameBits(t *testing.T) {
	t.Parallel()
	for _, solver := range []string{"als", "adam"} {
		var want []float32
		for _, threads := range []int{1, 2, 7, 16, 64} {
			w := sumOfTerms
			w.cells = 36000
			p := w.problem(t, 6, false)
			p.Backend = cpu.New(cpu.Paths()[0], threads)
			opt := defaults()
			opt.Solver, opt.Sweeps = solver, 3
			solve(t, p, opt)
			got := flatten(1, nil, p.Field)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other weights than 1 thread", solver, threads)
			}
		}
	}
}

func TestRejectsInput(t *testing.T) {
	t.Parallel()
	adam := func(set func(*Options)) func(*Problem, *Options) {
		return func(_ *Problem, o *Options) {
			o.Solver = "adam"
			set(o)
		}
	}
	for _, tc := range []struct {
		name string
		set  func(*Problem, *Options)
		path string // of the specification field at fault
	}{
		{"solver", func(_ *Problem, o *Options) { o.Solver = "sgd" }, "fit.solver"},
		{"no penalty", func(_ *Problem, o *Options) { o.Ridge = nil }, ""},
		{"sweeps", func(_ *Problem, o *Options) { o.Sweeps = 0 }, "fit.sweeps"},
		{"patience", func(_ *Problem, o *Options) { o.Patience = 0 }, "fit.patience"},
		{"cg steps", func(_ *Problem, o *Options) { o.CGSteps = 0 }, "fit.cg-steps"},
		{"epochs", adam(func(o *Options) { o.Sweeps = 0 }), "fit.epochs"},
		{"learning rate", adam(func(o *Options) { o.LearningRate = 0 }), "fit.learning-rate"},
		{"batch", adam(func(o *Options) { o.Batch = 2 }), "fit.batch"},
		{"schedule", adam(func(o *Options) { o.Schedule = "random" }), "fit.schedule"},
		{"lambda", func(_ *Problem, o *Options) { o.Ridge = &Ridge{Kind: Uniform, Lambda: -1} }, "fit.lambda"},
		{"kind", func(_ *Problem, o *Options) { o.Ridge = &Ridge{Kind: "lasso", Lambda: 1} }, "fit.ridge"},
		{"no data", func(p *Problem, _ *Options) { p.Train = Observations{Codes: p.Train.Codes} }, ""},
		{"no terms", func(p *Problem, _ *Options) { p.Field = &tt.Field{} }, ""},
		{"zero weight", func(p *Problem, _ *Options) { p.Train.W = make([]float32, p.Train.Len()) }, "data.weight"},
		{"state", func(_ *Problem, o *Options) { o.Resume = &State{} }, ""},
	} {
		p, opt := threeCores.problem(t, 11, false), defaults()
		tc.set(p, &opt)
		_, err := Solve(t.Context(), p, opt)
		if err == nil {
			t.Errorf("%s: got no error", tc.name)
		}
		if got := fielderr.Path(err); got != tc.path {
			t.Errorf("%s: got field path %q of error %v, want %q", tc.name, got, err, tc.path)
		}
	}
}
