package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft"
)

// A scenario is a simulation: a truth, a specification and the figures to report.
type scenario struct {
	name  string
	truth truth
	spec  kft.Spec
	total int  // cells of a total; 0 for none
	means bool // report predicted to actual totals by decile of the prediction
}

// draws is the number of draws from which intervals of totals are read.
const draws = 300

// A share counts intervals that contain the truth.
type share struct{ hits, n int }

func (s *share) add(hit bool) {
	s.n++
	if hit {
		s.hits++
	}
}

// figures are the figures of a scenario over all seeds.
type figures struct {
	cells     share
	weights   map[float64]*share
	cold      share
	totals    [3]share // of the cells of an entity, by mode
	predicted [10]float64
	actual    [10]float64
}

// run adds the figures of one seed.
func (s scenario) run(ctx context.Context, seed uint64, to *figures) error {
	t, err := s.truth.draw(seed)
	if err != nil {
		return err
	}
	spec := s.spec
	spec.Seed = seed
	m, _, err := kft.Fit(ctx, spec, t.source, kft.Options{})
	if err != nil {
		return err
	}
	predictions, err := m.Predict(ctx, t.options)
	if err != nil {
		return err
	}
	order := make([]int, len(t.cells))
	for i, c := range t.cells {
		order[i] = i
		low, high := predictions[i].Interval(.9)
		hit := low <= c.y && c.y <= high
		to.cells.add(hit)
		if c.cold {
			to.cold.add(hit)
		}
		if s.truth.weighted {
			if to.weights[c.weight] == nil {
				to.weights[c.weight] = &share{}
			}
			to.weights[c.weight].add(hit)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch a, b := predictions[i].Mean, predictions[j].Mean; {
		case a < b:
			return -1
		case a > b:
			return 1
		}
		return 0
	})
	for rank, i := range order {
		decile := rank * 10 / len(order)
		to.predicted[decile] += predictions[i].Mean
		to.actual[decile] += t.cells[i].y
	}
	if s.total == 0 {
		return nil
	}
	samples, err := m.Samples(ctx, t.options, draws)
	if err != nil {
		return err
	}
	for mode := range modes {
		s.addTotals(t, samples, mode, seed, &to.totals[mode])
	}
	return nil
}

// addTotals compares the total of s.total cells of each entity of a mode, chosen at random,
// with the 90 % interval of its draws.
func (s scenario) addTotals(t table, samples [][]float64, mode int, seed uint64, to *share) {
	of := map[int][]int{}
	for i, c := range t.cells {
		of[c.id[mode]] = append(of[c.id[mode]], i)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(mode)))
	for entity := range len(of) {
		cells := of[entity]
		rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
		drawn, actual := make([]float64, draws), 0.0
		for _, i := range cells[:min(s.total, len(cells))] {
			actual += t.cells[i].y
			for k, v := range samples[i] {
				drawn[k] += v
			}
		}
		slices.Sort(drawn)
		to.add(drawn[draws/20-1] <= actual && actual <= drawn[draws-draws/20])
	}
}
