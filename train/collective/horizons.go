package collective

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/panel"
)

// Horizons returns the periods of rows from the ends of their series, nil without series. All ranks have
// the rows, and each computes some of them.
func Horizons(ranks Ranks, b backend.Backend, series *panel.Panel, codes [][]int32) []int32 {
	if series == nil {
		return nil
	}
	out := backend.Make[int32](b, len(codes[series.Time]))
	_ = EachRow(ranks, b.Threads(), out, func(from, to int) error { // none fails
		for i := from; i < to; i++ {
			out[i] = series.HorizonOf(codes, i)
		}
		return nil
	})
	return out
}
