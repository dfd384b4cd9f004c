package dataset

import "slices"

// Order returns the codes of a mode's ids as a person lists them: by time where
// the ids tell it, else as texts in which numbers count by their size.
func (m Mode) Order(ids []string) []int32 {
	if len(ids) > 0 {
		if c, err := chronologyOf(m, ids); err == nil {
			return c.order
		}
	}
	codes := make([]int32, len(ids))
	for i := range codes {
		codes[i] = int32(i)
	}
	slices.SortStableFunc(codes, func(a, b int32) int { return compareNatural(ids[a], ids[b]) })
	return codes
}
