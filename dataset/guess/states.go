package guess

import (
	"cmp"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// mostStates is the number of values up to which texts may be states of series.
const mostStates = 30

// withoutStates drops texts that describe the periods of a series and are no part of its name, such
// as the promotion of a store on a day: as modes they would cut each series into pieces. A column is
// such a state if the series are a panel without it, if no more rows share a cell, and if its values change within series and come back.
//
// A column stays a mode if its name is that of an id, if its values are those of another column, as
// of home and away teams, and if each value has its own regular turn, as sensors that are read
// alternately.
func (g *guesser) withoutStates(ids []*sampleColumn, time *sampleMode, primary *sampleColumn) []*sampleColumn {
	if time == nil {
		if primary == nil {
			return ids
		}
		m := g.modeOfColumn(primary)
		m.time, time = true, &m
	}
	candidates := slices.DeleteFunc(slices.Clone(ids), func(c *sampleColumn) bool {
		return c.numeric || c.period || c.Distinct > mostStates || 5*c.Distinct > g.Rows || columnname.IsID(c.Name) ||
			slices.ContainsFunc(ids, func(o *sampleColumn) bool { return o != c && c.sharesValues(o) })
	})
	slices.SortStableFunc(candidates, func(a, b *sampleColumn) int { return a.Distinct - b.Distinct })
	modesOf := func(ids []*sampleColumn) []sampleMode {
		var modes []sampleMode
		for _, c := range ids {
			modes = append(modes, g.modeOfColumn(c))
		}
		return append(modes, *time)
	}
	left, repeated := ids, g.repeated(modesOf(ids))
	for _, c := range candidates {
		fewer := slices.DeleteFunc(slices.Clone(left), func(o *sampleColumn) bool { return o == c })
		if g.repeated(modesOf(fewer)) <= repeated {
			left = fewer
		}
	}
	if len(left) == len(ids) || 10*repeated > g.Rows {
		return ids
	}
	modes := modesOf(left)
	if single := len(left) == 0; single && primary != nil && !primary.regular() || !single && !g.designed(modes) {
		return ids
	}
	order := g.alongSeries(modes)
	return slices.DeleteFunc(slices.Clone(ids), func(c *sampleColumn) bool {
		if slices.Contains(left, c) || !relation.Returns(order, c.codes) {
			return false
		}
		c.mayInform("it changes within series, which are told apart without it")
		return true
	})
}

// sharesValues reports whether most values of a column are values of another.
func (c *sampleColumn) sharesValues(o *sampleColumn) bool {
	shared := 0
	for _, value := range c.values {
		if slices.Contains(o.values, value) {
			shared++
		}
	}
	return 2*shared > len(c.values)
}

// alongSeries returns the rows of each series in the order of time, which is the last mode, or nil
// if the order is unknown.
func (g *guesser) alongSeries(modes []sampleMode) [][]int {
	last := len(modes) - 1
	periods := g.periodOrder(modes[last])
	if periods == nil {
		return nil
	}
	codes, n := make([]int32, g.Rows), 1
	for _, m := range modes[:last] {
		codes, n = relation.Crossed(codes, m.codes)
	}
	series := make([][]int, n)
	for row, s := range codes {
		series[s] = append(series[s], row)
	}
	for _, rows := range series {
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(periods[a], periods[b]) })
	}
	return series
}
