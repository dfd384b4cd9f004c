package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Schema describes the columns of a table.
type Schema struct {
	Target string // column of the values
	Weight string // column of the weights, or ""
	Modes  []Mode
	Part   string // column that contains train, valid, test or unused, or ""

	// Exposure is the column of the exposures of counts, or "".
	Exposure string
	// Censored is the column that marks targets which are known from below only, or "".
	// With AllKnown a table may lack it, and then has no such targets.
	Censored string
	AllKnown bool
	// Optional is set for tables to predict: they may lack the columns of weight and
	// exposure, and a missing value in them is 1, like a weight of 0.
	Optional bool

	// WordTargets lets a table that is measured have a target of words, such as yes and no.
	WordTargets bool

	// Duplicates specifies what to do with a cell that occurs more than once: "error" (or
	// ""), "sum" (of targets, of weights and of exposures), "mean" (weighted; weights are
	// summed, exposures averaged) or "last".
	Duplicates string

	// Unneeded says, by mode, that a table may lack the columns of a covariate; nil if it must have all.
	Unneeded []bool

	// Absent lists columns that the table must not have because the output adds them.
	Absent []string
}

// DuplicateRules returns the values of Schema.Duplicates.
func DuplicateRules() []string { return []string{"error", "sum", "mean", "last", "keep"} }

// Check returns an error if the schema contradicts itself.
func (s Schema) Check() error {
	if err := checkModes(s.Modes); err != nil {
		return err
	}
	for _, m := range s.Modes {
		if len(m.Columns) == 0 || m.Func != "" && len(m.Columns) != 1 {
			return fielderr.Errorf("data.modes", "mode %q has %s; a function takes one", m.Name, plural.Count(len(m.Columns), "column"))
		}
		if m.Func != "" {
			if err := checkFunction(m.Func); err != nil {
				return fielderr.Errorf("data.modes", "mode %q: %w", m.Name, err)
			}
		}
	}
	if s.Duplicates != "" && !slices.Contains(DuplicateRules(), s.Duplicates) {
		return fielderr.Errorf("data.duplicates", "unknown rule for duplicates %q%s; the rules are %s", s.Duplicates,
			suggest.Hint(s.Duplicates, DuplicateRules()), strings.Join(DuplicateRules(), ", "))
	}
	return nil
}

// Columns lists the columns that the schema names and a table must have.
func (s Schema) Columns() []string {
	var names []string
	for _, m := range s.Modes {
		names = append(names, m.Columns...)
	}
	rest := []string{s.Target, s.Part}
	if !s.Optional {
		rest = []string{s.Target, s.Weight, s.Exposure, s.Part}
	}
	if !s.AllKnown {
		rest = append(rest, s.Censored)
	}
	for _, name := range rest {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Positions are the indexes of a schema's columns in one table. An index is -1 if
// the schema does not name the column.
type Positions struct {
	Modes                                    [][]int
	Target, Weight, Exposure, Censored, Part int
}

// Locate finds the schema's columns among the names of a table's columns. The
// function missing makes the error about a column that the table does not have; it
// may set the field that can fix it.
func (s Schema) Locate(file string, names []string, missing func(name string) *InputError) (Positions, error) {
	for _, name := range s.Absent {
		if slices.Contains(names, name) {
			return Positions{}, &InputError{File: file, Column: name, Problem: "the table already has this column, and the output would contain it twice", Remedy: "rename it or drop it"}
		}
	}
	find := func(name, field string) (int, *InputError) {
		if i := slices.Index(names, name); i >= 0 {
			return i, nil
		}
		err := missing(name)
		if err.Field == "" {
			err.Field = field
		}
		return -1, err
	}
	var found Positions
	for k, m := range s.Modes {
		var at []int
		if s.unneeded(k) && !slices.Contains(names, m.Columns[0]) {
			found.Modes = append(found.Modes, nil)
			continue
		}
		for _, name := range m.Columns {
			field := "data.modes"
			if m.Covariate() {
				field = "data.covariates"
			}
			i, err := find(name, field)
			if err != nil {
				if whole := m.Expression(); slices.Contains(names, whole) {
					err.Problem = "the table has no such column"
					err.Remedy = fmt.Sprintf("in a mode, the column %s is written in quotes: %s", whole, fieldtext.QuoteColumn(whole))
				}
				return Positions{}, s.needed(err, names)
			}
			at = append(at, i)
		}
		found.Modes = append(found.Modes, at)
	}
	for _, one := range []struct {
		at          *int
		name, field string
		optional    bool
	}{{&found.Target, s.Target, "data.target", false}, {&found.Weight, s.Weight, "data.weight", s.Optional},
		{&found.Exposure, s.Exposure, "data.exposure", s.Optional}, {&found.Censored, s.Censored, "data.censored", s.AllKnown}, {&found.Part, s.Part, "split", false}} {
		*one.at = -1
		if one.name == "" || one.optional && !slices.Contains(names, one.name) {
			continue
		}
		i, err := find(one.name, one.field)
		if err != nil && s.AllKnown && one.at == &found.Target && err.Err == ErrNoColumn {
			err.Remedy, err.Field = "it is the target of the model, whose values are needed here: add it to the table, whose columns are "+strings.Join(names, ", "), ""
		}
		if err != nil {
			return Positions{}, err
		}
		*one.at = i
	}
	return found, nil
}

// unneeded reports whether a table may lack the columns of a mode.
func (s Schema) unneeded(mode int) bool { return s.Unneeded != nil && s.Unneeded[mode] }

// needed completes the error about a column of a mode that a table for a model does not have:
// it names all that are missing, and what the model has them for.
func (s Schema) needed(err *InputError, names []string) *InputError {
	if !s.Optional && !s.AllKnown || err.Err != ErrNoColumn {
		return err
	}
	var missing, uses []string
	covariates := true // whether all that are missing are
	for k, m := range s.Modes {
		for _, name := range m.Columns {
			if slices.Contains(names, name) || slices.Contains(missing, name) || s.unneeded(k) {
				continue
			}
			use := "mode " + m.Name
			if m.Covariate() {
				use = "a covariate"
			}
			covariates = covariates && m.Covariate()
			missing, uses = append(missing, name), append(uses, fmt.Sprintf("%s (%s)", fieldtext.QuoteColumn(name), use))
		}
	}
	it := "it"
	if len(missing) > 1 {
		it = "them"
	}
	err.Remedy = fmt.Sprintf("the model was fitted with %s: add %s to the table, whose columns are %s", strings.Join(uses, ", "), it, strings.Join(names, ", "))
	if covariates {
		err.Remedy += fmt.Sprintf(", or fit a model without %s: data.covariates names others, or none", it)
	}
	return err
}
