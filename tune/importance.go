package tune

import (
	"cmp"
	"math"
	"slices"
)

// An Importance is how much a parameter mattered.
type Importance struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // from 0, nothing, to 1, all
}

// MinImportant is how many finished trials it takes to tell.
const MinImportant = 8

// Importances tell how much of the differences between the finished trials each
// parameter explains alone, the greatest first. Trial k has the rank y_k, the
// mean rank among equals; pruned trials stand behind those that got further,
// failed ones last. Each rank is foretold from the n-1 other trials,
//
//	f_k = (m_k + sum_j K(x_j, x_k) y_j) / (1 + sum_j K(x_j, x_k)),   j != k,
//
// where m_k is the mean of the others, x the parameter's place in the unit cube
// and K a normal kernel of width h = n^(-1/5) / 5 and height 1, or for a choice 1
// for the same and 0 for others. The share is that of the squared error of m_k
// which f_k takes away,
//
//	I = max(0, 1 - sum_k (y_k - f_k)^2 / sum_k (y_k - m_k)^2),
//
// an estimate of the first-order Sobol index of the ranks where trials are drawn
// evenly. Because a trial does not foretell itself, few trials make shares small,
// and a parameter that does not matter has 0 but for chance, which may give it .2
// of 20 trials and .05 of 100. Shares do not add up to 1:
// what parameters do only together is in none of them, and where a sampler moves
// two of them at the same time each has the merit of the other. It costs O(n^2) a
// parameter. There are none (nil) with fewer than eight finished trials, or where
// all are equal: then nobody can tell.
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
	if len(finished) < MinImportant {
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
		all[i] = Importance{Name: p.Name, Share: foretold(x, y, p.Kind == Choice)}
	}
	slices.SortStableFunc(all, func(a, b Importance) int { return cmp.Compare(b.Share, a.Share) })
	return all, nil
}

// foretold is the share of the squared error that x takes away.
func foretold(x, y []float64, choice bool) float64 {
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

// observed is how good a finished trial was, among those of its own study.
func (d Definition) observed(t Trial) Observation {
	o := Observation{Loss: d.loss(t), Rung: len(t.Rungs)}
	if t.State == Done {
		o.Rung = math.MaxInt // the full budget
	}
	return o
}

// ranks are from 0, the best; equals have the mean of theirs.
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
