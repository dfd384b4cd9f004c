package guess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// withoutComposites drops columns whose texts join those of two or more others, such
// as the id item1_store2 beside item and store. They would determine the others, which
// are the better modes.
func (g *guesser) withoutComposites(ids []*sampleColumn) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(ids), func(c *sampleColumn) bool {
		var within []*sampleColumn
		for _, part := range ids {
			if part != c && part.Distinct < c.Distinct && c.contains(part) && relation.Determines(c.codes, len(c.values), part.codes) {
				within = append(within, part)
			}
		}
		within = g.notDetermined(within, within, false)
		if len(within) < 2 {
			return false
		}
		var names []string
		for _, part := range within {
			names = append(names, part.Name)
		}
		c.reason = "it combines " + strings.Join(names, " and ")
		return true
	})
}

// withoutEvents drops the ids of events, such as invoices, each of which has one time:
// nothing can be learned about the next one.
func (g *guesser) withoutEvents(ids, times []*sampleColumn) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(ids), func(c *sampleColumn) bool {
		isEvent := columnname.HasWord(c.Name, eventWords) && slices.ContainsFunc(times, func(t *sampleColumn) bool {
			return relation.Determines(c.codes, len(c.values), t.codes)
		})
		if isEvent {
			c.reason = "ids of events, each with its own time"
		}
		return isEvent
	})
}

// contains reports whether the value of each row contains that of part.
func (c *sampleColumn) contains(part *sampleColumn) bool {
	for code, row := range c.first {
		if !strings.Contains(c.values[code], part.values[part.codes[row]]) {
			return false
		}
	}
	return true
}

// notDetermined drops the columns that one of by determines. Of two columns that
// determine each other, the one with the name of an id or else the first stays. If
// strict is set, only a column with more values counts.
func (g *guesser) notDetermined(columns, by []*sampleColumn, strict bool) []*sampleColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c *sampleColumn) bool {
		return slices.ContainsFunc(by, func(o *sampleColumn) bool {
			if o == c || o.Distinct < c.Distinct || o.Distinct == c.Distinct && strict || !g.repeats(o.Distinct) || c.Distinct < 2 {
				return false
			}
			if !relation.Determines(o.codes, len(o.values), c.codes) {
				return false
			}
			if o.Distinct > c.Distinct {
				return true
			}
			if mine, its := columnname.IsID(c.Name), columnname.IsID(o.Name); mine != its {
				return its
			}
			return g.byPosition(o, c) < 0 || !slices.Contains(columns, o)
		})
	})
}

// mostWeak is the number of integers without the name of an id that may be modes beside others.
const mostWeak = 3

// addWeak adds integers without the name of an id where the cells are not unique
// without them, or where there are fewer than two modes. Those that look like counts
// come last.
func (g *guesser) addWeak(weak []*sampleColumn) {
	slices.SortStableFunc(weak, func(a, b *sampleColumn) int {
		if a.likeCount() != b.likeCount() {
			if b.likeCount() {
				return -1
			}
			return 1
		}
		return 0
	})
	var added []sampleMode
	repeated := g.repeated(g.modes)
	if 100*repeated < g.Rows && len(g.modes) == 1 && g.modes[0].time { // clocks that are set back repeat a few
		for _, c := range weak {
			c.mayInform("integers beside a single series; probably a count or a code")
		}
		return
	}
	if 20*repeated < g.Rows && len(g.modes) >= 2 && g.designed(g.modes) {
		repeated = 0 // rows that occur twice by mistake
	}
	for _, c := range weak {
		enough := len(g.modes)+len(added) >= 2 || c.likeCount()
		if enough && (repeated == 0 || 100*repeated < g.Rows) {
			break
		}
		m := g.modeOfColumn(c)
		m.time = c.period
		left := g.repeated(slices.Concat(g.modes, added, []sampleMode{m}))
		if left < repeated || !enough {
			added, repeated = append(added, m), left
		}
	}
	if repeated > 0 && repeated*2 > g.repeated(g.modes) && len(g.modes) >= 2 {
		added = nil // they do not make the cells unique
	}
	if len(added) > mostWeak && len(g.modes) >= 2 {
		added = nil // the rows are records with many quantities, not cells
	}
	for i := len(added) - 1; i >= 0; i-- { // the last are the least probable
		fewer := slices.Concat(g.modes, added[:i], added[i+1:])
		if len(fewer) >= 2 && g.repeated(fewer) <= repeated {
			added = slices.Delete(added, i, i+1)
		}
	}
	g.modes = append(g.modes, added...)
	for _, c := range weak {
		c.mayInform("integers that are not needed to identify cells; probably a count or a code")
	}
}

// uniqueWith reports whether the cells of two modes or more are unique with integers
// that do not look like counts.
func (g *guesser) uniqueWith(weak []*sampleColumn) bool {
	modes := slices.Clone(g.modes)
	for _, c := range weak {
		if !c.likeCount() {
			modes = append(modes, g.modeOfColumn(c))
		}
	}
	return len(modes) > max(1, len(g.modes)) && g.unique(modes)
}

// addPlaces makes modes of the latitude and the longitude of a table without ids of its places, if with them each row has a cell
// of its own along time, as in a grid of the weather. Coordinates of events hardly repeat.
func (g *guesser) addPlaces() {
	const fewest = 3 // rows per place, on average
	var places []sampleMode
	for _, words := range [][]string{{"lat", "latitude"}, {"lon", "lng", "long", "longitude"}} {
		for i, c := range g.columns {
			if i != g.target && c.numeric && c.Distinct > 1 && c.Missing == 0 && columnname.HasWord(c.Name, words) && !g.reserved(c) {
				places = append(places, g.modeOfColumn(c))
				break
			}
		}
	}
	if len(places) < 2 || !slices.ContainsFunc(g.modes, isTime) || g.unique(g.modes) || g.Rows-g.repeated(places) > g.Rows/fewest {
		return
	}
	if all := append(slices.Clone(g.modes), places...); g.unique(all) {
		g.modes = all
	}
}

// checkCells adds a flag if that makes the cells unique. If rows of the same cell
// remain it proposes what to do with them.
func (g *guesser) checkCells() {
	if len(g.modes) == 0 {
		g.takeRecords()
		return
	}
	g.Repeated = g.repeated(g.modes)
	const flagValues = 3                                                                                      // with a missing one
	if g.Repeated*100 > g.Rows && len(g.given.Modes) == 0 && (flagValues-1)*g.Rows >= flagValues*g.Repeated { // a flag can make cells unique
		for i, c := range g.columns {
			if i == g.target || c.Kind != KindFlag || c.empty > 0 {
				continue
			}
			more := append(slices.Clone(g.modes), g.modeOfColumn(c))
			if g.unique(more) {
				g.modes, g.Repeated = more, 0
				g.sortModes()
				g.Notes = append(g.Notes, fmt.Sprintf("the flag %s is a mode because cells are unique only with it", c.Name))
				break
			}
		}
	}
	if g.Repeated > 0 {
		g.ProposeDuplicates(g.findRepeats(g.modes))
	}
	g.takeRecords()
}
