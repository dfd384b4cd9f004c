package fit

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
)

// adamRuns are fits whose bits have to be the same however they are run.
func adamRuns() []caviRun {
	return slices.DeleteFunc(caviRuns(), func(r caviRun) bool { return r.counts != nil })
}

func TestAdamPosteriorResumesFromEveryBlock(t *testing.T) {
	for i, run := range adamRuns() {
		for _, validated := range []bool{true, false} {
			opt := adamOptions(8, []Schedule{Joint, Blocks}[i%2])
			opt.Patience = 2
			problem := func() *Problem {
				p := run.problem(t, 600)
				if !validated {
					p.Valid = Observations{}
				}
				return p
			}
			kept := &memory{}
			opt.Keeper = kept
			p := problem()
			whole := solve(t, p, opt)
			want := flatten(nil, p.Field)
			if warned := len(whole.Warnings) > 0; warned != (run.family == tt.Rows) {
				t.Errorf("%s: warnings %q", run.name, whole.Warnings)
			}
			opt.Keeper = nil
			for i := 0; i < len(kept.states); i += 1 + len(kept.states)/6 {
				state := clone(kept.states[i])
				again, resumed := problem(), opt
				resumed.Resume = &state
				r := solve(t, again, resumed)
				if !slices.Equal(flatten(nil, again.Field), want) {
					t.Fatalf("%s: resumed from state %d of %d: other weights", run.name, i, len(kept.states))
				}
				if r.Stop != whole.Stop || r.Score != whole.Score || r.Noise != whole.Noise || r.Best != whole.Best || !slices.Equal(r.Points, whole.Points) {
					t.Fatalf("%s: resumed from state %d: report %+v, want %+v", run.name, i, r, whole)
				}
			}
		}
	}
}

// Kernels move in either phase, and a run with them resumes as well.
func TestAdamPosteriorResumesWithKernels(t *testing.T) {
	fit := func(resume *State, keeper Keeper) ([]float32, Report) {
		p, op := learnable(t, tt.WLR, -1)
		if err := p.Field.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		opt := adamOptions(6, Joint)
		opt.Resume, opt.Keeper = resume, keeper
		r := solve(t, p, opt)
		return append(flatten(nil, p.Field), float32(op.theta)), r
	}
	kept := &memory{}
	want, whole := fit(nil, kept)
	for i := range kept.states {
		state := clone(kept.states[i])
		if got, r := fit(&state, nil); !slices.Equal(got, want) || !slices.Equal(r.Points, whole.Points) {
			t.Fatalf("resumed from state %d of %d: other weights", i, len(kept.states))
		}
	}
}

func TestAdamPosteriorThreadsGiveTheSameBits(t *testing.T) {
	for _, run := range adamRuns() {
		var want []float32
		for _, threads := range []int{1, 2, 8} {
			p := run.problem(t, 4000)
			p.Backend = cpu.New(cpu.Paths()[0], threads)
			r := solve(t, p, adamOptions(2, Joint))
			got := append(flatten(nil, p.Field), float32(r.Noise), float32(r.Score))
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other weights than 1", run.name, threads)
			}
		}
	}
}

// Means that no longer improve do not end a run: the variances follow, and what
// is kept is never worse than where they started.
func TestAdamComesToTheVariances(t *testing.T) {
	p := adamRuns()[0].problem(t, 2000)
	opt := adamOptions(60, Joint)
	opt.Patience = 2
	names := map[string]bool{}
	opt.Progress = func(e Event) { names[e.BlockName] = true }
	r := solve(t, p, opt)
	first := slices.IndexFunc(r.Points, func(p Point) bool { return p.Sweep >= 30 })
	if first < 1 || first >= 30 || r.Points[first].Sweep != 30 {
		t.Fatalf("the second phase began with point %d: %+v", first, r.Points)
	}
	if !names["all cores"] || !names["variances of all cores"] {
		t.Errorf("blocks %v", names)
	}
	for _, point := range r.Points[first:] {
		if point.Score < r.Score || point.Valid > 0.5 {
			t.Errorf("%+v beside the best score, %g", point, r.Score)
		}
	}
	if len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
}

// A run that ends before the variances says so.
func TestAdamBeforeTheVariances(t *testing.T) {
	p := adamRuns()[0].problem(t, 600)
	opt := adamOptions(60, Joint)
	clock := time.Unix(0, 0)
	opt.TimeBudget, opt.now = 3*time.Second, func() time.Time { return clock }
	opt.Progress = func(e Event) {
		if e.Point != nil {
			clock = clock.Add(time.Second)
		}
	}
	if r := solve(t, p, opt); r.Stop != Budget || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "before adam came to the variances") {
		t.Errorf("%+v", r)
	}
}

// A bound that is no number is mended from the best posterior, or named.
func TestAdamBoundThatIsNoNumber(t *testing.T) {
	p := adamRuns()[0].problem(t, 700)
	opt := adamOptions(10, Joint)
	opt.Progress = func(e Event) {
		if e.Point != nil && e.Point.Sweep == 6 {
			p.Field.Terms[0].Cores[0].Slices.Var[0] = float32(math.NaN())
		}
	}
	r := solve(t, p, opt)
	positive(t, p.Field)
	if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "diverged once") {
		t.Errorf("warnings %q", r.Warnings)
	}
	p = adamRuns()[0].problem(t, 700)
	p.Train.Y[3] = float32(math.Inf(1))
	_, err := Solve(context.Background(), p, adamOptions(20, Blocks))
	var diverged *DivergedError
	if !errors.As(err, &diverged) || diverged.Block == "" || diverged.Unit != "epoch" {
		t.Errorf("error %v", err)
	}
}

func TestAdamRefuses(t *testing.T) {
	for name, set := range map[string]func(*Options){
		"counts": func(o *Options) { o.Counts = &Counts{Law: "poisson"} },
		"noise":  func(o *Options) { o.Noise = func(_, s []float32) []float64 { return make([]float64, len(s)) } },
		"epochs": func(o *Options) { o.Sweeps = 1 },
	} {
		opt := adamOptions(4, Joint)
		set(&opt)
		if _, err := Solve(context.Background(), adamRuns()[0].problem(t, 600), opt); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
