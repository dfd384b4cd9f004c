package fit

import "math"

// A Search looks for the penalty of least validation error by short runs: for
// each kind it walks down the error in steps of a factor until the best
// penalty has worse neighbours, then tries half steps beside it.
//
// What to try next follows from the trials made so far and nothing else, so a
// resumed search goes the same way.
type Search struct {
	Kinds []RidgeKind
	// Lambda, where positive, is the penalty to compare the kinds at; there is
	// then nothing to walk along.
	Lambda float64
}

const (
	searchFactor = 3    // between neighbouring penalties
	maxWalk      = 10   // penalties tried a kind, half steps not counted
	hopeless     = 1.05 // a kind this much worse than another is not refined
	// startLambda is where the walk begins, a typical observation's share of
	// the penalty relative to its loss.
	startLambda = 0.02
)

// next returns the penalty to try, or false when the search is over. counts
// holds the summed weights of the entities: [term][core][entity].
func (s Search) next(trials []Trial, counts [][][]float64) (Ridge, bool) {
	overall := worst
	for _, t := range trials {
		overall = min(overall, t.Score)
	}
	for _, kind := range s.Kinds {
		if lambda, ok := s.nextOf(kind, trials, overall, counts); ok {
			return Ridge{kind, lambda}, true
		}
	}
	return Ridge{}, false
}

func (s Search) nextOf(kind RidgeKind, trials []Trial, overall float64, counts [][][]float64) (float64, bool) {
	start := s.start(kind, counts)
	// Penalties are start * factor^(step/2); walking takes even steps.
	scores := map[int]float64{}
	walked := 0
	for _, t := range trials {
		if t.Ridge.Kind != kind {
			continue
		}
		step := int(math.Round(2 * math.Log(t.Ridge.Lambda/start) / math.Log(searchFactor)))
		scores[step] = t.Score
		if step%2 == 0 {
			walked++
		}
	}
	if len(scores) == 0 {
		return start, true
	}
	if s.Lambda > 0 {
		return 0, false
	}
	best := bestStep(scores)
	at := func(step int) float64 { return start * math.Pow(searchFactor, float64(step)/2) }
	if best%2 == 0 && walked < maxWalk {
		for _, step := range []int{best + 2, best - 2} {
			if _, tried := scores[step]; !tried {
				return at(step), true
			}
		}
	}
	if best%2 != 0 || scores[best] > hopeless*overall {
		return 0, false
	}
	for _, step := range []int{best + 1, best - 1} {
		if _, tried := scores[step]; !tried {
			return at(step), true
		}
	}
	return 0, false
}

// bestStep returns the step of the least score, the largest penalty on ties.
func bestStep(scores map[int]float64) int {
	best, found := 0, false
	for step, v := range scores {
		if !found || v < scores[best] || (v == scores[best] && step > best) {
			best, found = step, true
		}
	}
	return best
}

// start returns the first penalty of a kind. A uniform one begins where it
// weighs as much as the frequency one on entities of typical count.
func (s Search) start(kind RidgeKind, counts [][][]float64) float64 {
	if s.Lambda > 0 {
		return s.Lambda
	}
	if kind == Frequency {
		return startLambda
	}
	sum, n := 0.0, 0
	for _, term := range counts {
		for _, core := range term {
			total := 0.0
			for _, c := range core {
				total += c
			}
			sum += math.Log(total / float64(len(core)))
			n++
		}
	}
	return startLambda * math.Exp(sum/float64(n))
}

// leader returns the best trial's penalty.
func leader(trials []Trial) Ridge {
	best := trials[0]
	for _, t := range trials {
		if t.Score < best.Score {
			best = t
		}
	}
	return best.Ridge
}
