package model

import (
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// wideFrom is the distance of the target from 0, in units of its spread, from which
// predictions have 64 bits in tables: float32 would round them by more than 1e-4 of it.
const wideFrom = 1000

// Wide reports whether 32 bits are too few for predictions.
func (m *Model) Wide() bool {
	s := m.scale
	if s.Transform.Linked() {
		return false // the spread of counts is not that of their rates
	}
	at := func(z float32) float64 { return s.Transform.Inverse(s.Location(z)) }
	return math.Abs(at(0)) > wideFrom*(at(1)-at(-1))/2
}

// SetNumber sets a number of an added column.
func SetNumber(values *tableio.AddedValues, column, row int, v float64) {
	if values.Wide[column] != nil {
		values.Wide[column][row] = v
		return
	}
	if numbers := values.Numbers[column]; numbers != nil {
		numbers[row] = float32(v)
	}
}

// CheckColumns returns a *NotFiniteError unless the first columns hold finite numbers in
// their first rows. The first row has position first in its table. Columns that are
// omitted do not count.
func CheckColumns(values *tableio.AddedValues, columns, rows, first int) error {
	for c := range columns {
		at := -1
		switch wide, numbers := values.Wide[c], values.Numbers[c]; {
		case wide != nil:
			at = slices.IndexFunc(wide[:rows], func(v float64) bool { return !finite(v) })
		case numbers != nil:
			at = slices.IndexFunc(numbers[:rows], func(v float32) bool { return !(v-v == 0) }) // NaN or infinite
		}
		if at >= 0 {
			return &NotFiniteError{Row: first + at + 1}
		}
	}
	return nil
}
