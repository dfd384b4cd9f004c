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

// setNumber sets a number of an added column.
func setNumber(values *tableio.AddedValues, column, row int, v float64) {
	if values.Wide[column] != nil {
		values.Wide[column][row] = v
		return
	}
	if numbers := values.Numbers[column]; numbers != nil {
		numbers[row] = float32(v)
	}
}

// checkColumns returns a *NotFiniteError unless the first columns hold finite numbers. The
// first row has position first in its table.
func checkColumns(values *tableio.AddedValues, columns, first int) error {
	for c := range columns {
		if i := slices.IndexFunc(values.Wide[c], func(v float64) bool { return !finite(v) }); i >= 0 {
			return &NotFiniteError{Row: first + i + 1}
		}
		if values.Wide[c] != nil {
			continue
		}
		for i, v := range values.Numbers[c] {
			if !(v-v == 0) { // NaN or infinite
				return &NotFiniteError{Row: first + i + 1}
			}
		}
	}
	return nil
}
