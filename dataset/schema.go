package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// Schema says what the columns of a table mean.
type Schema struct {
	Target string // column of the values
	Weight string // column of the weights, or ""
	Modes  []Mode
	Part   string // column that holds train, valid or test, or ""

	// Duplicates says what to do with a cell seen twice: "error" (or ""), "sum" (of
	// targets and of weights), "mean" (weighted; weights are summed) or "last".
	Duplicates string

	// Absent lists columns that Map refuses a table to have: the output adds them.
	Absent []string
}

// DuplicateRules are the values of Schema.Duplicates.
func DuplicateRules() []string { return []string{"error", "sum", "mean", "last"} }

func (s Schema) check() error {
	if err := checkModes(s.Modes); err != nil {
		return err
	}
	for _, m := range s.Modes {
		if len(m.Columns) == 0 || m.Func != "" && len(m.Columns) != 1 {
			return fmt.Errorf("mode %q has %s; a function takes one", m.Name, count(len(m.Columns), "column"))
		}
		if m.Func != "" {
			if err := checkFunction(m.Func); err != nil {
				return fmt.Errorf("mode %q: %w", m.Name, err)
			}
		}
	}
	if s.Duplicates != "" && !slices.Contains(DuplicateRules(), s.Duplicates) {
		return fmt.Errorf("unknown rule for duplicates %q%s; the rules are %s", s.Duplicates,
			suggest.Hint(s.Duplicates, DuplicateRules()), strings.Join(DuplicateRules(), ", "))
	}
	return nil
}

// wanted lists the columns the schema names.
func (s Schema) wanted() []string {
	var names []string
	for _, m := range s.Modes {
		names = append(names, m.Columns...)
	}
	for _, name := range []string{s.Target, s.Weight, s.Part} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// columns are the places of a schema's columns in one file; -1 where there is none.
type columns struct {
	modes                [][]int
	target, weight, part int
}

func (s Schema) locate(file string, l *layout) (columns, error) {
	var c columns
	for _, name := range s.Absent {
		if slices.Contains(l.names, name) {
			return columns{}, &InputError{File: file, Column: name, Problem: "the table has this column already, and it would be added once more", Remedy: "rename it or drop it"}
		}
	}
	for _, m := range s.Modes {
		var at []int
		for _, name := range m.Columns {
			i, err := l.find(file, name)
			if err != nil {
				if whole := m.source(); slices.Contains(l.names, whole) {
					err.Problem = "the table has no such column"
					err.Remedy = fmt.Sprintf("the column %s is written in quotes in a mode: %s", whole, quoteColumn(whole))
				}
				return columns{}, err
			}
			at = append(at, i)
		}
		c.modes = append(c.modes, at)
	}
	for _, one := range []struct {
		at   *int
		name string
	}{{&c.target, s.Target}, {&c.weight, s.Weight}, {&c.part, s.Part}} {
		*one.at = -1
		if one.name == "" {
			continue
		}
		i, err := l.find(file, one.name)
		if err != nil {
			return columns{}, err
		}
		*one.at = i
	}
	return c, nil
}
