package guess

import (
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/dataset/internal/calendar"
)

// usualMinutes are the periods, in minutes, of which moments that follow each other at about that distance may be.
var usualMinutes = []int{1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720}

// jitteringTime returns the mode of a time whose moments follow each other in each series at about
// one of the usual distances, as those of a sensor that is read every ten minutes do, but not
// exactly: 00:10:03, 00:19:58. Its ids are the periods that the moments are in or nearest to,
// whichever rows share less often; no more than a few do.
func (g *guesser) jitteringTime(c *sampleColumn) (sampleMode, bool) {
	if !c.callable || c.resolution() != stepMinute {
		return sampleMode{}, false
	}
	minutes, ok := g.typicalMinutes(c)
	if !ok {
		return sampleMode{}, false
	}
	var best sampleMode
	fewest := g.Rows/fewShared + 1
	in, nearest := calendar.Minutes(minutes)
	for _, function := range []string{nearest, in} {
		m, ok := g.sampleModeOf(dataset.Mode{Name: g.freeName("time"), Columns: []string{c.Name}, Func: function, Dates: string(c.dates)})
		m.time = true
		if repeated := g.repeated(append(slices.Clone(g.modes), m)); ok && repeated < fewest {
			best, fewest = m, repeated
		}
	}
	if best.distinct < 2 {
		return sampleMode{}, false
	}
	g.Notes = append(g.Notes, fmt.Sprintf("the times of column %s are about %d minutes apart, not exactly, so each is taken for one of periods of %d minutes by %s", c.Name, minutes, minutes, best.Expression()))
	return best, true
}

// fewShared is the number of rows of which at most one may share its period with another.
const fewShared = 50

// typicalMinutes returns the usual distance that most moments of a series have from the one before,
// and whether there is one that they do not keep exactly.
func (g *guesser) typicalMinutes(c *sampleColumn) (int, bool) {
	series := make([]int32, g.Rows)
	for _, m := range g.modes {
		series, _ = relation.Crossed(series, m.codes)
	}
	type moment struct {
		series int32
		second int64
	}
	moments := make([]moment, 0, g.Rows)
	for row, code := range c.codes {
		if !dataset.Missing(c.values[code]) {
			moments = append(moments, moment{series[row], c.moments[code].Unix()})
		}
	}
	slices.SortFunc(moments, func(a, b moment) int {
		if a.series != b.series {
			return int(a.series) - int(b.series)
		}
		return int(a.second - b.second)
	})
	var gaps []float64
	for i := 1; i < len(moments); i++ {
		if moments[i].series == moments[i-1].series {
			gaps = append(gaps, float64(moments[i].second-moments[i-1].second))
		}
	}
	if 2*len(gaps) < g.Rows || len(gaps) < 10 {
		return 0, false
	}
	slices.Sort(gaps)
	median := gaps[len(gaps)/2]
	near, exact := 0, 0
	for _, gap := range gaps {
		if math.Abs(gap-median) <= median/4 {
			near++
		}
		if gap == median {
			exact++
		}
	}
	if 10*near < 7*len(gaps) || 10*exact >= 9*near {
		return 0, false
	}
	for _, minutes := range usualMinutes {
		if math.Abs(median-60*float64(minutes)) <= 3*float64(minutes) { // 5 %
			return minutes, true
		}
	}
	return 0, false
}
