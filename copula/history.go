package copula

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Series are the values of series up to an origin.
type Series struct {
	Start   []int32   // by series: its first row; then the number of rows
	Step    []int32   // by row, in order within a series
	Value   []float64 // by row
	Seasons []int32   // in steps
}

// NewSeries returns the values of rows by their series, -1 for none.
func NewSeries(series, step []int32, value func(row int) float64, seasons []int32) Series {
	order := make([]int32, 0, len(series))
	for i, s := range series {
		if s >= 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(series[a], series[b]), cmp.Compare(step[a], step[b])) })
	s := Series{Seasons: seasons, Step: make([]int32, len(order)), Value: make([]float64, len(order))}
	for at, i := range order {
		if at == 0 || series[i] != series[order[at-1]] {
			s.Start = append(s.Start, int32(at))
		}
		s.Step[at], s.Value[at] = step[i], value(int(i))
	}
	s.Start = append(s.Start, int32(len(order)))
	return s
}

// A surprise is how large what all cells of a period share was, as a variance of their mean score, and the number of independent periods from
// which it is known.
type surprise struct{ variance, periods float64 }

const (
	historyBefore  = 8 // independent periods of the history count as at most so many
	leastPeriods   = 3 // of changes
	leastOfSeries  = 4 // values of series whose mean is a forecast
	widthBins      = 20
	historyLargest = 1 // more variance than that of the scores cannot be shared
)

// history returns the surprise of forecasts that are as good as the best formula: the last value, the value one season
// before, both with the mean change of all cells, or the mean of the series.
func (s Series) history(rows Rows) surprise {
	if len(s.Step) == 0 {
		return surprise{}
	}
	last, period := slices.Max(rows.Horizon), ranks(s.Step)
	ahead := slices.Compact([]int32{1, (last + 1) / 2, last})
	width := s.widths(rows)
	best := surprise{variance: math.Inf(1)}
	try := func(find func(h int32) surprise) {
		var all surprise
		for n, h := range ahead {
			one := find(h)
			all.variance += one.variance / float64(len(ahead))
			if n == 0 || one.periods < all.periods {
				all.periods = one.periods
			}
		}
		if all.periods >= leastPeriods && all.variance < best.variance {
			best = all
		}
	}
	try(func(h int32) surprise { return s.changes(period, width, h) })
	for _, season := range s.Seasons {
		if season > 1 {
			try(func(h int32) surprise { return s.changes(period, width, season*((h+season-1)/season)) })
		}
	}
	try(func(int32) surprise { return s.changes(period, width, 0) })
	if best.periods == 0 {
		return surprise{}
	}
	return surprise{min(best.variance, historyLargest), min(best.periods/float64(last), historyBefore)}
}

// widths returns the mean size of errors of each series, that of forecasts of about its mean value.
func (s Series) widths(rows Rows) []float64 {
	order := make([]int32, len(rows.Mean))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(rows.Mean[a], rows.Mean[b]) })
	var edge, size []float64
	bins := min(widthBins, len(order))
	for k := range bins {
		own := order[k*len(order)/bins : (k+1)*len(order)/bins]
		sum := 0.0
		for _, i := range own {
			sum += rows.Weight[i] / float64(len(own))
		}
		edge, size = append(edge, rows.Mean[own[len(own)-1]]), append(size, sum)
	}
	out := make([]float64, len(s.Start)-1)
	for n := range out {
		out[n] = size[min(sort.SearchFloat64s(edge, s.mean(n)), bins-1)]
	}
	return out
}

// mean returns the mean value of a series.
func (s Series) mean(n int) (mean float64) {
	own := s.Value[s.Start[n]:s.Start[n+1]]
	for _, v := range own {
		mean += v / float64(len(own))
	}
	return mean
}

// changes returns the surprise of the changes of values over so many periods, or of their differences from the mean of the series for 0.
// period has the number of the period of each row.
func (s Series) changes(period []int32, width []float64, lag int32) surprise {
	type sums struct{ change, squares, width float64 }
	byPeriod := make([]sums, slices.Max(period)+1)
	for n, w := range width {
		from, to := s.Start[n], s.Start[n+1]
		mean, before := s.mean(n), from
		for i := from; i < to; i++ {
			change := s.Value[i] - mean
			if lag > 0 {
				for s.Step[before] < s.Step[i]-lag {
					before++
				}
				if s.Step[before] != s.Step[i]-lag {
					continue
				}
				change = s.Value[i] - s.Value[before]
			} else if to-from < leastOfSeries {
				break
			}
			p := &byPeriod[period[i]]
			p.change, p.squares, p.width = p.change+change, p.squares+change*change, p.width+w
		}
	}
	widest := 0.0
	for _, p := range byPeriod {
		widest = max(widest, p.width)
	}
	var n, mean, squares, own float64
	for _, p := range byPeriod {
		if !(p.width > widest/2) {
			continue // few of the cells
		}
		n++
		score := p.change / p.width
		d := score - mean
		mean += d / n
		squares += d * (score - mean)
		own += p.squares / (p.width * p.width)
	}
	if n < 2 {
		return surprise{periods: n}
	}
	return surprise{max(squares/(n-1)-own/n, 0), n}
}
