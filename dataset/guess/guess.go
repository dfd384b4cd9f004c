// Package guess infers what the columns of an unknown table mean from a sample of its rows: which
// column is the target, which columns identify a cell, which is the time, whether rows are cells or
// records, and which columns describe them.
//
// [Columns] makes a [Guess]. It reads the columns (column.go, number_format.go, moments.go), chooses
// the target (target.go) and the modes (modes.go, cells.go, time.go), decides between cells and records
// (records.go), rejects columns that give the target away (leaks.go, sums.go), and explains what it
// leaves out (explain.go). The words in the names of columns are in names.go.
package guess

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/columnname"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Kind is the probable content of a column.
type Kind string

const (
	KindID     Kind = "id"     // names of entities, which repeat
	KindNumber Kind = "number" // quantities
	KindDate   Kind = "date"   // dates, times, unix seconds, weeks, quarters
	KindFlag   Kind = "flag"   // two values, such as 0 and 1
	KindText   Kind = "text"   // texts that rarely repeat
)

// Column describes a column by its first rows.
type Column struct {
	Name     string
	Kind     Kind
	Distinct int     // number of distinct values
	Missing  int     // values that are empty, NA, N/A or null
	Min, Max float64 // of the numbers
	Integer  bool    // all values are integers

	// Numbers is how the numbers of the column are written.
	Numbers dataset.NumberFormat

	// NotNumbers counts the values that keep a column from being one of numbers, if they
	// are at most half of the values. NotNumber is the first of them, in line NotNumberLine. The text NaN counts,
	// because a target of NaN is refused.
	NotNumbers    int
	NotNumber     string
	NotNumberLine int

	// Unit is the text after all numbers of the column, such as kg, which keeps it from being one
	// of numbers.
	Unit string
}

// A Guess is the probable meaning of a table's columns. All of it rests on a sample of
// the rows.
type Guess struct {
	Target  string   // "" if no column is suitable
	Modes   []string // in the form that dataset.ParseMode reads
	Columns []Column
	Rows    int // rows in the sample

	// Duplicates is the proposed rule for cells that occur more than once, see
	// [dataset.DuplicateRules]; "" if each row has its own cell. Repeated counts the rows whose
	// cell an earlier row has.
	Duplicates string
	Repeated   int

	// Covariates are columns that describe single rows, in the form that dataset.ParseMode reads: of
	// records, and of cells unless those to predict lie in the future.
	Covariates []string
	Exposure   string // column to which the counts of the target are in proportion, or ""

	Numbers    dataset.NumberFormat // of the target
	LeftOut    []LeftOut
	Determined []Determined
	Wide       *Wide // nil for a table in long form

	// Notes say what the user should know about the guess, a sentence each.
	Notes []string

	Records bool // rows are records of their own, not cells

	totals      []string // warnings about ids that are the sums of the others
	notTarget   string   // a column with the name of a target that has the same value in every row, or none, if another is the target
	parts       bool     // see Given
	covariates  bool
	repeatPlace string // of the first repeated row, if these are few, for notes
	unit        string // what lines count, see dataset.InputError
	badRow      *dataset.InputError
}

// LeftOut is a column that the guess does not use, and why.
type LeftOut struct {
	Column, Reason string
	Covariate      bool // whether its values may be a covariate
}

// MayDescribe returns the columns that the guess leaves out and that may be covariates.
func (g *Guess) MayDescribe() (columns []dataset.Mode) {
	for _, l := range g.LeftOut {
		if l.Covariate {
			columns = append(columns, l.Mode())
		}
	}
	return columns
}

// Damaged returns a warning about each column of numbers that is left out because of a unit or of values that are none, and about one
// that would be the target if its values differed, and about ids that are the sums of the others.
func (g *Guess) Damaged() (warnings []string) {
	for _, l := range g.LeftOut {
		i := slices.IndexFunc(g.Columns, func(c Column) bool { return c.Name == l.Column })
		switch {
		case i < 0:
		case l.Column == g.notTarget:
			warnings = append(warnings, fmt.Sprintf("column %s has the name of a target, but %s, so that column %s is predicted; to predict another one, name it as data.target", l.Column, l.Reason, g.Target))
		case g.Columns[i].Kind == KindNumber && g.Columns[i].NotNumbers > 0:
			warnings = append(warnings, fmt.Sprintf("column %s is not used: %s; correct such values, or leave them empty if they are missing", l.Column, l.Reason))
		case g.Columns[i].Unit != "":
			warnings = append(warnings, fmt.Sprintf("column %s is not used: %s", l.Column, l.Reason))
		}
	}
	return append(warnings, g.totals...)
}

// Mode returns the mode of the column, whose text a specification can have. A name that a mode may
// not have gets another: temp_C="temp (C)".
func (l LeftOut) Mode() dataset.Mode {
	m := dataset.Mode{Name: l.Column, Columns: []string{l.Column}}
	if !dataset.ValidModeName(m.Name) {
		m.Name = strings.Join(strings.FieldsFunc(l.Column, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "_")
	}
	if m.Name == "" {
		m.Name = "covariate"
	}
	return m
}

// Determined is a column that has the same value in all rows of each id of a mode,
// such as the city of a store: it may be side information of that mode.
type Determined struct{ Column, Mode string }

// Sample is what a guess is based on.
type Sample struct {
	Names      []string
	Rows       [][]string // trimmed fields of each row
	Lines      []int      // line of each row, or nil
	Several    bool       // the rows are those of several files, each with lines of its own
	Unit       string     // what Lines counts, see dataset.InputError
	Headerless bool       // the names are c1, c2, ...
	Whole      bool       // the rows are all of the table
}

// Given is what is known about a table before the guess. Empty fields are guessed.
type Given struct {
	Target                     string
	Modes                      []string
	Weight, Exposure, Censored string               // columns that are neither target nor mode
	Covariates                 []string             // the same
	Numbers                    dataset.NumberFormat // recognised if plain
	Parts                      bool                 // whether a column or a file says which part a row is in
	Described                  bool                 // whether some of Covariates describe rows
	Undescribed                bool                 // whether no column may become a covariate
	Uncounted                  bool                 // whether no column may become the exposure
	Future                     bool                 // whether the cells to predict lie after those of the table, where what describes them need not be known

	// Trained tells which rows of a sample are in the training set, given the guess so far, of which target and modes are final. It may
	// be nil, and returns nil if that is unknown.
	Trained func(sample Sample, g *Guess) []bool
}

// reserves reports whether a column is given as something else than target or mode.
func (g Given) reserves(column string) bool {
	return column == g.Weight || column == g.Exposure || column != "" && column == g.Censored || slices.Contains(g.Covariates, column)
}

// Columns guesses the target and the modes of a table from a sample of its rows,
// which must not be empty.
//
// The target is a numeric column with the name of a target (sales, rating, y), or
// else the last numeric column that is neither an id nor, by its name, a covariate.
// The last numeric column is the target also as a price, if none has such a name.
//
// The modes are the columns of ids and the time, with year and month joined, such that
// each row has a cell of its own: a time that hardly repeats is taken by day, week or
// month, or left out; integers without the name of an id are modes only if the cells
// are not unique otherwise. If rows of the same cell remain, the guess has a rule for
// them. A column that the ids of another column determine (the city of a store) is not
// a mode.
func Columns(sample Sample, given Given) *Guess {
	g := newGuesser(sample, given, false).withRepeats()
	if g.lacksIDs() {
		g = newGuesser(sample, given, true).withRepeats()
	}
	return g.Guess
}

// newGuesser makes a guess. If lenient is set, a column of ids may be empty in a few rows.
func newGuesser(sample Sample, given Given, lenient bool) *guesser {
	g := &guesser{
		Guess:  &Guess{Rows: len(sample.Rows), parts: given.Parts, covariates: given.Described, unit: sample.Unit},
		sample: sample, given: given, lenient: lenient, target: -1, follows: map[*sampleColumn]bool{},
	}
	g.readColumns()
	g.guessTarget()
	for _, c := range g.columns {
		g.Columns = append(g.Columns, c.Column)
	}
	g.findSums()
	g.guessExposure()
	g.guessModes()
	g.checkCells()
	g.findTotals()
	g.findOutliers()
	g.sumExposed()
	g.findWide()
	g.explain()
	if g.Guess.badRow = g.findMixedPercents(); g.Guess.badRow == nil {
		g.Guess.badRow = g.findBadDate()
	}
	return g
}

// sharesCells reports whether most rows share their cells, or have none.
func (g *guesser) sharesCells() bool { return len(g.modes) == 0 || 2*g.Repeated >= g.Rows }

// lacksIDs reports whether most rows share their cells, and a column of ids is empty in a few
// rows, such as those of totals.
func (g *guesser) lacksIDs() bool {
	return len(g.given.Modes) == 0 && g.sharesCells() && slices.ContainsFunc(g.columns, func(c *sampleColumn) bool {
		return c.empty > 0 && g.fewEmpty(c) && (c.Kind == KindDate || c.Kind == KindID) && c.Distinct > 1 && c != g.columns[max(g.target, 0)] && !g.reserved(c)
	})
}

// fewEmpty reports whether a column is empty in so few rows that they can be left out.
func (g *guesser) fewEmpty(c *sampleColumn) bool { return c.empty <= max(1, g.Rows/20) }

// guesser is a guess under construction.
type guesser struct {
	*Guess
	sample   Sample
	given    Given
	lenient  bool // see newGuesser
	columns  []*sampleColumn
	target   int // index of the target, or -1
	modes    []sampleMode
	roles    sampleRoles
	ranks    []float64                // see targetRanks
	computed map[*sampleColumn]string // columns that give the target away, with the reason, see findSums
	follows  map[*sampleColumn]bool   // see followsTarget
	kept     crossing                 // see cellsOf
	renamed  *sampleColumn            // ids in a column called time, beside the time itself
}

// Error says what a guess could not find and what to give instead.
type Error struct{ *dataset.InputError }

// Unwrap returns the error as an *dataset.InputError.
func (e *Error) Unwrap() error { return e.InputError }

// Check returns a *Error if the guess lacks the target or the modes. The file is
// named in it.
func (g *Guess) Check(file string) error {
	columns := "the columns are " + listed(g.names())
	switch {
	case g.Wide != nil && g.Target == "":
		return &Error{&dataset.InputError{File: file, Problem: g.Wide.problem(), Remedy: g.Wide.Remedy(file) + "; or name one column as data.target", Field: "data.target"}}
	case g.Target == "" && len(g.Columns) == 1 && strings.ContainsAny(g.Columns[0].Name, " \t"):
		return &Error{&dataset.InputError{File: file, Problem: fmt.Sprintf("the table has one column, %q", g.Columns[0].Name),
			Remedy: "separate its fields by commas, tabs or semicolons, or name their separator as data.delimiter; columns that are aligned by several spaces are not read", Field: "data.delimiter"}}
	case g.Target == "":
		remedy := "name the column to predict as data.target (" + columns + ")"
		if i := slices.IndexFunc(g.Columns, func(c Column) bool { return c.Unit != "" }); i >= 0 {
			remedy = fmt.Sprintf("remove the unit %q from the values of column %s, or %s", g.Columns[i].Unit, g.Columns[i].Name, remedy)
		} else if slices.ContainsFunc(g.Columns, func(c Column) bool { return c.NotNumbers > 0 }) {
			remedy = "leave the target empty or write NA where it is missing, or " + remedy
		}
		return &Error{&dataset.InputError{File: file, Problem: "no column looks like a target, a number that is not an id" + g.nearlyNumbers(),
			Remedy: remedy, Field: "data.target"}}
	case g.badRow != nil:
		dataset.InFile(g.badRow, file)
		return &Error{g.badRow}
	case len(g.Modes) == 0 && len(g.Covariates) == 0 && !g.covariates:
		return &Error{&dataset.InputError{File: file, Problem: "no column looks like ids, values that repeat from row to row" + g.uniqueColumns(),
			Remedy: "name the columns that identify a cell as data.modes (" + columns + ")", Field: "data.modes"}}
	}
	return nil
}

// nearlyNumbers mentions columns in which at least half of the values are numbers, and
// columns of one number.
func (g *Guess) nearlyNumbers() string {
	var texts []string
	for _, c := range g.Columns {
		if c.NotNumbers > 0 {
			texts = append(texts, c.NotNumberText(g.unit))
		}
		if c.Unit != "" {
			texts = append(texts, fmt.Sprintf("the values of column %s have a unit, %q", c.Name, c.Unit))
		}
		if c.Distinct == 1 && c.NotNumbers == 0 && (c.Integer || c.Kind == KindNumber) && !columnname.IsID(c.Name) {
			texts = append(texts, fmt.Sprintf("column %s is constant, %v in every row", c.Name, c.Min))
		}
		switch named := namedTarget(c.Name) && !columnname.IsID(c.Name); {
		case named && c.Distinct == 0:
			texts = append(texts, fmt.Sprintf("column %s is empty", c.Name))
		case named && (c.Kind == KindID || c.Kind == KindText) && !c.Integer && c.NotNumbers == 0 && c.Unit == "":
			texts = append(texts, fmt.Sprintf("column %s has texts that are not numbers", c.Name))
		}
	}
	for _, l := range g.LeftOut {
		if strings.HasPrefix(l.Reason, "numbers such as") {
			texts = append(texts, "column "+l.Column+": "+l.Reason)
		}
	}
	if texts == nil {
		return ""
	}
	return " (" + strings.Join(texts, "; ") + ")"
}

// NotNumberText says which value of the column is not a number, and where.
func (c Column) NotNumberText(unit string) string {
	if c.NotNumbers == 0 {
		return ""
	}
	text := fmt.Sprintf("column %s, ", c.Name)
	if c.NotNumberLine > 0 {
		text += dataset.Place(unit, c.NotNumberLine) + ": "
	}
	text += fmt.Sprintf("%q is not a number", c.NotNumber)
	if c.NotNumbers > 1 {
		text += fmt.Sprintf(" (%s of this kind)", plural.Count(c.NotNumbers, "value"))
	}
	return text
}

// uniqueColumns mentions columns with another value in almost every row.
func (g *Guess) uniqueColumns() string {
	var names []string
	for _, c := range g.Columns {
		if c.Kind != KindNumber && c.Name != g.Target && 2*c.Distinct > g.Rows {
			names = append(names, c.Name)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return " (" + names[0] + " hardly repeats)"
	}
	return " (" + listed(names) + " hardly repeat)"
}

func (g *Guess) names() []string {
	names := make([]string, len(g.Columns))
	for i, c := range g.Columns {
		names[i] = c.Name
	}
	return names
}

// listed joins names, with the middle of a long list left out.
func listed(names []string) string {
	const most = 24
	if len(names) > most {
		names = slices.Concat(names[:most-4], []string{fmt.Sprintf("... (%d more)", len(names)-most+3)}, names[len(names)-3:])
	}
	return strings.Join(names, ", ")
}
