package sideinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// JoinOwn makes side information of the ids themselves. A column is one of those
// the mode is made of (@year of time=year+month), the id as a whole (by the mode's
// name), or a calendar function of an id that is a date (@month, @weekday).
func JoinOwn(spec Spec, mode dataset.Mode, ids []string) (*Joined, error) {
	if len(spec.Columns) == 0 {
		panic("sideinfo: own columns must be named")
	}
	frame := &dataset.Frame{}
	for _, c := range spec.Columns {
		read, err := ownColumn(c.Name, mode)
		if err != nil {
			return nil, err
		}
		column := make([]string, len(ids))
		for i, id := range ids {
			if column[i], err = read(id); err != nil {
				return nil, err
			}
		}
		frame.Names = append(frame.Names, c.Name)
		frame.Columns = append(frame.Columns, column)
	}
	return &Joined{Spec: spec, Mode: mode, IDs: ids, Rows: frame, Has: slices.Repeat([]bool{true}, len(ids)),
		Report: Report{Entities: len(ids), Matched: len(ids)}}, nil
}

// ownColumn returns the function that takes a column out of an id.
func ownColumn(name string, mode dataset.Mode) (func(id string) (string, error), error) {
	part := slices.Index(mode.Columns, name)
	switch {
	case mode.Func == "" && part >= 0 && len(mode.Columns) > 1:
		return func(id string) (string, error) {
			parts := strings.Split(id, "-")
			if len(parts) != len(mode.Columns) {
				return "", fmt.Errorf("mode %s, id %q: it cannot be taken apart into %s, for these hold a '-' themselves; give the columns in a side table", mode.Name, id, strings.Join(mode.Columns, ", "))
			}
			return parts[part], nil
		}, nil
	case name == mode.Name, mode.Func == "" && part == 0:
		return func(id string) (string, error) { return id, nil }, nil
	case slices.Contains(dataset.Functions(), name):
		return func(id string) (string, error) {
			t, ok := dataset.Moment(id)
			if !ok {
				return "", fmt.Errorf("mode %s, id %q: this is not a date, which @%s needs", mode.Name, id, name)
			}
			text, _ := dataset.Calendar(name, t)
			return text, nil
		}, nil
	}
	choices := []string{mode.Name}
	if mode.Func == "" {
		choices = append(slices.Clone(mode.Columns), mode.Name)
	}
	choices = slices.Compact(choices)
	return nil, fmt.Errorf("mode %s has no column %q of its own%s; choose from %s or, where ids are dates, %s", mode.Name, name,
		suggest.Hint(name, append(slices.Clone(choices), dataset.Functions()...)), strings.Join(choices, ", "), strings.Join(dataset.Functions(), ", "))
}
