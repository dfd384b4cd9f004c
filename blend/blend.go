// Package blend lets forecasts of a model follow the recent values of their series: they
// move on the scale of the model, or are pulled towards formulas, and the mean is mixed,
//
//	mean = w0 model + w1 (mean of its last values) + w2 (its value one season before) + ...
//
// with shares that are none negative, add up to 1, and were best for forecasts that the fit
// held out. They depend on the size of the forecast: a model on a scale near the logarithm
// shrinks the largest series towards others more than squared errors in the units of the
// target ask for. Where a value is missing, the model has its share. Quantiles and draws stay
// those of the model.
package blend

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/panel"
)

const (
	usualRecent   = 4  // values of the recent mean
	shortSeason   = 8  // a season up to which the recent mean goes through one of them
	longestSeason = 60 // in steps; longer ones would keep too many values of many series
	longestOfFew  = 400
	mostOfFew     = 1 << 19 // series times steps, up to which seasons are longest of few
	leastWindow   = 12      // steps before the end whose values are kept
	maxSeasons    = 2
	maxParts      = 2 + maxSeasons // the model, the recent mean, and seasons
)

// A Table holds the recent values of the series of a panel, and the shares. It does not
// change and may be shared.
type Table struct {
	shares  [][]float64  // by class: of the model, the recent mean and the seasons
	edges   []float64    // locations from which the classes after the first begin
	move    []float64    // coefficients of moves, the constant first; nil for none
	noise   float64      // with moves: the factor of the noise variance of forecasts
	pull    *Pull        // nil for none
	first   []firstValue // by series, with pulls
	seasons []int32      // in steps
	series  *panel.Panel
	start   []int32 // values of series s are start[s] to start[s+1], in order of time
	step    []int32
	value   []float32
}

// New returns the recent values of the training rows, with all of the share for the model. Seasons
// are in steps; those that are too long are left out, and a table with formulas has longer ones. It
// costs O(n log s) for n rows of s series.
func New(threads int, p *panel.Panel, codes [][]int32, target func(row int) float64, seasons []int32, formulas bool) *Table {
	t := &Table{series: p}
	if formulas {
		t.addFirst(codes, target)
	}
	for _, s := range seasons {
		if s > 1 && t.keeps(s) && int64(s) <= p.End && len(t.seasons)+2 < maxParts {
			t.seasons = append(t.seasons, s)
		}
	}
	t.shares = [][]float64{t.alone()}
	rows := len(codes[p.Time])
	of := make([]int32, rows)
	steps := p.Steps()
	parallel.Blocks(threads, rows, func(from, to int) {
		for i := from; i < to; i++ {
			if of[i] = -1; int64(steps[codes[p.Time][i]]) > p.OriginOf(codes, i)-int64(t.window()) {
				of[i] = int32(p.Find(codes, i))
			}
		}
	})
	t.start = make([]int32, p.Len()+1)
	for _, s := range of {
		if s >= 0 {
			t.start[s+1]++
		}
	}
	for s := range p.Len() {
		t.start[s+1] += t.start[s]
	}
	kept := t.start[p.Len()]
	t.step, t.value = make([]int32, kept), make([]float32, kept)
	next := slices.Clone(t.start)
	for i, s := range of {
		if s >= 0 {
			at := next[s]
			next[s]++
			step, value := steps[codes[p.Time][i]], float32(target(i))
			for ; at > t.start[s] && t.step[at-1] > step; at-- { // few values, mostly in order
				t.step[at], t.value[at] = t.step[at-1], t.value[at-1]
			}
			t.step[at], t.value[at] = step, value
		}
	}
	return t
}

// keeps reports whether the values of a season are kept.
func (t *Table) keeps(season int32) bool {
	if t.first != nil && season <= longestOfFew && int64(season)*int64(t.series.Len()) <= mostOfFew {
		return true
	}
	return season <= longestSeason
}

// alone returns shares with all of it for the model.
func (t *Table) alone() []float64 {
	shares := make([]float64, 2+len(t.seasons))
	shares[0] = 1
	return shares
}

// window returns the number of steps whose values are kept.
func (t *Table) window() int32 {
	window := int32(leastWindow)
	for _, s := range t.seasons {
		window = max(window, s)
	}
	if t.first != nil {
		window *= 2 // a season before every value of the last one
	}
	return window
}

// recent returns the number of values of the recent mean.
func (t *Table) recent() int {
	if len(t.seasons) > 0 && t.seasons[0] <= shortSeason {
		return int(t.seasons[0])
	}
	return usualRecent
}

// Seasons returns the seasons in steps.
func (t *Table) Seasons() []int32 { return slices.Clone(t.seasons) }

// Parts says what means are mixed of, as in "0.8 model", those of the smallest forecasts and
// those of the largest; nil for the model alone.
func (t *Table) Parts() (smallest, largest []string) {
	if t == nil || t.shares[0][0] == 1 && t.shares[len(t.shares)-1][0] == 1 {
		return nil, nil
	}
	return t.text(t.shares[0]), t.text(t.shares[len(t.shares)-1])
}

// unit returns the name of a step.
func (t *Table) unit() string { return cmp.Or(t.series.Line.Period(), "period") }

func (t *Table) text(shares []float64) (parts []string) {
	for k, share := range shares {
		what := "model"
		switch {
		case share == 0:
			continue
		case k == 1:
			what = fmt.Sprintf("mean of the last %d values", t.recent())
		case k > 1:
			what = t.seasonName(k - 2)
		}
		parts = append(parts, fmt.Sprintf("%.2g %s", share, what))
	}
	return parts
}

// seasonName says what the value of a season is.
func (t *Table) seasonName(k int) string {
	return "value " + plural.Count(int(t.seasons[k]), t.unit()) + " before"
}

// Mean returns what the mean of a row is, horizon steps after the end of the training:
// share times that of the model, plus rest. location is the model's prediction on its scale.
func (t *Table) Mean(location float64, codes [][]int32, row int, horizon int32) (share, rest float64) {
	var values [maxParts]float64
	known := t.values(&values, codes, row, horizon)
	shares := t.shares[classOf(t.edges, location)]
	share = shares[0]
	for k := 1; k < len(shares); k++ {
		if known[k] {
			rest += shares[k] * values[k]
		} else {
			share += shares[k]
		}
	}
	return share, rest
}

// classOf returns the class of a location.
func classOf(edges []float64, location float64) int {
	k := 0
	for k < len(edges) && location >= edges[k] {
		k++
	}
	return k
}

// values writes the recent mean and the values of the seasons from place 1 on, and returns
// which of them are known.
func (t *Table) values(dst *[maxParts]float64, codes [][]int32, row int, horizon int32) (known [maxParts]bool) {
	s := t.series.Find(codes, row)
	if s < 0 || horizon < 1 {
		return known
	}
	values := t.value[t.start[s]:t.start[s+1]]
	if n := min(len(values), t.recent()); n > 0 {
		for _, v := range values[len(values)-n:] {
			dst[1] += float64(v) / float64(n)
		}
		known[1] = true
	}
	for k, season := range t.seasons {
		dst[2+k], known[2+k] = t.before(s, season, horizon)
	}
	return known
}

// before returns the value whole seasons before a forecast of series s.
func (t *Table) before(s int, season, horizon int32) (value float64, known bool) {
	steps, values := t.step[t.start[s]:t.start[s+1]], t.value[t.start[s]:t.start[s+1]]
	at, known := slices.BinarySearch(steps, int32(t.series.Origin(s))+horizon-seasonsBack(season, horizon))
	if known {
		value = float64(values[at])
	}
	return value, known
}

// seasonsBack returns the whole seasons, in steps, from a horizon back to what is known.
func seasonsBack(season, horizon int32) int32 { return (horizon + season - 1) / season * season }

// HasFormulas reports whether the table knows what formulas need.
func (t *Table) HasFormulas() bool { return t.first != nil }

// WithSharesOf returns the table with the shares, moves and pulls of one with other rows, nil if
// their seasons differ.
func (t *Table) WithSharesOf(o *Table) *Table {
	if t == nil || o == nil || !slices.Equal(t.seasons, o.seasons) || t.HasFormulas() != o.HasFormulas() {
		return nil
	}
	changed := *t
	changed.shares, changed.edges, changed.move, changed.noise, changed.pull = o.shares, o.edges, o.move, o.noise, o.pull
	return &changed
}
