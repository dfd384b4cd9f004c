package sideinfo

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// EncodeOptions are the options of Fit. Zero values select the defaults.
type EncodeOptions struct {
	// RareBelow is the number of entities below which a level shares a column with
	// the other rare levels. By default it is a twentieth of the entities with a
	// value, limited to 2 to 5. It is 2 for words, and if a higher number would leave no level and
	// most entities share their level with another one.
	RareBelow int
	// MostLevels is the largest number of columns of a category, 256 by default. With
	// more levels, the less frequent ones share a quarter of the columns by hashing.
	MostLevels int
}

// Fit fits an encoder to the entities of a joined table. It drops columns that are
// constant or entirely missing, with a notice, and returns an error if no column
// remains. The report is that of the table, with the columns added.
// O(rows x columns).
func Fit(j *Joined, opt EncodeOptions) (*Encoder, Report, error) {
	if opt.MostLevels == 0 {
		opt.MostLevels = 256
	}
	report := j.Report
	report.Columns = nil
	report.Notices = slices.Clone(report.Notices)
	given := map[string]Type{}
	for _, c := range j.Spec.Columns {
		given[c.Name] = c.Type
	}
	for _, c := range j.Spec.IDColumns {
		given[idMark+c.Name] = c.Type
	}
	e := &Encoder{spec: j.Spec}
	patterns := map[string]bool{} // patterns of missing entities that have an indicator
	for i, name := range j.Rows.Names {
		if given[name] == Group {
			continue
		}
		f := columnFit{rows: j.Rows, has: j.Has, index: i, opt: opt}
		f.column.Name, f.report.Name = name, name
		var notice string
		if f.column.Type, notice = typeOf(j, given[name], i); notice != "" {
			report.Notices = append(report.Notices, notice)
		}
		f.report.Type, f.report.Guessed = f.column.Type, given[name] == ""
		if err := f.fit(); err != nil {
			return nil, report, err
		}
		if notice := f.finish(patterns); notice != "" {
			report.Notices = append(report.Notices, notice)
		}
		if f.report.Constant {
			e.leftOut = append(e.leftOut, name)
		} else {
			f.column.index()
			f.report.Columns = len(f.column.names())
			e.columns = append(e.columns, f.column)
		}
		report.Columns = append(report.Columns, f.report)
	}
	if len(e.columns) == 0 {
		return nil, report, tableError(&dataset.InputError{File: j.Rows.File, Problem: fmt.Sprintf("the side information of mode %s has no usable column: %s", j.Mode.Name, strings.Join(report.Notices, "; ")),
			Remedy: "choose other columns or types"})
	}
	e.setNames()
	return e, report, nil
}

// typeOf returns the given type of a column, or a guess with a notice.
func typeOf(j *Joined, given Type, column int) (t Type, notice string) {
	c, computed := j.Spec.idColumn(j.Rows.Names[column])
	switch {
	case given != "":
		return given, ""
	case computed:
		return guessType(c.Name, j.Rows.Columns[column], j.Rows.Place)
	case j.Spec.Value != "":
		return Num, ""
	case j.Spec.Name != "":
		return Labels, ""
	}
	return guessType(j.Rows.Names[column], j.Rows.Columns[column], j.Rows.Place)
}

// columnFit fits one column.
type columnFit struct {
	rows    *dataset.Frame
	has     []bool // by entity: whether it has a row
	index   int    // of the column
	opt     EncodeOptions
	column  column
	report  ColumnReport
	dropped string // why the values are left out, or ""
}

func (f *columnFit) values() []string { return f.rows.Columns[f.index] }

func (f *columnFit) fit() error {
	for _, text := range f.values() {
		if f.column.Type.missing(text) {
			f.report.Missing++
		}
	}
	f.column.Indicator = f.report.Missing > 0
	if f.report.Missing == len(f.values()) {
		f.dropped = "all values are missing"
		return nil
	}
	if f.column.Type.levelled() {
		f.fitLevels()
		return nil
	}
	return f.fitQuantity()
}

func (f *columnFit) fitQuantity() error {
	c := &f.column
	values := make([]float64, 0, len(f.values()))
	var wrong []int
	for i, text := range f.values() {
		if f.column.Type.missing(text) {
			continue
		}
		v, problem := quantity(c.Type, text)
		if problem != "" {
			wrong = append(wrong, i)
		}
		values = append(values, v)
		c.Log1p = c.Log1p || c.Type == Log && v == 0
	}
	if wrong != nil {
		i := firstInFile(f.rows, wrong)
		_, problem := quantity(c.Type, f.values()[i])
		return tableError(f.rows.Fault(i, c.Name, f.values()[i], problem, quantityRemedy))
	}
	if slices.Min(values) == slices.Max(values) {
		f.dropped = fmt.Sprintf("all values are equal (%g)", values[0])
		if c.Type == Date {
			f.dropped = "all dates are equal"
		}
		return nil
	}
	if period := c.Type.period(); period > 0 {
		c.Mean = make([]float64, 2)
		for _, v := range values {
			cosine, sine := onCircle(v, period)
			c.Mean[0] += cosine / float64(len(values))
			c.Mean[1] += sine / float64(len(values))
		}
		return nil
	}
	for i, v := range values {
		values[i], _ = c.transform(v)
	}
	mean, sd := meanAndDeviation(values)
	if !(sd > 0) || math.IsInf(sd, 0) {
		f.dropped = "the values differ too little or too much to be standardised"
		return nil
	}
	c.Mean, c.SD = []float64{mean}, sd
	return nil
}

// fitLevels chooses the levels that get their own column.
func (f *columnFit) fitLevels() {
	c := &f.column
	entities := map[string]int{} // number by level
	for _, text := range f.values() {
		if f.column.Type.missing(text) {
			continue
		}
		if c.Type == Cat {
			entities[text]++
			continue
		}
		for _, label := range c.Type.split(text) {
			entities[label]++
		}
	}
	f.report.Levels = len(entities)
	rareBelow := f.rareBelow(entities)
	frequent := slices.DeleteFunc(slices.Sorted(maps.Keys(entities)), func(level string) bool { return entities[level] < rareBelow })
	f.report.Pooled = len(entities) - len(frequent)
	c.Other = f.report.Pooled > 0
	if len(frequent) > f.opt.MostLevels {
		slices.SortStableFunc(frequent, func(a, b string) int { return entities[b] - entities[a] })
		c.Buckets = max(1, f.opt.MostLevels/4)
		own := f.opt.MostLevels - c.Buckets
		c.Hashed = slices.Sorted(slices.Values(frequent[own:]))
		frequent = frequent[:own]
		slices.Sort(frequent)
		f.report.Hashed = len(c.Hashed)
	}
	c.Levels = frequent
	variance := f.levelVariance(entities)
	switch {
	case len(c.Levels)+len(c.Hashed) == 0:
		f.dropped = fmt.Sprintf("each of its %d levels has fewer than %d entities", f.report.Levels, rareBelow)
	case variance == 0:
		f.dropped = "all values are equal"
	}
	if c.Type.several() {
		c.Scale = 1 / math.Sqrt(max(1, variance))
	} else if len(c.Levels)+c.Buckets == 1 && !c.Other {
		c.Indicator = false // it would be the complement of the only column
	}
}

// rareBelow returns the number of entities below which a level is rare; see
// EncodeOptions.
func (f *columnFit) rareBelow(entities map[string]int) int {
	if f.opt.RareBelow > 0 {
		return f.opt.RareBelow
	}
	if f.column.Type == Words {
		return 2 // a word of two entities says that they are alike
	}
	most, shared, all := 0, 0, 0
	for _, n := range entities {
		most, all = max(most, n), all+n
		if n > 1 {
			shared += n
		}
	}
	below := min(5, max(2, (len(f.values())-f.report.Missing+19)/20))
	if most < below && 2*shared >= all {
		return 2
	}
	return below
}

// finish decides whether the column is left out and whether it has an indicator of
// missing values, and returns a notice. If the values carry no information, but some
// entities with a row have no value, the indicator alone is kept. Columns with the
// same missing entities share one indicator.
func (f *columnFit) finish(patterns map[string]bool) (notice string) {
	pattern := f.missingPattern()
	c := &f.column
	if f.dropped != "" {
		*c = column{Name: c.Name, Type: c.Type}
		for i, text := range f.values() {
			c.Bare = c.Bare || f.column.Type.missing(text) && f.has[i]
		}
		c.Indicator = c.Bare && f.report.Missing < len(f.values()) && !patterns[pattern]
		if !c.Indicator {
			f.report.Constant = true
			return fmt.Sprintf("column %q is left out: %s", c.Name, f.dropped)
		}
		notice = fmt.Sprintf("column %q is used only to mark missing values: %s", c.Name, f.dropped)
	}
	if c.Indicator && patterns[pattern] {
		c.Indicator = false
	}
	patterns[pattern] = patterns[pattern] || c.Indicator
	return notice
}

// levelVariance returns the sum of p (1 - p) over the levels that are not rare, with
// p the share of entities that have the level.
func (f *columnFit) levelVariance(entities map[string]int) float64 {
	total := 0.0
	n := float64(len(f.values()))
	for _, level := range slices.Concat(f.column.Levels, f.column.Hashed) {
		p := float64(entities[level]) / n
		total += p * (1 - p)
	}
	return total
}

// missingPattern returns a bit per entity that is set if its value is missing.
func (f *columnFit) missingPattern() string {
	bits := make([]byte, (len(f.values())+7)/8)
	for i, text := range f.values() {
		if f.column.Type.missing(text) {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return string(bits)
}
