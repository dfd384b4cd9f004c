package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
)

// offeredTooMuch is a table of a train of rank 2 and an effect, for which a train of
// rank 8, the effect and two useless terms are offered.
func offeredTooMuch(t *testing.T, threads int) *Problem {
	t.Helper()
	truth := synthetic{sizes: []int{25, 30, 10}, grouping: [][][]int{{{0}, {1}, {2}}, {{0}}}, ranks: []int{2, 1}, cells: 6000, noise: 0.5}
	p := truth.problem(t, 4, false)
	offered := truth
	offered.grouping, offered.ranks = [][][]int{{{0}, {1}, {2}}, {{0}}, {{1, 2}}, {{0, 2}}}, []int{8, 1, 1, 1}
	p.Field = offered.field(t, p.Train.Codes)
	p.Backend = cpu.New(cpu.Paths()[0], threads)
	if err := p.Field.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	return p
}

func pruning() Options {
	opt := defaults()
	opt.Solver, opt.Sweeps, opt.Prune = "cavi", 40, true
	return opt
}

// Ranks shrink to about the truth, useless terms are removed, the others stay, and the
// error is not above that of the whole structure.
func TestPruning(t *testing.T) {
	t.Parallel()
	whole := pruning()
	whole.Prune = false
	want := solve(t, offeredTooMuch(t, 2), whole)
	p := offeredTooMuch(t, 2)
	r := solve(t, p, pruning())
	if r.Score > want.Score*1.001 {
		t.Errorf("got a squared error of %.4f, want at most that of the whole structure, %.4f", r.Score, want.Score)
	}
	if got := r.Terms[0]; got.Removed || slices.Max(got.Ranks) > 4 || !slices.Equal(got.Offered, []int{8, 8}) {
		t.Errorf("got %+v for the train, want ranks of at most 4 of 8", got)
	}
	if r.Terms[1].Removed || !r.Terms[2].Removed || !r.Terms[3].Removed {
		t.Errorf("got %+v, want only the last two terms removed", r.Terms)
	}
	if len(p.Field.Terms) != 2 || !slices.Equal(p.Field.Terms[0].Ranks(), r.Terms[0].Ranks) {
		t.Errorf("got a field of %d terms, want the two of the report with their ranks", len(p.Field.Terms))
	}
	for _, term := range want.Terms {
		if term.Removed || !slices.Equal(term.Ranks, term.Offered) {
			t.Errorf("got %+v without pruning, want what was offered", term)
		}
	}
}

// A pruned run resumed from any block gives the same bits, and so does any number of
// threads.
func TestPrunedRunsGiveSameBits(t *testing.T) {
	t.Parallel()
	opt := pruning()
	r := checkResume(t, opt, 30, 6, func() *Problem { return offeredTooMuch(t, 2) })
	if !slices.ContainsFunc(r.Terms, func(s TermShape) bool { return s.Removed }) {
		t.Error("got no run in which a term was removed, want one")
	}
	var want []float32
	for _, threads := range []int{1, 3} {
		p := offeredTooMuch(t, threads)
		solve(t, p, opt)
		got := flatten(1, nil, p.Field)
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads give other weights than 1 thread", threads)
		}
	}
}

// A train without any main effect that is offered with far too high a rank does not
// vanish.
func TestHighRankSurvives(t *testing.T) {
	t.Parallel()
	truth := synthetic{sizes: []int{60, 80, 12}, grouping: [][][]int{{{0}, {1}, {2}}}, ranks: []int{2}, cells: 9000}
	scores := map[int]float64{}
	for _, rank := range []int{2, 20} {
		p := truth.problem(t, 6, false)
		redrawTruth(p)
		offered := truth
		offered.grouping, offered.ranks = [][][]int{{{0}}, {{1}}, {{0, 2}}, {{0}, {1}, {2}}}, []int{1, 1, 1, rank}
		p.Field = offered.field(t, p.Train.Codes)
		if err := p.Field.SetFamily(tt.MeanField); err != nil {
			t.Fatal(err)
		}
		r := solve(t, p, pruning())
		scores[rank] = r.Score
		if got := r.Terms[3]; got.Removed || slices.Max(got.Ranks) > 4 {
			t.Errorf("rank %d: got %+v, want ranks of about 2", rank, got)
		}
	}
	if scores[20] > 1.1*scores[2] {
		t.Errorf("got a squared error of %.4f with rank 20, want about that of the true rank, %.4f", scores[20], scores[2])
	}
}

// redrawTruth replaces the targets by those of a product of independent normal slices of
// rank 2, without main effects, plus noise of the same variance.
func redrawTruth(p *Problem) {
	rng := rand.New(rand.NewPCG(5, 6))
	var slices [3][100][4]float64
	for m := range slices {
		for e := range slices[m] {
			for k := range slices[m][e] {
				slices[m][e][k] = rng.NormFloat64()
			}
		}
	}
	for _, o := range []*Observations{&p.Train, &p.Valid} {
		for i := range o.Y {
			a, b, c := slices[0][o.Codes[0][i]], slices[1][o.Codes[1][i]], slices[2][o.Codes[2][i]]
			f := 0.0
			for k := range 4 {
				f += a[k/2] * b[k] * c[k%2] / 2
			}
			o.Y[i] = float32((f + rng.NormFloat64()) / math.Sqrt2)
		}
	}
}
