package guess

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess/relation"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
)

// sampleMode is a mode with its ids in the sample.
type sampleMode struct {
	dataset.Mode
	codes    []int32 // by row
	distinct int
	time     bool
}

// sampleRoles are the columns by what they may be in a table of records.
type sampleRoles struct {
	ids, weak []*sampleColumn // weak are integers without the name of an id
	parts     []*sampleColumn // of a date, such as the hour
	time      *sampleColumn   // the column of dates, or nil
	joined    *sampleMode     // the time that several columns give together, or nil
}

func (g *guesser) modeOfColumn(c *sampleColumn) sampleMode {
	m := dataset.Mode{Name: c.Name, Columns: []string{c.Name}}
	if !dataset.ValidModeName(c.Name) || strings.Contains(c.Name, "+") {
		m.Name = fmt.Sprintf("mode%d", slices.Index(g.columns, c)+1)
	}
	if c == g.renamed {
		m.Name = g.freeName("series")
	}
	return sampleMode{Mode: m, codes: c.codes, distinct: len(c.values)}
}

// guessModes sets g.modes: the ids in the order of the columns, then the time.
func (g *guesser) guessModes() {
	if len(g.given.Modes) > 0 {
		g.readGivenModes()
		return
	}
	g.readTextParts()
	var ids, parts, times, weak []*sampleColumn
	for i, c := range g.columns {
		if i == g.target || !g.mayBeMode(c) {
			continue
		}
		switch {
		case c.Kind == KindDate:
			times = append(times, c)
		case c.dateUnit() != timepart.None:
			parts = append(parts, c)
		case c.Integer && !columnname.IsID(c.Name) && g.copiesTarget(c):
			c.reason = followsReason
		case g.computed[c] != "":
			c.reason = g.computed[c]
		case c.Integer && !columnname.IsID(c.Name):
			weak = append(weak, c)
		default:
			ids = append(ids, c)
		}
	}
	ids, parts, weak = g.withoutDateParts(ids, times), g.withoutDateParts(parts, times), g.withoutDateParts(weak, times)
	ids = g.withoutEvents(g.withoutComposites(ids), times)
	times = g.notDetermined(times, ids, true)
	periods := slices.DeleteFunc(slices.Clone(times), func(c *sampleColumn) bool { return !g.plainTime(c) })
	ids = g.notDetermined(ids, slices.Concat(ids, periods), false)
	ids = g.withoutMinor(ids)
	primary := g.primaryTime(times)
	if primary != nil {
		if i := slices.IndexFunc(ids, func(c *sampleColumn) bool { return c.Name == "time" }); i >= 0 {
			g.renamed = ids[i] // as the melt of pandas may call a column of series
		}
		parts = g.notDetermined(parts, []*sampleColumn{primary}, false)
	}
	parts = g.notDetermined(parts, ids, false)
	time, rest := g.joinParts(parts, primary != nil)
	slices.SortFunc(rest, g.byPosition)
	g.roles = sampleRoles{ids: ids, parts: rest, weak: weak, time: primary, joined: time}
	if joined, clock := g.joinClock(primary, ids, rest); joined != nil {
		isClock := func(c *sampleColumn) bool { return c == clock }
		ids, rest = slices.DeleteFunc(slices.Clone(ids), isClock), slices.DeleteFunc(slices.Clone(rest), isClock)
		time, primary = joined, nil
		g.Notes = append(g.Notes, fmt.Sprintf("the columns %s and %s are the date and the hour of one time", joined.Columns[0], joined.Columns[1]))
	}
	ids = g.withoutStates(ids, time, primary)
	for _, c := range ids {
		m := g.modeOfColumn(c)
		if c.period && primary == nil && time == nil { // d_1, d_2, ...
			if m.time = true; m.Name != "time" {
				m.Name = g.freeName("time")
			}
		}
		g.modes = append(g.modes, m)
	}
	joined := rest
	if primary == nil && time == nil { // a lone month or week is the time
		joined = nil
		for _, c := range rest {
			g.modes = append(g.modes, g.modeOfColumn(c))
		}
	}
	weak = g.notDetermined(weak, slices.Concat(ids, periods, parts), false)
	if time != nil {
		g.modes = append(g.modes, *time)
	}
	for _, c := range joined {
		g.modes = append(g.modes, g.modeOfColumn(c))
	}
	if primary != nil && !g.repeats(primary.Distinct) && !primary.regular() && g.uniqueWith(weak) {
		g.addWeak(weak) // the time is not needed
		weak = nil
	}
	if primary != nil {
		g.addTime(primary, weak)
	}
	g.addWeak(weak)
	g.addPlaces()
	if len(g.modes) == 0 {
		g.addSeries()
	}
	g.sortModes()
}

// mostIDs is the number of columns of ids from which texts without the name of an id
// are left out: a survey has dozens of them.
const mostIDs = 6

// withoutMinor drops the texts with the fewest values while there are too many columns
// and the cells stay about as unique as they are.
func (g *guesser) withoutMinor(ids []*sampleColumn) []*sampleColumn {
	modesOf := func(ids []*sampleColumn) (modes []sampleMode) {
		for _, c := range ids {
			modes = append(modes, g.modeOfColumn(c))
		}
		return modes
	}
	if len(ids) <= mostIDs {
		return ids
	}
	minor := slices.DeleteFunc(slices.Clone(ids), func(c *sampleColumn) bool { return columnname.IsID(c.Name) || c.period })
	slices.SortStableFunc(minor, func(a, b *sampleColumn) int { return a.Distinct - b.Distinct })
	repeated := g.repeated(modesOf(ids))
	for _, c := range minor {
		fewer := slices.DeleteFunc(slices.Clone(ids), func(o *sampleColumn) bool { return o == c })
		if left := g.repeated(modesOf(fewer)); len(ids) > mostIDs && 10*(left-repeated) < g.Rows {
			c.mayInform("there are many columns of ids, and it has few values and is not needed to identify cells")
			ids = fewer
		}
	}
	return ids
}

// byPosition orders columns as in the table.
func (g *guesser) byPosition(a, b *sampleColumn) int {
	return slices.Index(g.columns, a) - slices.Index(g.columns, b)
}

// sortModes puts ids before times, in the order of their columns.
func (g *guesser) sortModes() {
	slices.SortStableFunc(g.modes, func(a, b sampleMode) int {
		if a.time != b.time {
			if b.time {
				return -1
			}
			return 1
		}
		if a.time {
			return 0
		}
		return slices.Index(g.sample.Names, a.Columns[0]) - slices.Index(g.sample.Names, b.Columns[0])
	})
	g.Modes = nil
	for _, m := range g.modes {
		g.Modes = append(g.Modes, m.String())
	}
}

// readGivenModes takes the given modes as far as they can be read.
func (g *guesser) readGivenModes() {
	g.Modes = g.given.Modes
	for _, text := range g.given.Modes {
		m, err := dataset.ParseMode(text)
		if err != nil {
			g.modes = nil
			return // the caller reports it
		}
		mode, ok := g.sampleModeOf(m)
		if !ok {
			g.modes = nil
			return
		}
		g.modes = append(g.modes, mode)
	}
}

// sampleModeOf makes the ids of a mode.
func (g *guesser) sampleModeOf(m dataset.Mode) (sampleMode, bool) {
	var columns []*sampleColumn
	for _, name := range m.Columns {
		i := slices.Index(g.sample.Names, name)
		if i < 0 {
			return sampleMode{}, false
		}
		columns = append(columns, g.columns[i])
	}
	mode := sampleMode{Mode: m, codes: make([]int32, g.Rows)}
	if m.Func == "" {
		mode.codes, mode.distinct = columns[0].codes, len(columns[0].values)
		for _, c := range columns[1:] {
			mode.codes, mode.distinct = relation.Crossed(mode.codes, c.codes)
		}
		return mode, true
	}
	c := columns[0]
	byText := map[string]int32{}
	code := make([]int32, len(c.values))
	for k, value := range c.values {
		t, ok := m.Moment(value)
		if !ok {
			return sampleMode{}, false
		}
		id, _ := dataset.Calendar(m.Func, t)
		if _, seen := byText[id]; !seen {
			byText[id] = int32(len(byText))
		}
		code[k] = byText[id]
	}
	for row, k := range c.codes {
		mode.codes[row] = code[k]
	}
	mode.distinct = len(byText)
	return mode, true
}

// mayBeCovariate ends the reason of a column that is no mode but may inform predictions.
const mayBeCovariate = "; data.covariates may use it"

// mayInform sets the reason of a column that is no mode but may inform predictions.
func (c *sampleColumn) mayInform(reason string) { c.reason, c.covariate = reason+mayBeCovariate, true }

// mayBeMode reports whether the values of a column may be ids, and sets c.reason if
// not.
func (g *guesser) mayBeMode(c *sampleColumn) bool {
	switch {
	case g.given.reserves(c.Name):
		c.reason = "it is a weight, an exposure, a covariate or another target"
	case c.dividesRows() != "":
		c.reason = c.dividesRows()
	case g.weighsRows(c) && namesExposure(c.Name):
		c.mayInform("an exposure by its name, not an id")
	case g.weighsRows(c):
		c.reason = "by its name it is a weight or an exposure; data.weight or data.exposure uses it"
	case c.Distinct == 0:
		c.reason = "it is empty"
	case c.Distinct == 1 && c.Missing == 0 && c.dateUnit() == timepart.None:
		c.reason = "the same value in every row"
	case g.target >= 0 && c.Distinct > 1 && g.idle(c):
		c.reason = "the same value in every row with a target"
	case c.ambiguous && !c.numeric:
		c.reason = fmt.Sprintf("numbers such as %q may have a decimal comma or separators of thousands; data.decimal or data.thousands says which", c.values[0])
	case c.Kind == KindFlag:
		c.mayInform("a flag with two values, not an id")
	case c.Kind == KindNumber && g.mixedPercents(slices.Index(g.columns, c)) != "":
		c.reason = g.mixedPercents(slices.Index(g.columns, c))
	case c.Kind == KindNumber && c.NotNumbers > 0:
		c.reason = "numbers, but " + strings.TrimPrefix(c.NotNumberText(g.unit), "column "+c.Name+", ")
	case g.countsRows(c):
		c.reason = "it counts the rows"
	case c.numeric && columnname.HasWord(c.Name, weightWords) || c.Kind == KindNumber && columnname.IsCovariate(c.Name):
		c.mayInform("a quantity by its name, not an id")
	case c.Kind == KindNumber && c.Integer:
		c.mayInform("numbers that hardly repeat, not an id")
	case c.Kind == KindNumber:
		c.mayInform("a quantity, not an id")
	case g.revealsTarget(c):
		c.reason = "each of its values has one value of the target, so it may be computed from it"
	case c.empty > 0 && !(g.lenient && g.fewEmpty(c)):
		c.mayInform(fmt.Sprintf("%d of %d rows have no value, and an id must not be empty", c.empty, g.Rows))
	case c.Kind == KindText && c.Unit != "":
		c.reason = fmt.Sprintf("numbers with a unit; without %q they may be a target or a covariate", c.Unit)
	case c.Kind == KindText && g.repeats(c.Distinct):
		c.reason = "texts of several lines"
	case c.Kind == KindText:
		c.reason = "texts that hardly repeat"
	case c.Kind == KindID && !g.repeats(c.Distinct) && !(columnname.IsID(c.Name) && 10*c.Distinct <= 8*g.Rows):
		c.reason = "another value in almost every row"
	default:
		return true
	}
	return false
}

// freeName returns a name for a mode that no other mode and no column of ids has.
func (g *guesser) freeName(name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(g.modes, func(m sampleMode) bool { return m.Name == name }) ||
			slices.ContainsFunc(g.columns, func(c *sampleColumn) bool { return c.Name == name && c.Kind == KindID && c != g.renamed })
	}
	free := name
	for i := 2; taken(free); i++ {
		free = fmt.Sprintf("%s%d", name, i)
	}
	return free
}
