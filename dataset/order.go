package dataset

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

// Order returns the codes of a mode's ids in the order in which a person would list
// them: by time if the ids have a chronological order, else in natural order.
func (m Mode) Order(ids []string) []int32 {
	if len(ids) > 0 {
		if c, err := m.Chronology(ids); err == nil {
			return c.Order
		}
	}
	codes := make([]int32, len(ids))
	for i := range codes {
		codes[i] = int32(i)
	}
	slices.SortStableFunc(codes, func(a, b int32) int { return fieldtext.CompareNatural(ids[a], ids[b]) })
	return codes
}

// Less reports whether id a precedes b in natural order: runs of digits compare as
// numbers, so 2015-2 precedes 2015-10.
func Less(a, b string) bool { return fieldtext.CompareNatural(a, b) < 0 }
