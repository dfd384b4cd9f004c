package model

import (
	"cmp"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// A summary keeps maxExamples unknown ids of a mode. maxLooks bounds the rows of a batch
// that are searched for different ones.
const (
	maxExamples = 5
	maxLooks    = 1000
)

// An example is an id of a table, with the row in which it came first.
type example struct {
	row int
	id  string
}

// addExamples notes the first unknown ids of a batch and counts those that are missing, by mode. Of given targets, rows without one
// do not count.
func (m *Model) addExamples(sum *Summary, b *tableio.Batch, y []float32) {
	for mode, column := range b.Codes {
		looks := 0
		for i, code := range column {
			if m.isTrained(mode, code) || m.Origin(mode, code) != FromPrior {
				continue
			}
			id := b.ID(mode, i)
			if id == "" {
				if y == nil || !math.IsNaN(float64(y[i])) {
					sum.missing[mode]++
				}
				continue
			}
			if looks++; looks <= maxLooks && len(sum.examples[mode]) < maxExamples {
				sum.examples[mode] = mergeExamples(sum.examples[mode], []example{{b.First + i, id}})
			}
		}
	}
	m.addStrayTimes(sum, b)
}

// addNoIDs leaves rows with an empty id out of an evaluation and notes the first of them.
func (s *Summary) addNoIDs(b *tableio.Batch) {
	n, first, column := b.LeaveOutNoIDs()
	if s.NoID = n; n > 0 {
		s.examples[len(s.examples)-1] = []example{{first, column}}
	}
}

// addStrayTimes notes the first ids of time in a batch that have a moment but name no period,
// such as a day within the months of the model.
func (m *Model) addStrayTimes(sum *Summary, b *tableio.Batch) {
	if m.series == nil || !m.series.Line.Regular() || m.series.Time >= len(b.Codes) {
		return
	}
	mode, stray := m.series.Time, len(m.modes)
	seen := map[int32]bool{}
	for i, code := range b.Codes[mode] {
		if m.isTrained(mode, code) || seen[code] || m.Origin(mode, code) != FromSide {
			continue
		}
		if seen[code] = true; len(seen) > maxLooks || len(sum.examples[stray]) == maxExamples {
			break
		}
		if id := b.ID(mode, i); m.series.Line.WhyNone(id) != "" {
			sum.examples[stray] = mergeExamples(sum.examples[stray], []example{{b.First + i, id}})
		}
	}
}

// mergeExamples returns the first of different ids. It does not depend on the order of
// its arguments.
func mergeExamples(a, b []example) []example {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y example) int { return cmp.Or(cmp.Compare(x.id, y.id), cmp.Compare(x.row, y.row)) })
	all = slices.CompactFunc(all, func(x, y example) bool { return x.id == y.id })
	slices.SortFunc(all, func(x, y example) int { return cmp.Compare(x.row, y.row) })
	return all[:min(len(all), maxExamples)]
}

// exampleIDs returns unknown ids of a mode, in table order.
func (s Summary) exampleIDs(mode int) []string {
	var ids []string
	for _, e := range s.examples[mode] {
		ids = append(ids, e.id)
	}
	return ids
}
