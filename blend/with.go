package blend

import (
	"cmp"
	"slices"

	"github.com/kernel-fried-tensor/kft/panel"
)

// With returns the table for the series of [panel.Panel.With], with the same further rows:
// a row of sign -1 is taken out. A series keeps the values of the window before its own last
// one, so that a late row of another does not change it.
func (t *Table) With(p *panel.Panel, codes [][]int32, target []float64, sign func(row int) int) *Table {
	if t == nil || p == nil || p == t.series {
		return t
	}
	type entry struct {
		step  int32
		value float32
	}
	changes := map[int][]int{} // rows by series
	for i := range target {
		if s := p.Find(codes, i); s >= 0 {
			changes[s] = append(changes[s], i)
		}
	}
	out := &Table{shares: t.shares, edges: t.edges, move: t.move, noise: t.noise, pull: t.pull, seasons: t.seasons, series: p, start: make([]int32, 1, p.Len()+1)}
	steps := p.Steps()
	shift := steps[0] - t.series.Steps()[0]
	columns := make([][]int32, len(codes))
	for k, m := range p.Keys {
		columns[m] = p.Codes[k]
	}
	var own []entry
	for s := range p.Len() {
		own = own[:0]
		old := t.series.Find(columns, s)
		if old >= 0 {
			for i := t.start[old]; i < t.start[old+1]; i++ {
				own = append(own, entry{t.step[i] + shift, t.value[i]})
			}
		}
		for _, i := range changes[s] {
			e := entry{steps[codes[p.Time][i]], float32(target[i])}
			if sign(i) > 0 {
				own = append(own, e)
			} else if at := slices.Index(own, e); at >= 0 {
				own = slices.Delete(own, at, at+1)
			}
		}
		if changes[s] != nil {
			slices.SortStableFunc(own, func(a, b entry) int { return cmp.Compare(a.step, b.step) })
		}
		if t.HasFormulas() {
			out.first = append(out.first, firstValue{})
			if old >= 0 {
				out.first[s] = firstValue{t.first[old].step + shift, t.first[old].value}
			} else if len(own) > 0 {
				out.first[s] = firstValue(own[0])
			}
		}
		for _, e := range own {
			if e.step > own[len(own)-1].step-t.window() {
				out.step, out.value = append(out.step, e.step), append(out.value, e.value)
			}
		}
		out.start = append(out.start, int32(len(out.step)))
	}
	return out
}
