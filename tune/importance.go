package tune

import (
	"cmp"
	"math"
	"slices"
)

// An Importance is the influence of a parameter on the score.
type Importance struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // from 0 (none) to 1 (all)
}

// MinTrialsForImportance is the number of finished trials needed to estimate importances.
const MinTrialsForImportance = 8

// Importances estimates which share of the differences between the finished
// trials each parameter explains on its own, in decreasing order. Trial k has the
// rank y_k, with mean ranks for ties. Pruned trials rank behind those that
// reached a later rung, failed trials rank last. Each rank is predicted from the
// n-1 other trials,
//
//	f_k = (m_k + sum_j K(x_j, x_k) y_j) / (1 + sum_j K(x_j, x_k)),   j != k,
//
// where m_k is the mean of the others, x is the coordinate of the parameter in
// the unit cube, and K is a Gaussian kernel of width h = n^(-1/5) / 5 and height
// 1, or for a choice 1 if the values are equal and 0 otherwise. The share is the
// relative reduction of the squared error of m_k by f_k,
//
//	I = max(0, 1 - sum_k (y_k - f_k)^2 / sum_k (y_k - m_k)^2),
//
// This estimates the first-order Sobol index of the ranks if trials are sampled
// uniformly. The prediction leaves out the trial itself, so shares are small if
// there are few trials, and a parameter without influence has a share near 0: by
// chance up to .2 with 20 trials and .05 with 100. Shares do not add up to 1:
// interactions are in none of them, and if a sampler changes two parameters
// together, both get the credit. The cost is O(n^2) per parameter. The result is
// nil if fewer than MinTrialsForImportance trials are finished or if all ranks are equal.
func (r Record) Importances() ([]Importance, error) {
	space, err := r.Space()
	if err != nil {
		return nil, err
	}
	var points [][]float64
	var finished []Trial
	for _, t := range r.Trials {
		if !t.Finished() || t.Values == nil {
			continue
		}
		point, err := space.point(t.Values)
		if err != nil {
			return nil, err
		}
		points, finished = append(points, point), append(finished, t)
	}
	if len(finished) < MinTrialsForImportance {
		return nil, nil
	}
	y := Definition{Goal: Goal(r.Fact("goal"))}.ranks(finished)
	if slices.Max(y) == slices.Min(y) {
		return nil, nil
	}
	all := make([]Importance, len(space))
	x := make([]float64, len(points))
	for i, p := range space {
		for k := range x {
			x[k] = points[k][i]
		}
		all[i] = Importance{Name: p.Name, Share: explainedShare(x, y, p.Kind == Choice)}
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Share, a.Share) })
	return all, nil
}

// explainedShare returns the relative reduction of the squared error by x.
func explainedShare(x, y []float64, choice bool) float64 {
	n := len(x)
	width := math.Pow(float64(n), -0.2) / 5
	total := 0.0
	for _, v := range y {
		total += v
	}
	var with, without float64
	for k := range x {
		mean := (total - y[k]) / float64(n-1)
		sum, weights := mean, 1.0
		for j := range x {
			z := (x[j] - x[k]) / width
			w := math.Exp(-z * z / 2)
			if choice && x[j] != x[k] {
				w = 0
			}
			if j != k {
				sum, weights = sum+w*y[j], weights+w
			}
		}
		with += square(y[k] - sum/weights)
		without += square(y[k] - mean)
	}
	return max(0, 1-with/without)
}

func square(v float64) float64 { return v * v }

// observed returns the loss and the highest rung of a finished trial.
func (d Definition) observed(t Trial) Observation {
	o := Observation{Loss: d.loss(t), Rung: len(t.Rungs)}
	if t.State == Done {
		o.Rung = math.MaxInt // the full budget
	}
	return o
}

// ranks returns ranks starting at 0 for the best trial, with mean ranks for ties.
func (d Definition) ranks(trials []Trial) []float64 {
	order := make([]int, len(trials))
	for i := range order {
		order[i] = i
	}
	compare := func(a, b int) int { return d.observed(trials[a]).compare(d.observed(trials[b])) }
	slices.SortStableFunc(order, compare)
	ranks := make([]float64, len(trials))
	for first := 0; first < len(order); {
		end := first + 1
		for end < len(order) && compare(order[first], order[end]) == 0 {
			end++
		}
		for _, k := range order[first:end] {
			ranks[k] = float64(first+end-1) / 2
		}
		first = end
	}
	return ranks
}
