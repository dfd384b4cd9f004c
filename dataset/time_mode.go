package dataset

import "slices"

// IsTime reports whether the ids of a mode are points or periods in time whose order is
// known: the mode or its columns have the name of a time (date, year and month, week),
// or its ids are dates. A cyclic function such as hour(at) is not a time.
func (m Mode) IsTime(ids []string) bool {
	if len(ids) == 0 || slices.Contains(cyclicFunctions, m.Func) || m.Covariate() || m.Target() {
		return false
	}
	named := m.Func != ""
	for _, name := range append(slices.Clone(m.Columns), m.Name) {
		named = named || nameHasWord(name, timeWords) || nameHasWord(name, []string{"period"}) || roleOfName(name) != anyNumber
	}
	if !named {
		for _, id := range ids {
			if _, number := Number(id); number {
				return false
			}
			if _, date := Moment(id); !date {
				return false
			}
		}
	}
	_, err := m.Chronology(ids)
	return err == nil
}
