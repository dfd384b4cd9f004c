package solver

import (
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
)

// oneStore is a table in which one id of the first mode has almost all rows, and
// items have about two rows each.
func oneStore(t *testing.T, seed uint64, items int) *Problem {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	var all, train, valid Observations
	all.Codes = make([][]int32, 3)
	for i := range items {
		level := rng.NormFloat64()
		for month := range 3 {
			store := 0
			if i == 0 {
				store = month
			}
			for m, code := range []int{store, i, month} {
				all.Codes[m] = append(all.Codes[m], int32(code))
			}
			all.Y = append(all.Y, float32(0.9*level+0.3*rng.NormFloat64()))
		}
	}
	rows := rng.Perm(all.Len())
	cut := len(rows) * 3 / 4
	train, valid = all.Select(rows[:cut]), all.Select(rows[cut:])
	w := synthetic{sizes: []int{3, items, 3}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{3}}
	return &Problem{Backend: cpu.New(cpu.Paths()[0], 2), Train: train, Valid: valid, Field: w.field(t, all.Codes)}
}

// A posterior does not end below a point estimate on a table on which it collapses
// from random start values, and the report says how it was started.
func TestCollapsedPosteriorStartsAgain(t *testing.T) {
	t.Parallel()
	again := 0
	for seed := uint64(1); seed <= 4; seed++ {
		point := oneStore(t, seed, 1000)
		opt := defaults()
		opt.Seed, opt.Ridge, opt.PenaltySearch = seed, nil, PenaltySearch{Kinds: []RidgeKind{Uniform}}
		want := solve(t, point, opt).Score
		for _, family := range []tt.Family{tt.MeanField, tt.EntityCovariance} {
			p := oneStore(t, seed, 1000)
			if err := p.Field.SetFamily(family); err != nil {
				t.Fatal(err)
			}
			opt.Solver, opt.Sweeps = "cavi", 40
			r := solve(t, p, opt)
			if r.Score > want+0.01 {
				t.Errorf("seed %d, %s: got a squared error of %.4f, want at most %.4f as for a point estimate; warnings %q", seed, family, r.Score, want+0.01, r.Warnings)
			}
			if r.Start != (Start{}) {
				again++
			}
		}
	}
	if again == 0 {
		t.Error("got no fit that was started again, want some")
	}
}

// Without a validation set, too, a collapsed posterior starts again.
func TestCollapseWithoutValidation(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 3; seed++ {
		p := oneStore(t, seed, 1000)
		p.Valid = Observations{}
		if err := p.Field.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		opt := defaults()
		opt.Solver, opt.Sweeps, opt.Seed = "cavi", 40, seed
		if r := solve(t, p, opt); r.Noise > 0.5 {
			t.Errorf("seed %d: got noise %.3f, want less than half of the variance of the target; warnings %q", seed, r.Noise, r.Warnings)
		}
	}
}

// A run resumed in any attempt gives the same bits.
func TestAttemptsResume(t *testing.T) {
	t.Parallel()
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.CGSteps = "cavi", 8, 2
	again := false
	for seed := uint64(1); seed <= 3; seed++ {
		opt.Seed = seed
		r := checkResume(t, opt, 30, 12, func() *Problem {
			p := oneStore(t, seed, 300)
			if err := p.Field.SetFamily(tt.MeanField); err != nil {
				t.Fatal(err)
			}
			return p
		})
		again = again || r.Start != (Start{})
	}
	if !again {
		t.Error("got no fit that was started again, want some")
	}
}
