package model

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// Formed reports whether points of the model are formed by the numbers of a mode.
func (m *Model) Formed(mode int) bool {
	return slices.ContainsFunc(m.modes, func(one dataset.Mode) bool { return one.Joint() && slices.Contains(one.Members(m.modes), mode) })
}

// WithNumbers returns the codes of rows with other codes of a numeric mode, and the model that they belong to: points
// that the numbers of the mode form are formed again, and may be new.
func (m *Model) WithNumbers(codes [][]int32, mode int, column []int32) (*Model, [][]int32) {
	codes = slices.Clone(codes)
	codes[mode] = column
	ids := make([][]string, len(m.modes))
	for at, one := range m.modes {
		members := one.Members(m.modes)
		if !one.Joint() || !m.UsesMode(at) || !slices.Contains(members, mode) {
			continue
		}
		ids[at], codes[at] = make([]string, len(column)), slices.Repeat([]int32{entity.Unknown}, len(column))
		numbers := make([]string, len(members))
		for row := range ids[at] {
			for i, of := range members {
				numbers[i] = dataset.MissingID
				if code := entity.CodeOf(codes[of][row]); code >= 0 {
					numbers[i] = m.dicts[of].ID(code)
				}
			}
			ids[at][row] = one.Point(numbers)
		}
	}
	extended := m.withSelfDescribed(codes, func(at, row int) string {
		if ids[at] == nil {
			return "" // unknown before
		}
		return ids[at][row]
	})
	extended.ForgetUntrained(codes)
	return extended, codes
}
