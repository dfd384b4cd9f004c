package baseline

import (
	"cmp"
	"fmt"
	"slices"
)

// lengths are the numbers of last values whose mean is tried, lastCounts the
// pseudo-counts of means of a few values of a series.
var (
	lengths    = []int{2, 3, 4, 6, 8, 12, 24}
	lastCounts = []float64{0, 0.5, 1, 2, 4, 8, 16}
)

// history holds the training rows of each series in the order of time.
type history struct {
	by     *coding
	start  []int32 // position of the first row of each series, and the end
	rows   []observed
	latest int32 // last period of all training rows
}

type observed struct {
	period int32
	y, w   float32
}

// of returns the rows of a series.
func (h *history) of(series int32) []observed { return h.rows[h.start[series]:h.start[series+1]] }

// series returns the formulas that look back in time. What they cannot know, they take
// from the mean of the series, shrunk to the best mean by a mode or a pair.
func (f *fitter) series() []Formula {
	modes := f.seriesModes()
	h := f.history(modes)
	by := ""
	if len(modes) > 0 {
		by = " by " + f.list(modes)
	}
	base := parent{"the mean of all rows", constant(f.mean)}
	if len(f.means) > 0 {
		base = parent{"the " + f.means[0].Name, f.means[0].predictor}
	}
	var found []Formula
	if len(f.means) > 0 && !slices.Equal(f.means[0].modes, modes) {
		mean := f.shrink(&groupMean{key: "series", name: "mean" + by, modes: modes, by: h.by}, []parent{base})
		if len(mean) == 0 {
			return nil
		}
		base = parent{"the " + mean[0].Name, mean[0].predictor}
		if len(modes) > 2 { // else it is among the means by modes and pairs
			found = mean
		}
	}
	if last := h.tails(1); f.wanted("last") {
		p := &shrunk{h.by, last, base.predictor, 0}
		d, _ := f.pick("last", 1, func(from int, dst [][]float64) { p.predict(Valid, from, dst[0]) })
		found = append(found, Formula{Name: "last value" + by, Loss: d.loss, key: "last", predictor: p})
	}
	found = append(found, f.drifts(h, by, base)...)
	if f.wanted("last mean") {
		found = append(found, f.lastMean(h, by, base))
	}
	if len(f.Time.Seasons) > 0 && f.wanted("season") {
		found = append(found, f.season(h, by, base))
	}
	if len(f.Time.Seasons) > 0 && f.wanted("season drift") {
		found = append(found, f.seasonDrift(h, by, base))
	}
	return found
}

// seriesModes returns the modes that distinguish series: those that the period does not
// determine.
func (f *fitter) seriesModes() []int {
	times := f.modes[f.Time.Mode]
	var modes []int
	for _, m := range f.used {
		first := make([]int32, times.size) // code of the mode in the first row of a period, plus 1
		for i, t := range times.parts[Train] {
			code := f.modes[m].parts[Train][i] + 1
			if first[t] == 0 {
				first[t] = code
			} else if first[t] != code {
				modes = append(modes, m)
				break
			}
		}
	}
	return modes
}

// history sorts the training rows.
func (f *fitter) history(modes []int) *history {
	h := &history{by: f.modes[f.Time.Mode]}
	switch len(modes) {
	case 0:
		h.by = &coding{size: 1}
		for p, rows := range f.Time.Periods {
			h.by.parts[p] = make([]int32, len(rows))
		}
	case 1:
		h.by = f.modes[modes[0]]
	default:
		rest := modes[2:]
		if h.by = f.pairs[[2]int{modes[0], modes[1]}]; h.by == nil {
			h.by = combine(f.Threads, f.modes[modes[0]], f.modes[modes[1]])
		}
		for _, m := range rest {
			h.by = combine(f.Threads, h.by, f.modes[m])
		}
	}
	h.start = make([]int32, h.by.size+1)
	for _, g := range h.by.parts[Train] {
		h.start[g+1]++
	}
	for g := range h.by.size {
		h.start[g+1] += h.start[g]
	}
	next := slices.Clone(h.start)
	h.rows = make([]observed, len(h.by.parts[Train]))
	for i, g := range h.by.parts[Train] {
		h.rows[next[g]] = observed{f.Time.Periods[Train][i], f.Parts[Train].Y[i], float32(f.weight(i))}
		next[g]++
	}
	for g := range h.by.size {
		slices.SortStableFunc(h.of(int32(g)), func(a, b observed) int { return cmp.Compare(a.period, b.period) })
	}
	h.latest = slices.Max(f.Time.Periods[Train])
	return h
}

// tails returns the totals of the last n values of each series.
func (h *history) tails(n int) []total {
	sums := make([]total, h.by.size)
	for g := range sums {
		rows := h.of(int32(g))
		for _, r := range rows[max(0, len(rows)-n):] {
			sums[g].value += float64(r.w) * float64(r.y)
			sums[g].weight += float64(r.w)
		}
	}
	return sums
}

// lastMean finds the number of last values and the pseudo-count of their mean.
func (f *fitter) lastMean(h *history, by string, base parent) Formula {
	tried := make([]*shrunk, len(lengths)*len(lastCounts))
	for l, n := range lengths {
		sums := h.tails(n)
		for c, count := range lastCounts {
			tried[l*len(lastCounts)+c] = &shrunk{h.by, sums, base.predictor, count}
		}
	}
	d, _ := f.pick("last mean", len(tried), func(from int, dst [][]float64) {
		base.predict(Valid, from, dst[0])
		for o := len(tried) - 1; o >= 0; o-- {
			copy(dst[o], dst[0])
			tried[o].adjust(Valid, from, dst[o])
		}
	})
	s := tried[d.option]
	return Formula{Name: fmt.Sprintf("mean of the last %d values%s", lengths[d.option/len(lastCounts)], by),
		Setting: lastSetting(base, s.count), Loss: d.loss, key: "last mean", option: d.option, predictor: s}
}

func lastSetting(base parent, count float64) string {
	if count == 0 {
		return "not shrunk"
	}
	return fmt.Sprintf("shrunk to %s, pseudo-count %g", base.text, count)
}

// maxSeasons is the number of seasons that a formula looks back.
const maxSeasons = 4

// seasonal predicts the mean of the values of a series a whole number of seasons before.
type seasonal struct {
	*history
	when   *Time
	season int32
	all    bool // mean of maxSeasons seasons, else the last of them in which the series has a value
	parent predictor
	count  float64 // pseudo-count
}

func (s *seasonal) predict(part Part, from int, dst []float64) {
	s.parent.predict(part, from, dst)
	for i, g := range s.by.parts[part][from : from+len(dst)] {
		last, all, _ := s.before(g, s.when.Periods[part][from+i])
		if s.all {
			last = all
		}
		dst[i] = last.shrink(dst[i], s.count)
	}
}

// shrink returns the mean of the total, shrunk to v.
func (t total) shrink(v, count float64) float64 {
	if t.weight == 0 {
		return v
	}
	return (t.value + count*v) / (t.weight + count)
}

// before returns the total of the last season before a period that has values of the
// series, that of all seasons, and how many seasons before the period the last one is.
func (s *seasonal) before(series, period int32) (last, all total, seasons int32) {
	if series < 0 {
		return last, all, 0
	}
	rows := s.of(series)
	at := period - s.season
	if over := at - s.latest; over > 0 { // more than a season ahead
		at -= (over + s.season - 1) / s.season * s.season
	}
	for range maxSeasons {
		k, _ := slices.BinarySearchFunc(rows, at, func(r observed, at int32) int { return cmp.Compare(r.period, at) })
		for ; k < len(rows) && rows[k].period == at; k++ {
			all.value += float64(rows[k].w) * float64(rows[k].y)
			all.weight += float64(rows[k].w)
		}
		if last.weight == 0 {
			last, seasons = all, (period-at)/s.season
		}
		at -= s.season
	}
	return last, all, seasons
}

// season finds the season, the number of seasons and the pseudo-count.
func (f *fitter) season(h *history, by string, base parent) Formula {
	each := 2 * len(lastCounts) // settings of a season
	setting := func(option int) *seasonal {
		season := f.Time.Seasons[option/each]
		return &seasonal{h, f.Time, int32(season.Periods), option%each >= len(lastCounts), base.predictor, lastCounts[option%len(lastCounts)]}
	}
	d, _ := f.pick("season", each*len(f.Time.Seasons), func(from int, dst [][]float64) {
		guess := make([]float64, len(dst[0]))
		base.predict(Valid, from, guess)
		for k := range f.Time.Seasons {
			s := setting(k * each)
			for i, v := range guess {
				last, all, _ := s.before(h.by.parts[Valid][from+i], f.Time.Periods[Valid][from+i])
				for c, count := range lastCounts {
					dst[k*each+c][i] = last.shrink(v, count)
					dst[k*each+len(lastCounts)+c][i] = all.shrink(v, count)
				}
			}
		}
	})
	s := setting(d.option)
	text := lastSetting(base, s.count)
	if s.all {
		text = fmt.Sprintf("mean of %d seasons, %s", maxSeasons, text)
	}
	return Formula{Name: f.Time.Seasons[d.option/each].Name + by, Setting: text, Loss: d.loss, key: "season", option: d.option, predictor: s}
}
