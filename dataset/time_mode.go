package dataset

import (
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// IsTime reports whether the ids of a mode are points or periods in time whose order is
// known: the mode or its columns have the name of a time (date, year and month, week),
// or its ids are dates, or numbers without gaps under the name of a count of periods (step,
// t). A cyclic function such as hour(at) is not a time, and ids such as "shop 1" are none under
// any name.
func (m Mode) IsTime(ids []string) bool {
	if len(ids) == 0 || slices.Contains(cyclicFunctions, m.Func) || m.Covariate() || m.Target() || nameEntities(ids) {
		return false
	}
	named := m.Func != ""
	for _, name := range append(slices.Clone(m.Columns), m.Name) {
		named = named || columnname.HasTimeWord(name) || columnname.HasWord(name, []string{"period"}) || timepart.UnitOf(name) != timepart.None || columnname.HasPeriodWord(name) && running(ids)
	}
	if !named {
		if slices.ContainsFunc(ids, func(id string) bool { _, number := Number(id); return number }) {
			return false
		}
		_, dates := calendar.OrderOf(ids)
		if _, years := m.readYearPairs(ids); !dates && !years {
			return false
		}
	}
	_, err := m.Chronology(ids)
	return err == nil
}

// nameEntities reports whether the texts of all ids have the word of something other than a
// time, as in "shop 1".
func nameEntities(ids []string) bool {
	for _, id := range ids {
		found := false
		for _, word := range columnname.Words(strings.TrimRight(id, "0123456789 ")) {
			found = found || columnname.HasIDWord(word) && !columnname.HasPeriodWord(word) && timepart.UnitOf(word) == timepart.None
		}
		if !found {
			return false
		}
	}
	return true
}

// quantityWords are those in the names of numbers that count something other than periods.
var quantityWords = []string{"education", "educ", "schooling", "experience", "exper", "tenure", "seniority", "years", "grade", "level", "rank", "dose", "kids", "children", "siblings",
	"persons", "passengers", "rooms", "bedrooms", "bathrooms", "floors", "cylinders", "score", "points"}

// Runs reports whether the ids of a mode are whole numbers without gaps, and its name is
// not that of an id such as item or of a quantity such as years of education.
func (m Mode) Runs(ids []string) bool {
	other := func(name string) bool {
		return columnname.IsID(name) || columnname.IsCovariate(name) || columnname.HasWord(name, quantityWords)
	}
	return len(ids) > 0 && m.Func == "" && !m.Covariate() && !slices.ContainsFunc(append(slices.Clone(m.Columns), m.Name), other) && running(ids)
}

// running reports whether the ids are whole numbers without gaps.
func running(ids []string) bool {
	low, high := math.Inf(1), math.Inf(-1)
	for _, id := range ids {
		v, ok := Number(id)
		if !ok || v != math.Trunc(v) {
			return false
		}
		low, high = min(low, v), max(high, v)
	}
	return high-low == float64(len(ids)-1)
}
