package model

import (
	"math"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// wideFrom is the distance of the target from 0, in units of its spread, from which
// predictions have 64 bits in tables: float32 would round them by more than 1e-4 of it.
const wideFrom = 1000

// wide reports whether 32 bits are too few for predictions.
func (m *Model) wide() bool {
	return m.scale.Transform == predictive.Identity && math.Abs(m.scale.Center) > wideFrom*m.scale.Spread
}

// setNumber sets a number of an added column.
func setNumber(values *tableio.AddedValues, column, row int, v float64) {
	if values.Wide[column] != nil {
		values.Wide[column][row] = v
		return
	}
	values.Numbers[column][row] = float32(v)
}

// checkColumns returns a *NotFiniteError unless the first columns hold finite numbers in
// their first rows. The first row has position first in its table.
func checkColumns(values *tableio.AddedValues, columns, rows, first int) error {
	for c := range columns {
		for i := range rows {
			v := float64(values.Numbers[c][i])
			if values.Wide[c] != nil {
				v = values.Wide[c][i]
			}
			if !finite(v) {
				return &NotFiniteError{Row: first + i + 1}
			}
		}
	}
	return nil
}
