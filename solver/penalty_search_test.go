package solver

import (
	"fmt"
	"math"
	"testing"
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
	if len(found.Trials) < 6 || found.Trials[0].Ridge.Lambda != startLambda {
		t.Errorf("got trials %v, want at least 6 that start at %g", found.Trials, startLambda)
	}
}

// The search descends in both directions, stops at a minimum, refines it, and never
// tries the same penalty twice.
func TestPenaltySearchPath(t *testing.T) {
	t.Parallel()
	for _, minimum := range []float64{1e-5, 0.004, 0.02, 0.3, 40} {
		s := PenaltySearch{Kinds: []RidgeKind{Frequency}}
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
		if got := bestRidge(trials).Lambda; math.Abs(math.Log(got/minimum)) > math.Log(searchFactor)/3 {
			t.Errorf("minimum %g: got %g after %d trials", minimum, got, len(trials))
		}
	}
}
