package panel

import (
	"maps"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/gather"
)

// With returns the series with further rows, given by their codes, targets and signs: -1
// takes a row out of the counts. ids are those of all modes, also of the new rows.
func (p *Panel) With(modes []dataset.Mode, ids func(mode int) []string, codes [][]int32, target []float64, sign func(row int) int) *Panel {
	out := newPanel(modes, ids, p.Time)
	if out == nil {
		return p
	}
	shift := out.known[0] - p.known[0] // steps count from the earliest id
	for code, step := range p.known {
		if out.known[code]-step != shift {
			return p // the new ids are on another grid
		}
	}
	out.End, out.Own = p.End+int64(shift), p.Own
	found := map[string]int{}
	key := func(code func(k int) int32) string {
		text := make([]byte, 0, 4*len(p.Keys))
		for k := range p.Keys {
			c := code(k)
			text = append(text, byte(c>>24), byte(c>>16), byte(c>>8), byte(c))
		}
		return string(text)
	}
	type change struct {
		first, last int32
		rows        int
		sum         float64
	}
	changes := map[string]*change{}
	for i, c := range codes[p.Time] {
		name := key(func(k int) int32 { return codes[p.Keys[k]][i] })
		own := changes[name]
		step := out.known[c]
		if own == nil {
			own = &change{first: step, last: step}
			changes[name] = own
		}
		own.rows += sign(i)
		own.sum += float64(sign(i)) * target[i]
		if sign(i) > 0 {
			own.first, own.last = min(own.first, step), max(own.last, step)
			out.End = max(out.End, int64(step))
		}
	}
	for i := range p.Rows {
		if len(found) == len(changes) {
			break
		}
		if name := key(func(k int) int32 { return p.Codes[k][i] }); changes[name] != nil {
			found[name] = i
		}
	}
	added := 0
	for name := range changes {
		if _, old := found[name]; !old && changes[name].rows > 0 {
			added++
		}
	}
	n := p.Len()
	out.Codes = make([][]int32, len(p.Keys))
	for k := range out.Codes {
		out.Codes[k] = append(make([]int32, 0, n+added), p.Codes[k]...)
	}
	out.First, out.Last, out.Rows, out.Mean = slices.Clone(p.First), slices.Clone(p.Last), slices.Clone(p.Rows), slices.Clone(p.Mean)
	for i := range out.First {
		out.First[i] += shift
		out.Last[i] += shift
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		own := changes[name]
		i, old := found[name]
		if !old {
			if own.rows <= 0 {
				continue
			}
			for k := range p.Keys {
				out.Codes[k] = append(out.Codes[k], int32(name[4*k])<<24|int32(name[4*k+1])<<16|int32(name[4*k+2])<<8|int32(name[4*k+3]))
			}
			out.First, out.Last = append(out.First, own.first), append(out.Last, own.last)
			out.Rows, out.Mean = append(out.Rows, int32(own.rows)), append(out.Mean, float32(own.sum/float64(own.rows)))
			continue
		}
		total := float64(out.Mean[i])*float64(out.Rows[i]) + own.sum
		if rows := int(out.Rows[i]) + own.rows; rows > 0 {
			out.Rows[i], out.Mean[i] = int32(rows), float32(total/float64(rows))
			out.First[i], out.Last[i] = min(out.First[i], own.first), max(out.Last[i], own.last)
		}
	}
	if added > 0 {
		out.sort()
	}
	return out
}

// sort brings the series into the order of their codes.
func (p *Panel) sort() {
	order := make([]int, p.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, p.compare)
	for k := range p.Codes {
		p.Codes[k] = gather.Rows(p.Codes[k], order)
	}
	p.First, p.Last, p.Rows, p.Mean = gather.Rows(p.First, order), gather.Rows(p.Last, order), gather.Rows(p.Rows, order), gather.Rows(p.Mean, order)
}
