package spec

import (
	"slices"
	"strings"
)

// maxPermuted is the largest number of cores of which all orders are candidates: 12 for
// four cores. Terms with more cores are tried with two cores exchanged.
const maxPermuted = 4

// Order returns the cores in their order, as in the text of the term.
func (t Term) Order() string { return t.coresString(0, len(t.Cores)) }

// Orders returns the term with its cores in each order that differs from the others by
// more than its direction, the given order first. Ranks keep their places. Only a term
// with three cores or more has several; one with more than four cores is returned with
// each pair of cores exchanged.
func (t Term) Orders() []Term {
	n := len(t.Cores)
	given := make([]int, n)
	for i := range given {
		given[i] = i
	}
	orders := [][]int{given}
	add := func(order []int) {
		same := func(other []int) bool {
			reversed := slices.Clone(order)
			slices.Reverse(reversed)
			return slices.Equal(other, order) || slices.Equal(other, reversed)
		}
		if !slices.ContainsFunc(orders, same) {
			orders = append(orders, slices.Clone(order))
		}
	}
	switch {
	case n < 3 || t.Along != nil: // its core is an outer one
	case n <= maxPermuted:
		permute(slices.Clone(given), 0, add)
	default:
		for i := range n {
			for j := i + 1; j < n; j++ {
				order := slices.Clone(given)
				order[i], order[j] = order[j], order[i]
				add(order)
			}
		}
	}
	terms := make([]Term, len(orders))
	for k, order := range orders {
		terms[k] = t
		terms[k].Cores, terms[k].Ranks = nil, slices.Clone(t.Ranks)
		for _, i := range order {
			terms[k].Cores = append(terms[k].Cores, slices.Clone(t.Cores[i]))
		}
	}
	return terms
}

// permute passes every permutation of order from position k on to add.
func permute(order []int, k int, add func([]int)) {
	if k == len(order) {
		add(order)
		return
	}
	for i := k; i < len(order); i++ {
		order[k], order[i] = order[i], order[k]
		permute(order, k+1, add)
		order[k], order[i] = order[i], order[k]
	}
}

// Reorder sets the order of the cores to one that Order returned for another order of
// the same term. It reports whether the text names the same cores.
func (t *Term) Reorder(order string) bool {
	cores := map[string][]string{}
	for _, c := range t.Cores {
		cores[strings.Join(c, "*")] = c
	}
	texts := strings.Split(order, ",")
	var sorted [][]string
	for _, text := range texts {
		c, known := cores[text]
		if !known {
			return false
		}
		delete(cores, text)
		sorted = append(sorted, c)
	}
	if len(cores) > 0 {
		return false
	}
	t.Cores = sorted
	return true
}
