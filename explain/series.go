package explain

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/seriesterm"
)

// unknownCodes returns a cell of unknown ids.
func unknownCodes(m *model.Model) [][]int32 {
	return slices.Repeat([][]int32{{entity.Unknown}}, len(m.Modes()))
}

// seriesTerm returns what a series term adds at a cell. Its value belongs to the
// combination of its ids and the period: without one of them it is the average. So its
// sources have equal parts, which are added to sums unless that is nil.
func (x *Explainer) seriesTerm(m *model.Model, k int, codes [][]int32, sums []float64) Term {
	s, spread := m.Field().Series[k], m.Scale().Spread
	field := &tt.Field{Series: []*seriesterm.Term{s}}
	at := func(codes [][]int32) float64 {
		value := make([]float32, 1)
		field.Evaluate(x.engine, value, codes)
		return spread * float64(value[0])
	}
	x.mutex.Lock()
	term := Term{Term: s.Label, Value: at(codes), Average: at(unknownCodes(m))}
	x.mutex.Unlock()
	sources := []int{ownOf(s.Time)}
	for _, a := range s.Index.Axes() {
		source := ownOf(a.Mode)
		if a.Group != nil {
			source = sideOf(a.Mode)
		}
		if !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	for _, source := range sources {
		part := (term.Value - term.Average) / float64(len(sources))
		if sums != nil {
			sums[source] += part
		}
		if source%2 == 0 {
			term.Own += part
		} else {
			term.Side += part
		}
	}
	return term
}
