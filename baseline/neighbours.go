package baseline

import (
	"cmp"
	"fmt"
	"slices"
)

// reaches are the numbers of neighbours on each side whose mean is tried.
var reaches = []int{2, 3, 5, 10}

// between predicts the values of one series from its neighbours in time: the line through
// the last training row before a row and the first after it or, with a reach above 1, the
// mean of as many on each side. Rows of the same period do not count.
type between struct {
	rows  []observed // in the order of time
	when  *Time
	reach int
}

func (b *between) predict(part Part, from int, dst []float64) {
	for i := range dst {
		dst[i] = b.at(b.when.Periods[part][from+i])
	}
}

func (b *between) at(period int32) float64 {
	compare := func(r observed, p int32) int { return cmp.Compare(r.period, p) }
	before, _ := slices.BinarySearchFunc(b.rows, period, compare)
	after, _ := slices.BinarySearchFunc(b.rows, period+1, compare)
	early, late := b.rows[max(0, before-b.reach):before], b.rows[after:min(len(b.rows), after+b.reach)]
	if b.reach == 1 && len(early) > 0 && len(late) > 0 {
		a, c := early[0], late[0]
		share := float64(period-a.period) / float64(c.period-a.period)
		return float64(a.y) + share*(float64(c.y)-float64(a.y))
	}
	var sum total
	for _, r := range slices.Concat(early, late) {
		sum.value += float64(r.w) * float64(r.y)
		sum.weight += float64(r.w)
	}
	return sum.shrink(0, 0)
}

// neighbours returns the formulas of one series whose rows lie between each other.
func (f *fitter) neighbours() []Formula {
	rows := make([]observed, len(f.Parts[Train].Y))
	for i, y := range f.Parts[Train].Y {
		rows[i] = observed{f.Between.Periods[Train][i], y, float32(f.weight(i))}
	}
	slices.SortStableFunc(rows, func(a, b observed) int { return cmp.Compare(a.period, b.period) })
	if len(rows) < 2 {
		return nil
	}
	var found []Formula
	if line := (&between{rows, f.Between, 1}); f.wanted("line") {
		d, _ := f.pick("line", 1, func(from int, dst [][]float64) { line.predict(Valid, from, dst[0]) })
		found = append(found, Formula{Name: "line between neighbours in time", Loss: d.loss, key: "line", predictor: line})
	}
	if f.wanted("neighbours") {
		d, _ := f.pick("neighbours", len(reaches), func(from int, dst [][]float64) {
			for o, reach := range reaches {
				(&between{rows, f.Between, reach}).predict(Valid, from, dst[o])
			}
		})
		reach := reaches[d.option]
		found = append(found, Formula{Name: fmt.Sprintf("mean of %d neighbours in time", 2*reach), Loss: d.loss, key: "neighbours", option: d.option, predictor: &between{rows, f.Between, reach}})
	}
	return found
}
