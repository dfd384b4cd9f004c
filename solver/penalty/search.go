package penalty

import "math"

// A Search finds the penalty with the lowest validation error by short runs.
// For each kind it changes lambda by a constant factor, in the direction of lower
// error, until the best value lies between worse neighbors. Then it tries half
// steps on both sides of it.
//
// The next penalty depends only on the trials so far, so a resumed search takes the
// same path.
type Search struct {
	Kinds []Kind
	// Lambda, if positive, is the only penalty tried for each kind.
	Lambda float64
}

// A Trial is the result of a short run with one penalty.
type Trial struct {
	Ridge Ridge   `json:"ridge"`
	Score float64 `json:"score"`
}

const (
	searchFactor = 3    // between neighboring penalties
	maxWalk      = 10   // penalties tried per kind, without half steps
	hopeless     = 1.05 // a kind whose score is worse than the best by this factor is not refined
	// StartLambda is the first penalty: the share of the penalty of a typical
	// observation relative to its loss.
	StartLambda = 0.02
)

// Next returns the penalty to try, or false when the search is finished.
// entityWeights holds the summed weights per entity: [term][core][entity].
func (s Search) Next(trials []Trial, entityWeights [][][]float64) (Ridge, bool) {
	overall := math.MaxFloat64
	for _, t := range trials {
		overall = min(overall, t.Score)
	}
	for _, kind := range s.Kinds {
		if lambda, ok := s.nextOf(kind, trials, overall, entityWeights); ok {
			return Ridge{Kind: kind, Lambda: lambda}, true
		}
	}
	return Ridge{}, false
}

func (s Search) nextOf(kind Kind, trials []Trial, overall float64, entityWeights [][][]float64) (float64, bool) {
	start := s.Start(kind, entityWeights)
	// Penalties are start * factor^(step/2); full steps are even.
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

// bestStep returns the step with the lowest score, the largest penalty on ties.
func bestStep(scores map[int]float64) int {
	best, found := 0, false
	for step, v := range scores {
		if !found || v < scores[best] || (v == scores[best] && step > best) {
			best, found = step, true
		}
	}
	return best
}

// Start returns the first penalty of a kind. A uniform penalty starts where it
// equals the frequency penalty for entities of typical weight.
func (s Search) Start(kind Kind, entityWeights [][][]float64) float64 {
	if s.Lambda > 0 {
		return s.Lambda
	}
	if kind == Frequency {
		return StartLambda
	}
	sum, n := 0.0, 0
	for _, term := range entityWeights {
		for _, core := range term {
			total := 0.0
			for _, c := range core {
				total += c
			}
			sum += math.Log(total / float64(len(core)))
			n++
		}
	}
	return StartLambda * math.Exp(sum/float64(n))
}

// BestRidge returns the penalty of the best trial.
func BestRidge(trials []Trial) Ridge {
	best := trials[0]
	for _, t := range trials {
		if t.Score < best.Score {
			best = t
		}
	}
	return best.Ridge
}
