package solver

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/series"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// continued returns a problem with a train, effects, a core along time and series, and some of its rows in another order.
// Some entities are not in these.
func continued(t *testing.T) (all func() *Problem, some *Problem) {
	t.Helper()
	w := synthetic{sizes: []int{20, 25, 8}, grouping: [][][]int{{{0}, {1}}, {{1}, {2}}, {{0, 1}}, {{2}}}, ranks: []int{2, 2, 1, 1}, cells: 6000, noise: 0.3}
	field := func(codes [][]int32) *tt.Field {
		f := w.field(t, codes)
		time, err := entity.NewAxisIndex(1, []entity.Axis{tt.StepAxis(2, 8)}, codes)
		if err != nil {
			t.Fatal(err)
		}
		f.Terms[1] = tt.NewTrain([][]string{{"b"}, {"c"}}, []*entity.Index{f.Terms[1].Cores[0].Index, time}, []int{2})
		f.Terms[1].Cores[1].SetAlong(series.Prior{Level: .1, Walk: .01, AR: .05, Phi: .8}, []int32{0, 1, 2, 3, 4, 5, 6, 7})
		a, err := entity.NewIndex([]int{0}, w.sizes, codes)
		if err != nil {
			t.Fatal(err)
		}
		f.Series = []*seriesterm.Term{{Label: "series(a; c)", Modes: []string{"a"}, Index: a, Time: 2, Steps: []int32{0, 1, 2, 3, 4, 5, 6, 7},
			Process: &series.Process{Prior: series.Prior{Level: .1, Walk: .1}}}}
		if err := f.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		return f
	}
	all = func() *Problem {
		p := w.problem(t, 5, false)
		p.Field, p.Valid = field(p.Train.Codes), Observations{}
		return p
	}
	some = w.problem(t, 5, false)
	var rows []int
	for i := range some.Train.Len() {
		if some.Train.Codes[0][i] < 18 && some.Train.Codes[2][i] < 7 {
			rows = append(rows, i)
		}
	}
	slices.Reverse(rows)
	some.Train, some.Valid = some.Train.Select(rows), Observations{}
	some.Field = field(some.Train.Codes)
	return all, some
}

// A run that starts from the posterior of fewer observations reaches in few sweeps the bound of one
// that starts from random weights, and can be resumed.
func TestContinuesFromFewerObservations(t *testing.T) {
	t.Parallel()
	all, some := continued(t)
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.Patience = "cavi", 40, 40
	solve(t, some, opt)
	cold := solve(t, all(), opt)
	opt.From, opt.FromSweeps = some.Field, 5
	warm := checkResume(t, opt, 10, 6, all)
	last := func(r Report) float64 { return r.Points[len(r.Points)-1].Bound }
	if warm.Limit != opt.FromSweeps || cold.Limit != opt.Sweeps {
		t.Errorf("the runs could have %d and %d sweeps, want %d and %d", warm.Limit, cold.Limit, opt.FromSweeps, opt.Sweeps)
	}
	if len(warm.Points) > opt.FromSweeps || last(warm) < last(cold)-0.01 || !(warm.Points[0].Train < 1.5*cold.Points[len(cold.Points)-1].Train) {
		t.Errorf("got the bound %.4f after %d sweeps and the loss %.4f after the first, want %.4f and about %.4f", last(warm), len(warm.Points), warm.Points[0].Train, last(cold), cold.Points[len(cold.Points)-1].Train)
	}
}

// A field with other terms, or weights without a posterior, is no start: the run is the one without it.
func TestStartsWithoutUnlikeField(t *testing.T) {
	t.Parallel()
	all, some := continued(t)
	opt := defaults()
	opt.Solver, opt.Sweeps = "cavi", 6
	solve(t, some, opt)
	opt.Start = Start{PointSweeps: 2}
	want := solve(t, all(), opt)
	point := threeCores.problem(t, 5, false).Field
	without, other := *some.Field, *some.Field
	without.Series = nil
	other.Terms = append(slices.Clone(other.Terms), other.Terms[0])
	for _, from := range []*tt.Field{point, &without, &other} {
		opt.From = from
		if got := solve(t, all(), opt); !slices.Equal(got.Points, want.Points) {
			t.Error("got another run than that from random weights")
		}
	}
}

// A run continues with the terms and ranks that pruning left.
func TestContinuesPruned(t *testing.T) {
	t.Parallel()
	all, some := continued(t)
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.Prune = "cavi", 6, true
	some.Field.Terms[0].Resize([]int{1})
	some.Field.Terms = slices.Delete(some.Field.Terms, 2, 3)
	solve(t, some, opt)
	opt.From, opt.FromSweeps = some.Field, 5
	r := checkResume(t, opt, 10, 6, all)
	if len(r.Points) > opt.FromSweeps || !slices.Equal(r.Terms[0].Ranks, []int{1}) || !r.Terms[2].Removed || r.Terms[1].Removed {
		t.Errorf("got %d sweeps and the terms %+v, want rank 1 of the first, no third", len(r.Points), r.Terms)
	}
}
