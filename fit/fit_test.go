package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/tt"
)

// world is a field with known weights and noisy observations of it.
type world struct {
	sizes    []int
	grouping [][][]int // [term][core]modes
	ranks    []int     // by term
	cells    int
	noise    float64
}

var three = world{sizes: []int{20, 25, 8}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{3}, cells: 4000, noise: 0.2}
var sum = world{sizes: []int{20, 25, 8}, grouping: [][][]int{{{0}, {1}, {2}}, {{0, 1}, {2}}, {{1}}}, ranks: []int{3, 2, 1}, cells: 4000, noise: 0.2}
var four = world{sizes: []int{12, 10, 8, 6}, grouping: [][][]int{{{0}, {1}, {2}, {3}}}, ranks: []int{2}, cells: 4000, noise: 0.2}

func (w world) field(t testing.TB, codes [][]int32) *tt.Field {
	t.Helper()
	f := &tt.Field{}
	for k, cores := range w.grouping {
		var index []*tt.Index
		var names [][]string
		for _, core := range cores {
			x, err := tt.NewIndex(core, w.sizes, codes)
			if err != nil {
				t.Fatal(err)
			}
			var n []string
			for _, m := range core {
				n = append(n, string(rune('a'+m)))
			}
			index, names = append(index, x), append(names, n)
		}
		f.Terms = append(f.Terms, tt.NewTrain(names, index, slices.Repeat([]int{w.ranks[k]}, len(cores)-1)))
	}
	return f
}

// problem draws the truth and splits the cells 3:1 into train and valid.
func (w world) problem(t testing.TB, seed uint64, weighted bool) *Problem {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	codes := make([][]int32, len(w.sizes))
	for m, n := range w.sizes {
		for range w.cells {
			codes[m] = append(codes[m], int32(rng.IntN(n)))
		}
	}
	truth := w.field(t, codes)
	for _, term := range truth.Terms {
		term.Draw(ref.Backend{}, rng, 1/math.Sqrt(float64(len(truth.Terms))))
	}
	y := make([]float32, w.cells)
	truth.Evaluate(ref.Backend{}, y, codes)
	square := 0.0
	for _, v := range y {
		square += float64(v) * float64(v) / float64(w.cells)
	}
	var weights []float32
	for i := range y {
		y[i] = float32(float64(y[i])/math.Sqrt(square) + w.noise*rng.NormFloat64())
		if weighted {
			weights = append(weights, float32(rng.IntN(3)))
		}
	}
	cut := w.cells * 3 / 4
	part := func(from, to int) Observations {
		o := Observations{Y: y[from:to]}
		for _, c := range codes {
			o.Codes = append(o.Codes, c[from:to])
		}
		if weights != nil {
			o.W = weights[from:to]
		}
		return o
	}
	p := &Problem{Backend: cpu.New(cpu.Paths()[0], 2), Train: part(0, cut), Valid: part(cut, w.cells)}
	p.Field = w.field(t, p.Train.Codes)
	return p
}

func defaults() Options {
	return Options{Solver: "als", Ridge: &Ridge{Uniform, 0.3}, Sweeps: 25, Patience: 5, CGSteps: 6, Rate: 0.05, Batch: 0.1, Schedule: Joint, Seed: 1}
}

func solve(t *testing.T, p *Problem, opt Options) Report {
	t.Helper()
	r, err := Solve(context.Background(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every solver finds the truth of every form of model but for the noise.
func TestRecoversTruth(t *testing.T) {
	solvers := map[string]func(*Options){
		"als":        func(*Options) {},
		"adam joint": func(o *Options) { o.Solver, o.Sweeps = "adam", 60 },
		"adam block": func(o *Options) { o.Solver, o.Schedule, o.Sweeps = "adam", Blocks, 60 },
	}
	for name, w := range map[string]world{"three": three, "sum": sum, "four": four} {
		for solver, set := range solvers {
			t.Run(name+"/"+solver, func(t *testing.T) {
				opt := defaults()
				set(&opt)
				w.cells = 12000
				r := solve(t, w.problem(t, 2, false), opt)
				// The noise alone leaves 0.04 of about 1.
				if limit := 0.1; r.Score > limit {
					t.Errorf("validation error %.4f above %.2f", r.Score, limit)
				}
			})
		}
	}
}

// No block of als raises the penalised loss.
func TestALSNeverRises(t *testing.T) {
	for name, w := range map[string]world{"three": three, "sum": sum, "four": four} {
		for _, kind := range []RidgeKind{Uniform, Frequency} {
			for _, weighted := range []bool{false, true} {
				p := w.problem(t, 2, weighted)
				opt := defaults()
				opt.Ridge = &Ridge{kind, 0.1}
				opt.Sweeps, opt.Patience = 6, 6
				d, err := newData(p)
				if err != nil {
					t.Fatal(err)
				}
				s := &session{d: d, opt: opt, state: &State{}}
				if err := s.fresh(); err != nil {
					t.Fatal(err)
				}
				a := newALS(d, p.Train, 4)
				a.begin(&s.state.Run, *opt.Ridge)
				objective := func() float64 {
					a.evaluateAll()
					return a.loss() + opt.Ridge.total(d.field, d.counts)
				}
				before := objective()
				for sweep := range 6 {
					for block := range a.blocks() {
						a.update(block)
						after := objective()
						if after > before*(1+1e-5) {
							t.Errorf("%s, %s, weighted %v: sweep %d, block %s raised the objective from %g to %g", name, kind, weighted, sweep, a.blockName(block), before, after)
						}
						before = after
					}
					a.endSweep(true)
					after := objective()
					if after > before*(1+1e-5) {
						t.Errorf("%s: balancing raised the objective from %g to %g", name, before, after)
					}
					before = after
				}
			}
		}
	}
}

// Rows and conjugate gradients give the ridge solution that a dense solver
// gives for the explicit design matrix.
func TestBlocksAgainstDenseRidge(t *testing.T) {
	for name, w := range map[string]world{"three": three, "four": four} {
		for _, weighted := range []bool{false, true} {
			w.cells = 600
			p := w.problem(t, 3, weighted)
			d, err := newData(p)
			if err != nil {
				t.Fatal(err)
			}
			ridge := Ridge{Frequency, 0.05}
			s := &session{d: d, opt: defaults(), state: &State{}}
			for core := range p.Field.Terms[0].Cores {
				if err := s.fresh(); err != nil {
					t.Fatal(err)
				}
				a := newALS(d, p.Train, 400)
				a.begin(&s.state.Run, ridge)
				want := denseRidge(p, d, core, ridge)
				a.update(core)
				c := p.Field.Terms[0].Cores[core].Slices
				for i, v := range want {
					if math.Abs(float64(c.Mean[i])-v) > 2e-3*(1+math.Abs(v)) {
						t.Errorf("%s, weighted %v, core %d: weight %d is %g, want %g", name, weighted, core, i, c.Mean[i], v)
						break
					}
				}
			}
		}
	}
}

// denseRidge solves for one core with an explicit design matrix in float64.
func denseRidge(p *Problem, d *data, core int, ridge Ridge) []float64 {
	train := p.Field.Terms[0]
	c := train.Cores[core]
	n := c.Slices.Len() - c.Slices.Slice() // the prior's slice is no weight
	gram, rhs := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	index := train.Lookup(p.Train.Codes)
	grad := make([]backend.Slices, len(train.Cores))
	row := backend.NewSlices(c.Slices.Shape)
	grad[core] = row
	for i, y := range p.Train.Y {
		cell := make([][]int32, len(index))
		for q := range index {
			cell[q] = index[q][i : i+1]
		}
		plan := backend.NewPlan(train.Shapes(), cell, backend.First)
		ref.Backend{}.Pass(plan, train.Slices(), &backend.Job{Adjoint: backend.Given, Target: []float32{1}, Grad: grad})
		size := c.Slices.Slice()
		from := int(index[core][i]) * size
		wt := weightAt(d.w, i)
		for a := from; a < from+size; a++ {
			rhs.SetVec(a, rhs.AtVec(a)+wt*float64(y)*float64(row.Mean[a]))
			for b := a; b < from+size; b++ {
				gram.SetSym(a, b, gram.At(a, b)+wt*float64(row.Mean[a])*float64(row.Mean[b]))
			}
		}
	}
	for a := range n {
		gram.SetSym(a, a, gram.At(a, a)+ridge.at(d.counts[0][core][a/c.Slices.Slice()])+1e-12)
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) {
		panic("not positive definite")
	}
	var x mat.VecDense
	if err := chol.SolveVecTo(&x, rhs); err != nil {
		panic(err)
	}
	return x.RawVector().Data
}

// An observation of weight 2 counts as two.
func TestWeightsCount(t *testing.T) {
	p := three.problem(t, 4, false)
	twice := *p
	twice.Train = Observations{Y: slices.Concat(p.Train.Y, p.Train.Y[:500])}
	for _, c := range p.Train.Codes {
		twice.Train.Codes = append(twice.Train.Codes, slices.Concat(c, c[:500]))
	}
	weighted := *p
	weighted.Train.W = make([]float32, p.Train.Len())
	for i := range weighted.Train.W {
		weighted.Train.W[i] = 1
		if i < 500 {
			weighted.Train.W[i] = 2
		}
	}
	// The sum of weights is kept at the number of rows, so the penalty must
	// be scaled alike.
	opt := defaults()
	// Conjugate gradients magnify rounding until they have converged.
	opt.Sweeps, opt.CGSteps = 2, 30
	twice.Field, weighted.Field = three.field(t, p.Train.Codes), three.field(t, p.Train.Codes)
	solve(t, &twice, opt)
	scaled := opt
	scaled.Ridge = &Ridge{Uniform, opt.Ridge.Lambda * float64(p.Train.Len()) / float64(twice.Train.Len())}
	solve(t, &weighted, scaled)
	a, b := make([]float32, p.Valid.Len()), make([]float32, p.Valid.Len())
	twice.Field.Evaluate(p.Backend, a, p.Valid.Codes)
	weighted.Field.Evaluate(p.Backend, b, p.Valid.Codes)
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 5e-3 {
			t.Fatalf("cell %d: %g with the row twice, %g with weight 2", i, a[i], b[i])
		}
	}
}

// memory keeps every state it is given.
type memory struct{ states []State }

func (m *memory) Save(s *State) error {
	m.states = append(m.states, clone(*s))
	return nil
}

func clone(s State) State {
	s.Trials = slices.Clone(s.Trials)
	for _, r := range []*Run{&s.Run, &s.Leader} {
		r.Points, r.Weights, r.Best = slices.Clone(r.Points), slices.Clone(r.Weights), slices.Clone(r.Best)
		memory := make([][]float32, len(r.Memory))
		for i := range memory {
			memory[i] = slices.Clone(r.Memory[i])
		}
		r.Memory = memory
	}
	return s
}

// Going on from the state before any block ends in the same bits.
func TestResumeFromEveryBlock(t *testing.T) {
	for name, set := range map[string]func(*Options){
		"als":        func(*Options) {},
		"als search": func(o *Options) { o.Ridge, o.Search = nil, Search{Kinds: []RidgeKind{Frequency, Uniform}} },
		"adam joint": func(o *Options) { o.Solver = "adam" },
		"adam block": func(o *Options) { o.Solver, o.Schedule = "adam", Blocks },
	} {
		t.Run(name, func(t *testing.T) {
			w := sum
			w.cells = 1200
			p := w.problem(t, 5, true)
			opt := defaults()
			opt.Sweeps = 6
			set(&opt)
			kept := &memory{}
			opt.Keeper = kept
			whole := solve(t, p, opt)
			want := flatten(nil, p.Field)
			if len(kept.states) < 6 {
				t.Fatalf("%d states kept", len(kept.states))
			}
			opt.Keeper = nil
			for i := 0; i < len(kept.states); i += 1 + len(kept.states)/15 {
				state := clone(kept.states[i])
				again := *p
				again.Field = w.field(t, p.Train.Codes)
				resumed := opt
				resumed.Resume = &state
				r := solve(t, &again, resumed)
				if !slices.Equal(flatten(nil, again.Field), want) {
					t.Fatalf("resumed from state %d of %d: other weights", i, len(kept.states))
				}
				if r.Stop != whole.Stop || r.Score != whole.Score || r.Ridge != whole.Ridge || r.Best != whole.Best || !slices.Equal(r.Points, whole.Points) || !slices.Equal(r.Trials, whole.Trials) {
					t.Fatalf("resumed from state %d: report %+v, want %+v", i, r, whole)
				}
			}
		})
	}
}

// failing is a keeper whose second save fails.
type failing struct{ saves int }

func (f *failing) Save(*State) error {
	if f.saves++; f.saves == 2 {
		return errors.New("disk full")
	}
	return nil
}

// A checkpoint that cannot be written ends the fit, also while penalties are
// compared.
func TestFailingKeeper(t *testing.T) {
	p := three.problem(t, 5, false)
	opt := defaults()
	opt.Ridge, opt.Search = nil, Search{Kinds: []RidgeKind{Frequency}}
	opt.Keeper = &failing{}
	if _, err := Solve(context.Background(), p, opt); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("error %v", err)
	}
}

func TestThreadsGiveTheSameBits(t *testing.T) {
	for _, solver := range []string{"als", "adam"} {
		var want []float32
		for _, threads := range []int{1, 2, 8} {
			w := sum
			w.cells = 12000
			p := w.problem(t, 6, false)
			p.Backend = cpu.New(cpu.Paths()[0], threads)
			opt := defaults()
			opt.Solver, opt.Sweeps = solver, 3
			solve(t, p, opt)
			got := flatten(nil, p.Field)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %d threads give other weights than 1", solver, threads)
			}
		}
	}
}

func TestSearchFindsAPenalty(t *testing.T) {
	w := three
	w.cells, w.noise = 2500, 0.8
	p := w.problem(t, 7, false)
	opt := defaults()
	opt.Ridge, opt.Search = nil, Search{Kinds: []RidgeKind{Frequency, Uniform}}
	found := solve(t, p, opt)
	for _, far := range []float64{1e-6, 1e4} {
		p.Field = w.field(t, p.Train.Codes)
		opt.Ridge = &Ridge{Uniform, far}
		if r := solve(t, p, opt); r.Score < found.Score {
			t.Errorf("lambda %g gives %.4f, the search found %.4f at %v", far, r.Score, found.Score, found.Ridge)
		}
	}
	if len(found.Trials) < 6 || found.Trials[0].Ridge.Lambda != startLambda {
		t.Errorf("trials %v", found.Trials)
	}
}

// The walk goes downhill in both directions, stops at a minimum, refines it,
// and never asks for the same penalty twice.
func TestSearchWalk(t *testing.T) {
	for _, minimum := range []float64{1e-5, 0.004, 0.02, 0.3, 40} {
		s := Search{Kinds: []RidgeKind{Frequency}}
		var trials []Trial
		tried := map[string]bool{}
		for {
			r, more := s.next(trials, nil)
			if !more {
				break
			}
			key := fmt.Sprintf("%.6g", r.Lambda)
			if tried[key] || len(trials) > 20 {
				t.Fatalf("minimum %g: tried %s again after %v", minimum, key, trials)
			}
			tried[key] = true
			d := math.Log(r.Lambda / minimum)
			trials = append(trials, Trial{r, 1 + d*d})
		}
		if got := leader(trials).Lambda; math.Abs(math.Log(got/minimum)) > math.Log(searchFactor)/3 {
			t.Errorf("minimum %g: found %g after %d trials", minimum, got, len(trials))
		}
	}
}

// A rate far too large is lowered, or the failure is put into words; no weight
// is ever left that is not finite.
func TestDivergenceIsMendedOrReported(t *testing.T) {
	for _, rate := range []float64{1e3, 1e18, 1e30} {
		p := three.problem(t, 8, false)
		opt := defaults()
		opt.Solver, opt.Rate = "adam", rate
		r, err := Solve(context.Background(), p, opt)
		var diverged *DivergedError
		switch {
		case err != nil && !errors.As(err, &diverged):
			t.Errorf("rate %g: %v", rate, err)
		case err == nil && len(r.Warnings) == 0:
			t.Errorf("rate %g: no warning", rate)
		}
		checkWords(t, strings.Join(append(r.Warnings, fmt.Sprint(err)), "\n"))
		if err != nil && !strings.Contains(err.Error(), "diverged in epoch") {
			t.Errorf("rate %g: %v", rate, err)
		}
		for _, v := range flatten(nil, p.Field) {
			if err == nil && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)) {
				t.Fatalf("rate %g: a weight is %g", rate, v)
			}
		}
	}
}

// checkWords holds that a message has no number that says nothing to people.
func checkWords(t *testing.T, message string) {
	t.Helper()
	if bad := regexp.MustCompile(`NaN|Inf|[0-9]{5}| 1 times`).FindString(message); bad != "" {
		t.Errorf("%q in the message %q", bad, message)
	}
}

func TestDivergedMessages(t *testing.T) {
	for _, tc := range []struct {
		solver string
		p      Point
		want   string
	}{
		{"adam", Point{Score: math.NaN()}, "the error is no finite number, also at a rate of 0.33; give a smaller --rate, a larger --lambda, or lower ranks"},
		{"adam", Point{Score: 1, Train: math.Inf(1)}, "the error is no finite number, also at a rate of 0.33; give a smaller --rate, a larger --lambda, or lower ranks"},
		{"als", Point{Score: 12345.678901}, "the error grew to 1.2e+04 times the target's variance; give a larger --lambda, or lower ranks"},
	} {
		s := &session{opt: Options{Solver: tc.solver}, state: &State{Run: Run{Rate: 1.0 / 3}}}
		if got := s.cause(tc.p); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}

// Without penalty and with more weights than data the equations are singular.
func TestNoPenaltyStaysFinite(t *testing.T) {
	w := world{sizes: []int{30, 30, 6}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{6}, cells: 200, noise: 0.1}
	p := w.problem(t, 9, false)
	opt := defaults()
	opt.Ridge = &Ridge{Uniform, 0}
	r := solve(t, p, opt)
	for _, v := range flatten(nil, p.Field) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("a weight is %g", v)
		}
	}
	if len(r.Warnings) == 0 {
		t.Error("singular equations were not reported")
	}
}

func TestStops(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		p := three.problem(t, 10, false)
		ctx, cancel := context.WithCancel(context.Background())
		opt := defaults()
		opt.Progress = func(e Event) {
			if e.Sweep == 2 && e.Block == 1 {
				cancel()
			}
		}
		r, err := Solve(ctx, p, opt)
		if err != nil || r.Stop != Interrupted || len(r.Points) != 2 {
			t.Errorf("%v, %+v", err, r)
		}
	})
	t.Run("cancelled at once", func(t *testing.T) {
		p := three.problem(t, 10, false)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if r, err := Solve(ctx, p, defaults()); err != nil || r.Stop != Interrupted {
			t.Errorf("%v, %+v", err, r)
		}
	})
	t.Run("time budget", func(t *testing.T) {
		p := three.problem(t, 10, false)
		opt := defaults()
		clock := time.Unix(0, 0)
		opt.now = func() time.Time { clock = clock.Add(time.Second); return clock }
		opt.TimeBudget = 8 * time.Second
		if r := solve(t, p, opt); r.Stop != Budget || r.Blocks < 3 || r.Blocks > 9 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("patience", func(t *testing.T) {
		w := three
		w.noise = 2 // overfits soon
		p := w.problem(t, 10, false)
		opt := defaults()
		opt.Ridge, opt.Sweeps, opt.Patience = &Ridge{Uniform, 1e-3}, 100, 2
		r := solve(t, p, opt)
		if r.Stop != Converged || len(r.Points) > r.Best+4 {
			t.Errorf("best sweep %d of %d, %s", r.Best, len(r.Points), r.Stop)
		}
		// The best weights are kept, not the last.
		d, _ := newData(p)
		if v := d.validLoss(); v != r.Score {
			t.Errorf("the field's validation error is %g, the report says %g", v, r.Score)
		}
	})
	t.Run("no validation data", func(t *testing.T) {
		p := three.problem(t, 10, false)
		p.Valid = Observations{}
		opt := defaults()
		opt.Ridge, opt.Search = nil, Search{Kinds: []RidgeKind{Frequency}}
		r := solve(t, p, opt)
		if r.Ridge.Lambda != startLambda || len(r.Warnings) == 0 || r.Score > 0.2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestRefuses(t *testing.T) {
	for name, set := range map[string]func(*Problem, *Options){
		"solver":      func(_ *Problem, o *Options) { o.Solver = "sgd" },
		"schedule":    func(_ *Problem, o *Options) { o.Solver, o.Schedule = "adam", "random" },
		"lambda":      func(_ *Problem, o *Options) { o.Ridge = &Ridge{Uniform, -1} },
		"kind":        func(_ *Problem, o *Options) { o.Ridge = &Ridge{"lasso", 1} },
		"no data":     func(p *Problem, _ *Options) { p.Train = Observations{Codes: p.Train.Codes} },
		"no terms":    func(p *Problem, _ *Options) { p.Field = &tt.Field{} },
		"zero weight": func(p *Problem, _ *Options) { p.Train.W = make([]float32, p.Train.Len()) },
		"state":       func(_ *Problem, o *Options) { o.Resume = &State{} },
	} {
		p, opt := three.problem(t, 11, false), defaults()
		set(p, &opt)
		if _, err := Solve(context.Background(), p, opt); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
