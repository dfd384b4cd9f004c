// Package baseline holds two formulas that any model has to beat.
//
// With A and B the two modes of most ids in the training data, B the larger, the first predicts a
// cell by the mean of its pair (a, b), shrunk to the mean of b with one
// pseudo-observation:
//
//	p1 = (sum_ab y + mean_b) / (n_ab + 1).
//
// The second multiplies it by a factor of B by the last mode, say item by
// month, shrunk likewise:
//
//	p2 = p1 (sum_bt y + mean_b) / (sum_bt p1 + mean_b).
//
// Where a mode plays both parts, or there are fewer than three, the factor is
// taken over what is left. Both cost a pass over the data.
package baseline

import (
	"cmp"
	"slices"
)

// A Model holds the fitted sums.
type Model struct {
	global    float64
	large     int   // position of B
	pair      []int // positions of A and B; B alone for one mode
	by        []int // positions of the factor's modes, empty for none
	sizes     []int
	mean      []float64 // of B's entities
	pairs     map[uint64]total
	factors   map[uint64]total
	Pair, Mix string // what the formulas are of, for people
}

type total struct{ value, weight float64 }

// Fit sums training values. codes holds a column a mode, sizes the number of
// ids of each, w may be nil.
func Fit(names []string, sizes []int, codes [][]int32, y, w []float32) *Model {
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
	m.fitMeans(codes, y, w)
	m.fitFactors(codes, y, w)
	return m
}

// distinct counts the codes that occur.
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

func (m *Model) fitMeans(codes [][]int32, y, w []float32) {
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

func (m *Model) fitFactors(codes [][]int32, y, w []float32) {
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
		// weight holds the sum of p1 here: the factor is their ratio.
		f.add(total{weight * float64(v), weight * first})
		m.factors[key] = f
	}
}

func (t *total) add(o total) {
	t.value += o.value
	t.weight += o.weight
}

// key packs the codes of some modes; ok is false where one is unknown.
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

// at returns the first prediction and the mean it was shrunk to.
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

// Predict returns both predictions at row i of the columns codes, where -1 is
// an unknown id.
func (m *Model) Predict(codes [][]int32, i int) (first, second float64) {
	first, mean := m.at(codes, i)
	key, ok := m.key(m.by, codes, i)
	f, seen := m.factors[key]
	if len(m.by) == 0 || !ok || !seen {
		return first, first
	}
	denominator := f.weight + mean
	if !(denominator > 0) || !(f.value+mean > 0) {
		return first, first // a factor means nothing for values of both signs
	}
	return first, first * (f.value + mean) / denominator
}
