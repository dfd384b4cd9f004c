package forecast

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/metrics"
)

// A Score measures a method at one origin and horizon, or at all of them.
type Score struct {
	By      string `json:"by,omitempty"` // the grouping whose totals are measured, "" for cells
	Method  string `json:"method"`
	Origin  string `json:"origin"`  // "" for all
	Horizon int    `json:"horizon"` // 0 for all
	metrics.ForecastScore
}

// Method names of scores. The formulas are those of package baseline.
const (
	ModelMethod = "kft"
	MixMethod   = "best mix"
)

// place is what a score is of.
type place struct {
	grouping int // -1 for cells
	method   string
	origin   int
	horizon  int
}

// sumOf returns the sums of a method at an origin and horizon.
func (b *backtest) sumOf(at place) *metrics.ForecastSums {
	if !slices.Contains(b.methods, at.method) {
		b.methods = append(b.methods, at.method)
	}
	if b.sums[at] == nil {
		b.sums[at] = &metrics.ForecastSums{}
	}
	return b.sums[at]
}

// scores returns the scores of all methods for the totals of a grouping, or for cells: over all
// origins, in total and by horizon, then by origin, in total and by horizon.
func (b *backtest) scores(grouping int) []Score {
	slices.SortStableFunc(b.methods, func(x, y string) int {
		switch {
		case x == ModelMethod:
			return -1
		case y == ModelMethod:
			return 1
		}
		return 0
	})
	by := ""
	if grouping >= 0 {
		by = b.groupings[grouping].name
	}
	var out []Score
	add := func(origin string, from, to int) {
		for h := range b.opt.Horizon + 1 {
			first, last := h, h
			if h == 0 {
				first, last = 1, b.opt.Horizon
			}
			for _, method := range b.methods {
				var all metrics.ForecastSums
				n := 0
				for k := from; k <= to; k++ {
					for ahead := first; ahead <= last; ahead++ {
						if s := b.sums[place{grouping, method, k, ahead}]; s != nil {
							all.Merge(s)
							n++
						}
					}
				}
				if n > 0 {
					out = append(out, Score{by, method, origin, h, all.Score()})
				}
			}
		}
	}
	add("", 0, len(b.origins)-1)
	for k, origin := range b.origins {
		add(b.id(origin), k, k)
	}
	return out
}
