package model

import (
	"cmp"
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

// addExamples notes the first unknown ids of a batch, by mode.
func (m *Model) addExamples(sum *Summary, b *tableio.Batch) {
	for mode, column := range b.Codes {
		looks := 0
		for i, code := range column {
			if m.isTrained(mode, code) || m.Origin(mode, code) != FromPrior {
				continue
			}
			if looks++; looks > maxLooks || len(sum.examples[mode]) == maxExamples {
				break
			}
			if id := b.ID(mode, i); id != "" {
				sum.examples[mode] = mergeExamples(sum.examples[mode], []example{{b.First + i, id}})
			}
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
