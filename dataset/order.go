package dataset

import "slices"

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
	slices.SortStableFunc(codes, func(a, b int32) int { return compareNatural(ids[a], ids[b]) })
	return codes
}
