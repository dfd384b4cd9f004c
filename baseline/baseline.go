// Package baseline implements two simple predictors that any model should beat.
//
// Let A and B be the two modes with the most ids in the training data, B the
// larger. The first predictor is the mean of the pair (a, b), shrunk to the mean
// of b with one pseudo-observation:
//
//	p1 = (sum_ab y + mean_b) / (n_ab + 1).
//
// The second multiplies it by a factor for B and the last mode, for example item
// and month, with the same shrinkage:
//
//	p2 = p1 (sum_bt y + mean_b) / (sum_bt p1 + mean_b).
//
// If B is the last mode, the factor is over A and B. With two modes it is over A
// alone, and with one mode there is none. Both cost one pass over the data.
package baseline

import (
	"cmp"
	"slices"
)

// A Model holds the fitted sums.
type Model struct {
	global    float64
	large     int   // position of B
	pair      []int // positions of A and B; only B if there is one mode
	by        []int // positions of the modes of the factor; empty if there is none
	sizes     []int
	mean      []float64 // mean of each entity of B
	pairs     map[uint64]total
	factors   map[uint64]total
	Pair, Mix string // descriptions of the two predictors
}

type total struct{ value, weight float64 }

// Fit fits the model to the training values. codes has one column per mode, sizes
// the number of ids of each mode; w may be nil.
func Fit[T float32 | float64](names []string, sizes []int, codes [][]int32, y []T, w []float32) *Model {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	occurring := make([]int, len(sizes))
	for i := range sizes {
		occurring[i] = distinct(codes[i], sizes[i])
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(occurring[j], occurring[i]) })
	m := &Model{large: order[0], sizes: sizes, pairs: map[uint64]total{}, factors: map[uint64]total{}}
	m.pair = order[:min(2, len(order))]
	last := len(sizes) - 1
	switch {
	case len(sizes) == 2:
		m.by = []int{1 - m.large}
	case len(sizes) > 2 && m.large == last:
		m.by = []int{order[1], last}
	case len(sizes) > 2:
		m.by = []int{m.large, last}
	}
	m.Pair = "mean by " + describe(names, m.pair)
	m.Mix = m.Pair
	if len(m.by) > 0 {
		m.Mix += ", times factor by " + describe(names, m.by)
	}
	fitMeans(m, codes, y, w)
	fitFactors(m, codes, y, w)
	return m
}

// distinct counts the distinct codes.
func distinct(codes []int32, size int) int {
	seen := make([]bool, size)
	n := 0
	for _, c := range codes {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n
}

func describe(names []string, modes []int) string {
	text := ""
	for i, m := range slices.Sorted(slices.Values(modes)) {
		if i > 0 {
			text += " and "
		}
		text += names[m]
	}
	return text
}

func fitMeans[T float32 | float64](m *Model, codes [][]int32, y []T, w []float32) {
	sums := make([]total, m.sizes[m.large])
	all := total{}
	for i, v := range y {
		t := total{float64(v), 1}
		if w != nil {
			t = total{float64(v) * float64(w[i]), float64(w[i])}
		}
		all.add(t)
		sums[codes[m.large][i]].add(t)
		if len(m.pair) > 1 {
			key, _ := m.key(m.pair, codes, i)
			p := m.pairs[key]
			p.add(t)
			m.pairs[key] = p
		}
	}
	m.global = all.value / all.weight
	m.mean = make([]float64, len(sums))
	for e, s := range sums {
		m.mean[e] = (s.value + m.global) / (s.weight + 1)
	}
}

func fitFactors[T float32 | float64](m *Model, codes [][]int32, y []T, w []float32) {
	if len(m.by) == 0 {
		return
	}
	for i, v := range y {
		weight := 1.0
		if w != nil {
			weight = float64(w[i])
		}
		first, _ := m.at(codes, i)
		key, _ := m.key(m.by, codes, i)
		f := m.factors[key]
		// weight holds the sum of p1 here: the factor is the ratio of the sums.
		f.add(total{weight * float64(v), weight * first})
		m.factors[key] = f
	}
}

func (t *total) add(o total) {
	t.value += o.value
	t.weight += o.weight
}

// key packs the codes of some modes; ok is false if one is unseen.
func (m *Model) key(modes []int, codes [][]int32, i int) (key uint64, ok bool) {
	for _, p := range modes {
		c := codes[p][i]
		if c < 0 {
			return 0, false
		}
		key = key*uint64(m.sizes[p]) + uint64(c)
	}
	return key, true
}

// at returns the first prediction and the mean it is shrunk to.
func (m *Model) at(codes [][]int32, i int) (first, mean float64) {
	mean = m.global
	if c := codes[m.large][i]; c >= 0 {
		mean = m.mean[c]
	}
	if len(m.pair) < 2 {
		return mean, mean
	}
	key, ok := m.key(m.pair, codes, i)
	if p, seen := m.pairs[key]; ok && seen {
		return (p.value + mean) / (p.weight + 1), mean
	}
	return mean, mean
}

// Predict returns both predictions for row i of the columns in codes, where -1
// is an unseen id.
func (m *Model) Predict(codes [][]int32, i int) (first, second float64) {
	first, mean := m.at(codes, i)
	key, ok := m.key(m.by, codes, i)
	f, seen := m.factors[key]
	if len(m.by) == 0 || !ok || !seen {
		return first, first
	}
	denominator := f.weight + mean
	if !(denominator > 0) || !(f.value+mean > 0) {
		return first, first // a factor is not meaningful for values of both signs
	}
	return first, first * (f.value + mean) / denominator
}
