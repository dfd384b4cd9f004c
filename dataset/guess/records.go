package guess

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/timepart"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// MostCovariates is the number of columns that become covariates without being named.
const MostCovariates = 24

const (
	recordsPerCell = 3  // rows per cell, in the mean, from which rows are records
	mostRecordIDs  = 2  // columns of ids of records that become modes, one more if they have few values; the others are covariates
	fewDescribing  = 4  // columns from which rows are records, even if the target has the name of something that is sold
	rowsPerPeriod  = 20 // rows per period, in the mean, from which the periods of records are those of a mode
)

// takeRecords reads the table as one of records, such as persons, houses or rides, if its rows are
// no cells: it keeps them, and what is known about single rows becomes covariates. Modes are the
// ids, and the time in periods of many rows.
//
// Rows are records if combinations of ids have many rows each, which differ in what else is known about them, or if the cells that the
// modes give are not those of a design, see [guesser.designed]: then only chance, or the number of columns, tells rows apart. What is sold or
// counted adds up by cell, unless much is known about each row, or most rows repeat a cell that has no time. With given modes rows are kept without covariates, with given covariates
// with these alone.
func (g *guesser) takeRecords() {
	if g.target < 0 {
		return
	}
	if len(g.given.Modes) > 0 || g.sample.Headerless {
		g.keepRows(len(g.given.Modes) == 0)
		g.keepMany()
		return
	}
	cells, modes := g.modes, g.recordModes()
	g.modes = modes
	describing, following := g.describing()
	if !g.areRecords(cells, len(describing)+g.describedBy()) {
		g.modes = cells
		g.keepRows(false)
		g.keepMany()
		g.describeCells()
		return
	}
	if g.given.Described {
		describing = nil
	}
	for _, c := range following {
		c.reason, c.covariate = followsReason, false
	}
	g.Notes = nil // of the cells
	g.sortModes()
	g.Repeated, g.Duplicates, g.Records = g.repeated(g.modes), "keep", true
	g.noteRecords(describing)
}

// describeCells proposes the columns that describe cells as covariates: a row to predict has them
// too, unless it lies in the future. Few rows of the same cell are kept if they differ in
// covariates.
func (g *guesser) describeCells() {
	if g.manyRepeated() {
		return
	}
	if g.given.Described {
		g.keepDiffering(g.given.Covariates)
	}
	if g.given.Future || g.given.Described {
		return
	}
	columns, _ := g.describing()
	columns = slices.DeleteFunc(columns, func(d describing) bool { return !d.column.covariate })
	if len(columns) == 0 {
		return
	}
	names := make([]string, len(columns))
	for i, d := range columns {
		names[i] = d.column.Name
	}
	g.keepDiffering(names)
	g.Notes = append(g.Notes, "columns that describe cells are taken for covariates"+g.takeCovariates(columns)+", or none; rows to predict must have them too")
}

// manyRepeated reports whether more than a tenth of the rows have the cell of an earlier row.
func (g *guesser) manyRepeated() bool { return 10*g.Repeated > g.observed() }

// keepMany proposes to keep many rows of the same cells instead of their means, whose noise is not that of a row to predict.
func (g *guesser) keepMany() {
	if g.Duplicates == "mean" && g.manyRepeated() {
		g.Notes = g.Notes[:len(g.Notes)-1] // of the other rule
		g.noteDuplicates("keep", "a mean of several rows varies less than a single one")
	}
}

// describedBy returns the number of given covariates.
func (g *guesser) describedBy() int {
	if !g.given.Described {
		return 0
	}
	return len(g.given.Covariates)
}

// keepRows proposes to keep the rows of few cells with the modes as they are.
func (g *guesser) keepRows(describe bool) {
	rows := g.observed()
	cells := rows - g.Repeated
	if g.Repeated == 0 || rows < recordsPerCell*cells || g.hasTime() {
		return
	}
	describing, _ := g.describing()
	if known := len(describing) + g.describedBy(); !g.recordRule(g.Duplicates, known) || known == 0 && cells >= fewRows && g.Duplicates != "mean" {
		return
	}
	g.Notes = g.Notes[:len(g.Notes)-1] // of the rule for rows of a cell
	g.Duplicates, g.Records = "keep", true
	if !describe || g.given.Described {
		describing = nil
	}
	g.noteRecords(describing)
}

// noteRecords sets the covariates and says how the rows are read.
func (g *guesser) noteRecords(describing []describing) {
	note := "each row is taken for a record of its own (data.duplicates is keep)"
	if rows := g.observed(); len(g.modes) > 0 && rows > g.Repeated && rows >= recordsPerCell*(rows-g.Repeated) {
		note = fmt.Sprintf("there are %s for each combination of ids, so ", plural.Count(rows/(rows-g.Repeated), "row")) + note
	} else {
		note = "no columns identify each row as those of a panel do, so " + note
	}
	if len(describing) > 0 {
		note += ", and columns in which such rows differ for covariates" + g.takeCovariates(describing)
	}
	g.Notes = append(g.Notes, note)
}

// takeCovariates sets the covariates to the most telling of some columns. It returns the end of a note that says so.
func (g *guesser) takeCovariates(columns []describing) string {
	taken, note := g.mostTelling(columns, MostCovariates), ""
	g.Covariates = make([]string, len(taken))
	for i, d := range taken {
		g.Covariates[i] = d.mode
	}
	if len(columns) > len(taken) {
		note = fmt.Sprintf(", those %d of %d that say most about the target one by one", len(taken), len(columns))
	}
	return note + "; data.covariates chooses others"
}

// areRecords reports whether rows with so many columns that describe them are records rather than cells of some modes.
func (g *guesser) areRecords(cells []sampleMode, describing int) bool {
	rows := g.observed()
	unique := rows - g.Repeated
	switch {
	case len(cells) == 0:
		return describing > 0
	case g.Repeated > 0 && rows >= recordsPerCell*unique && !slices.ContainsFunc(cells, isTime):
		return g.Duplicates != "last" && describing > 0 || g.recordRule(g.Duplicates, describing) && (unique < fewRows || g.Duplicates == "mean")
	case describing == 0 || g.singleSeries(cells) || g.designed(cells):
		return false
	}
	repeats := g.findRepeats(slices.DeleteFunc(slices.Clone(cells), g.isWeak))
	if 20*repeats.Rows < g.Rows && describing+len(g.roles.ids) < fewDescribing {
		return false
	}
	repeats.Equal, repeats.PutBack = false, false // as cells that are unique by chance have no repeats
	rule, _ := g.duplicateRule(repeats)
	return g.recordRule(rule, describing)
}

// observed returns the number of rows with a target.
func (g *guesser) observed() int {
	n := 0
	for _, row := range g.sample.Rows {
		if !dataset.MissingNumber(row[g.target]) {
			n++
		}
	}
	return n
}

// isWeak reports whether a mode is a column of integers without the name of an id.
func (g *guesser) isWeak(m sampleMode) bool {
	return len(m.Columns) == 1 && slices.ContainsFunc(g.roles.weak, func(c *sampleColumn) bool { return c.Name == m.Columns[0] })
}

func isTime(m sampleMode) bool { return m.time }

func (g *guesser) hasTime() bool { return slices.ContainsFunc(g.modes, isTime) }

// singleSeries reports whether the modes are those of a single series along time. Moments of
// events, which have no regular distance, are not.
func (g *guesser) singleSeries(modes []sampleMode) bool {
	if slices.ContainsFunc(modes, func(m sampleMode) bool { return !m.time || m.Columns[0] != modes[0].Columns[0] }) {
		return false
	}
	c := g.columns[slices.Index(g.sample.Names, modes[0].Columns[0])]
	return c.moments == nil || len(modes) == 1 && 100*g.Repeated <= g.Rows || c.regular()
}

// recordModes returns the modes of a table of records: the columns of ids with the most values,
// also of integers that are codes, and the time.
func (g *guesser) recordModes() []sampleMode {
	cells := g.modes
	g.modes = nil // names are free
	ids := slices.DeleteFunc(slices.Clone(g.roles.ids), func(c *sampleColumn) bool { return !g.repeats(c.Distinct) || c == g.renamed || g.idle(c) })
	for _, c := range g.roles.weak {
		if g.isNominal(c) {
			ids = append(ids, c)
		}
	}
	slices.SortStableFunc(ids, func(a, b *sampleColumn) int { return b.Distinct - a.Distinct })
	most := mostRecordIDs
	if len(ids) > 0 && ids[0].Distinct < leastNominal {
		most++
	}
	for _, c := range ids[:min(len(ids), most)] {
		g.modes = append(g.modes, g.modeOfColumn(c))
	}
	for _, c := range g.roles.parts { // a year of birth is a quantity
		if len(columnname.Words(c.Name)) == 1 {
			g.modes = append(g.modes, g.modeOfColumn(c))
		}
	}
	switch t := g.roles.time; {
	case g.roles.joined != nil:
		g.modes = append(g.modes, *g.roles.joined)
	case t != nil:
		g.addRecordTime(t)
	}
	modes := g.modes
	g.modes = cells
	return modes
}

// addRecordTime adds the time of records to the modes: its shortest periods that have many rows
// each, and the hours of moments.
func (g *guesser) addRecordTime(c *sampleColumn) {
	many := func(distinct int) bool { return distinct > 1 && g.Rows >= rowsPerPeriod*distinct }
	plain := g.modeOfColumn(c)
	plain.Name, plain.time = g.freeName("time"), true
	if many(c.Distinct) && (!c.callable || c.resolution() >= stepDay && !c.mixesFormats()) {
		g.modes = append(g.modes, plain)
		return
	}
	add := func(name string, functions ...string) {
		for _, function := range functions {
			m, ok := g.sampleModeOf(dataset.Mode{Name: g.freeName(name), Columns: []string{c.Name}, Func: function, Dates: string(c.dates)})
			if ok && many(m.distinct) {
				m.time = true
				g.modes = append(g.modes, m)
				return
			}
		}
	}
	if !c.callable {
		return
	}
	if c.resolution() < stepDay {
		add("hour", "hour")
	}
	add("time", "date", "yearweek", "yearmonth", "yearquarter", "year")
}

// recordRule reports whether the proposed rule for rows of a cell is one that records with some
// describing columns may have: quantities with the name of something sold or counted add up, unless
// much is known about each row, or a column numbers the rows, and equal targets are copies.
func (g *guesser) recordRule(rule string, describing int) bool {
	switch rule {
	case "keep", "mean":
		return true
	case "sum":
		return describing >= fewDescribing || !namedAdditive(g.Target) || describing > 0 && !g.given.Future && g.numbered()
	}
	return false
}

// numbered reports whether a column numbers the rows, or has an id for each: to add up claims by cell would forget what is known about them.
func (g *guesser) numbered() bool {
	return g.Rows >= fewRows && slices.ContainsFunc(g.columns, func(c *sampleColumn) bool {
		return c.Distinct == g.Rows && c.Kind != KindDate && (g.numbersAllRows(c) || !c.numeric || columnname.IsID(c.Name))
	})
}

// describing is a column that says something about single rows, and its mode.
type describing struct {
	column *sampleColumn
	mode   string
}

// describing returns the columns that say something about single rows, and those that follow the target.
func (g *guesser) describing() (columns []describing, following []*sampleColumn) {
	if g.given.Undescribed {
		return nil, nil
	}
	taken := map[string]bool{} // names of modes and covariates
	for _, m := range g.modes {
		taken[m.Name] = true
	}
	for i, c := range g.columns {
		switch {
		case i == g.target || g.computed[c] != "" || !g.describesRecord(c):
		case g.followsTarget(c):
			following = append(following, c)
		default:
			m := LeftOut{Column: c.Name}.Mode()
			if slices.Contains(g.roles.weak, c) && g.isNominal(c) {
				m = m.Decided(false)
			}
			for name, k := m.Name, 2; taken[m.Name]; k++ { // a column called time beside dates
				m.Name = fmt.Sprintf("%s%d", name, k)
			}
			taken[m.Name] = true
			columns = append(columns, describing{c, m.String()})
		}
	}
	return columns, following
}

// describesRecord reports whether a column that is no mode says something about single rows.
func (g *guesser) describesRecord(c *sampleColumn) bool {
	switch {
	case g.reserved(c) && !g.describesAsExposure(c) || c.Distinct < 2 || 2*g.missingBesideTarget(c) > g.observed() || c.NotNumbers > 0 || c.Unit != "" || c.ambiguous:
		return false
	case c.Kind == KindDate || c.alike() || g.revealsTarget(c) || g.numbersAllRows(c) || g.idle(c):
		return false
	case c.Kind == KindID && (!c.numeric || columnname.IsID(c.Name) && timepart.UnitOf(c.Name) != timepart.Year) && !g.repeats(c.Distinct) || c.Kind == KindText:
		return false
	}
	mode := slices.ContainsFunc(g.modes, func(m sampleMode) bool { return slices.Contains(m.Columns, c.Name) })
	return !mode && g.determiningMode(c) == ""
}

// missingBesideTarget returns the number of rows with a target in which a column has no value.
func (g *guesser) missingBesideTarget(c *sampleColumn) int {
	if c.Missing == 0 {
		return 0
	}
	missing := make([]bool, len(c.values))
	for code, value := range c.values {
		missing[code] = dataset.Missing(value) || c.numeric && dataset.MissingNumber(value)
	}
	n := 0
	for row, code := range c.codes {
		if missing[code] && !dataset.MissingNumber(g.sample.Rows[row][g.target]) {
			n++
		}
	}
	return n
}

// idle reports whether a column has the same value in all rows with a target, unless there are few rows.
func (g *guesser) idle(c *sampleColumn) bool {
	if g.Rows < fewRows {
		return false
	}
	first := int32(-1)
	for row, code := range c.codes {
		switch {
		case dataset.MissingNumber(g.sample.Rows[row][g.target]):
		case first < 0:
			first = code
		case code != first:
			return false
		}
	}
	return true
}

// numbersAllRows reports whether integers number the rows, with few gaps: quantities of so many rows repeat.
func (g *guesser) numbersAllRows(c *sampleColumn) bool {
	return c.Integer && c.Missing == 0 && c.Distinct == g.Rows && g.Rows >= fewRows && c.Max-c.Min < 2*float64(g.Rows) && !columnname.HasWord(c.Name, []string{"rank"})
}
