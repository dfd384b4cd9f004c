package tt

import (
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// found holds the entities of joint cores and series that an evaluation looked up, so that
// others who need them do not look them up again: that costs more than an evaluation of a
// term of low rank.
type found struct {
	codes    [][]int32
	index    []*entity.Index
	entities [][]int32
}

// Remember lets EvaluateMoments keep the entities of the cells codes for Entities. They take
// 4 bytes per cell and joint core.
func (z *Moments) Remember(codes [][]int32) { z.found = &found{codes: codes} }

// keeps reports whether add keeps the entities of an index.
func (f *found) keeps(x *entity.Index) bool { return f != nil && len(x.Axes()) > 1 }

// add keeps the entities of an index of several modes.
func (f *found) add(x *entity.Index, entities []int32) {
	if f.keeps(x) {
		f.index, f.entities = append(f.index, x), append(f.entities, entities)
	}
}

// Entities returns the entities of the cells codes in an index if they are the cells of the
// moments and were remembered, otherwise nil. They must not be changed.
func (z Moments) Entities(x *entity.Index, codes [][]int32) []int32 {
	if z.found == nil || len(codes) == 0 || len(codes[0]) == 0 || len(codes[0]) != len(z.found.codes[0]) || &codes[0][0] != &z.found.codes[0][0] {
		return nil
	}
	for i, other := range z.found.index {
		if x == other {
			return z.found.entities[i]
		}
	}
	return nil
}
