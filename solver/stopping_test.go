package solver

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/solver/penalty"
	"github.com/kernel-fried-tensor/kft/tt"
)

func TestStopReasons(t *testing.T) {
	t.Parallel()
	t.Run("cancelled", func(t *testing.T) {
		p := threeCores.problem(t, 10, false)
		ctx, cancel := context.WithCancel(t.Context())
		opt := defaults()
		opt.Progress = func(e Event) {
			if e.Sweep == 2 && e.Block == 1 {
				cancel()
			}
		}
		r, err := Solve(ctx, p, opt)
		if err != nil || r.Stop != Interrupted || len(r.Points) != 2 {
			t.Errorf("got error %v and report %+v, want an interrupted run", err, r)
		}
	})
	t.Run("cancelled at once", func(t *testing.T) {
		p := threeCores.problem(t, 10, false)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if r, err := Solve(ctx, p, defaults()); err != nil || r.Stop != Interrupted {
			t.Errorf("got error %v and report %+v, want an interrupted run", err, r)
		}
	})
	t.Run("time budget", func(t *testing.T) {
		p := threeCores.problem(t, 10, false)
		opt := defaults()
		clock := time.Unix(0, 0)
		opt.now = func() time.Time { clock = clock.Add(time.Second); return clock }
		opt.TimeBudget = 8 * time.Second
		if r := solve(t, p, opt); r.Stop != Budget || r.Blocks < 3 || r.Blocks > 9 {
			t.Errorf("got %+v, want a stop by the time budget after 3 to 9 blocks", r)
		}
	})
	t.Run("patience", func(t *testing.T) {
		w := threeCores
		w.noise = 2 // overfits early
		p := w.problem(t, 10, false)
		opt := defaults()
		opt.Ridge, opt.Sweeps, opt.Patience = &Ridge{Kind: Uniform, Lambda: 1e-3}, 100, 2
		r := solve(t, p, opt)
		if r.Stop != Converged || len(r.Points) > r.Best+4 {
			t.Errorf("best sweep %d of %d, stop %q; want convergence after 2 sweeps without improvement", r.Best, len(r.Points), r.Stop)
		}
		// The best weights are restored, not the last.
		d, _ := newData(p)
		if v := d.validLoss(); v != r.Score {
			t.Errorf("validation error of the field: got %g, want %g as reported", v, r.Score)
		}
	})
	t.Run("no validation data", func(t *testing.T) {
		p := threeCores.problem(t, 10, false)
		p.Valid = Observations{}
		opt := defaults()
		opt.Ridge, opt.PenaltySearch = nil, PenaltySearch{Kinds: []RidgeKind{Frequency}}
		r := solve(t, p, opt)
		if r.Ridge.Lambda != penalty.StartLambda || len(r.Warnings) == 0 || r.Score > 0.2 {
			t.Errorf("got %+v, want the first penalty of the search, a warning and a score of at most 0.2", r)
		}
	})
}

// TestTemperedPrune checks that a tempered run ends once it is behind the first run, some
// sweeps after its noise is the learned one.
func TestTemperedPrune(t *testing.T) {
	t.Parallel()
	points := func(score float64) (all []Point) {
		for s := range 2*temperSweeps + 1 {
			all = append(all, Point{Sweep: s, Score: score})
		}
		return all
	}
	for _, c := range []struct {
		sweep int
		score float64
		want  bool
	}{{2*temperSweeps - 2, 0.31, false}, {2*temperSweeps - 1, 0.31, true}, {2*temperSweeps - 1, 0.29, false}, {2*temperSweeps + 3, 0.31, false}} {
		dr := &driver{state: &State{}}
		dr.state.Leader.Points = points(0.3)
		dr.state.Run = Run{Tempered: true, Sweep: c.sweep, Points: []Point{{Sweep: c.sweep, Score: c.score}}}
		if got := dr.shouldPrune(); got != c.want {
			t.Errorf("score %g after sweep %d: got %v, want %v", c.score, c.sweep, got, c.want)
		}
	}
}

// TestBoundDecreased checks that a decrease of the bound where parts of the field were removed, or
// after the sweep that is kept, is not reported, but one at that sweep.
func TestBoundDecreased(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bounds []float64
		best   int
		want   bool
	}{
		{[]float64{-3, -2, -1, -1.5, -1.2, -1.1, -1.05}, 6, false},
		{[]float64{-3, -2, -1, -0.9, -0.8, -1.1}, 4, false},
		{[]float64{-3, -2, -1, -0.9, -0.8, -1.1}, 5, true},
		{[]float64{-3, -2, -1, -0.9, -0.9, -0.9 - 1e-7}, 5, false},
	} {
		dr := &driver{d: &data{}, opt: Options{Solver: "cavi"}, state: &State{}}
		dr.state.Run.BestSweep = c.best
		for i, bound := range c.bounds {
			dr.state.Run.Points = append(dr.state.Run.Points, Point{Sweep: i, Bound: bound})
		}
		if got := dr.boundDecreased(); got != c.want {
			t.Errorf("bounds %v, best sweep %d: got %v, want %v", c.bounds, c.best, got, c.want)
		}
	}
}

// TestChanceSweep checks that few validation rows do not choose an early sweep by chance: of noise, a train keeps few of the values that
// it starts with.
func TestChanceSweep(t *testing.T) {
	t.Parallel()
	noise := synthetic{sizes: []int{8, 20}, grouping: [][][]int{{{0}, {1}}}, ranks: []int{4}, cells: 160, noise: 1}
	all := [][]int32{nil, nil}
	for a := range noise.sizes[0] {
		for b := range noise.sizes[1] {
			all[0], all[1] = append(all[0], int32(a)), append(all[1], int32(b))
		}
	}
	square := 0.0
	const tables = 20
	for seed := range uint64(tables) {
		p := noise.problem(t, seed, false)
		rng := rand.New(rand.NewPCG(seed, 3))
		for _, y := range [][]float32{p.Train.Y, p.Valid.Y} {
			for i := range y {
				y[i] = float32(rng.NormFloat64())
			}
		}
		if err := p.Field.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		opt := defaults()
		opt.Solver, opt.Ridge, opt.Sweeps, opt.Prune = "cavi", nil, 60, true
		solve(t, p, opt)
		f := make([]float32, len(all[0]))
		p.Field.Evaluate(p.Backend, f, all)
		mean := 0.0
		for _, v := range f {
			mean += float64(v) * float64(v) / float64(len(f))
		}
		square += mean / tables
	}
	if square > 0.002 {
		t.Errorf("got a mean square of %.4f of the field of noise of variance 1, want at most 0.002", square)
	}
}
