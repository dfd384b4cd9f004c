package solver

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/solver/penalty"
)

func TestPenaltySearch(t *testing.T) {
	t.Parallel()
	w := threeCores
	w.cells, w.noise = 2500, 0.8
	p := w.problem(t, 7, false)
	opt := defaults()
	opt.Ridge, opt.PenaltySearch = nil, PenaltySearch{Kinds: []RidgeKind{Frequency, Uniform}}
	found := solve(t, p, opt)
	for _, lambda := range []float64{1e-6, 1e4} {
		p.Field = w.field(t, p.Train.Codes)
		opt.Ridge = &Ridge{Kind: Uniform, Lambda: lambda}
		if r := solve(t, p, opt); r.Score < found.Score {
			t.Errorf("lambda %g has score %.4f, better than %.4f of the search at %v", lambda, r.Score, found.Score, found.Ridge)
		}
	}
	if len(found.Trials) < 6 || found.Trials[0].Ridge.Lambda != penalty.StartLambda {
		t.Errorf("got trials %v, want at least 6 that start at %g", found.Trials, penalty.StartLambda)
	}
}
