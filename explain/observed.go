package explain

import (
	"encoding/binary"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// observe fills in the values that the table of the fit has at the cells, and at the cells
// in which an id is replaced by one of its neighbours. It reads the table once.
func (x *Explainer) observe(explanations []Explanation, t *dataset.Table) {
	wanted := map[string][]**metrics.Number{}
	key := make([]byte, 0, 4*len(t.Codes))
	want := func(codes []int32, value **metrics.Number) {
		key = key[:0]
		for _, c := range codes {
			if c < 0 {
				return
			}
			key = binary.LittleEndian.AppendUint32(key, uint32(c))
		}
		wanted[string(key)] = append(wanted[string(key)], value)
	}
	modes := x.m.Modes()
	for i := range explanations {
		e := &explanations[i]
		codes := make([]int32, len(modes))
		for mode, info := range modes {
			codes[mode] = x.m.Code(mode, e.Cell[info.Name])
		}
		want(codes, &e.Actual)
		for n := range e.Neighbours {
			for mode, info := range modes {
				if info.Name != e.Neighbours[n].Mode {
					continue
				}
				own := codes[mode]
				for k := range e.Neighbours[n].Nearest {
					near := &e.Neighbours[n].Nearest[k]
					codes[mode] = x.m.Code(mode, near.ID)
					want(codes, &near.Value)
				}
				codes[mode] = own
			}
		}
	}
	for row := range t.Len() {
		key = key[:0]
		for mode := range t.Codes {
			key = binary.LittleEndian.AppendUint32(key, uint32(t.Codes[mode][row]))
		}
		for _, value := range wanted[string(key)] {
			v := metrics.Number(t.Target(row))
			*value = &v
		}
	}
}
