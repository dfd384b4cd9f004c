package sideinfo

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// JoinIDColumns computes side information from the ids of a mode. A column is one of
// the columns of which the mode is made (@year of time=year+month), the whole id (the
// name of the mode), or a calendar function of an id that is a date or a period (@month,
// @weekday). A part of the calendar is meant where the only column of a mode, or a mode of
// which groups are made, has its name and dates as ids: month of time=month with 2016-12.
func JoinIDColumns(spec Spec, mode dataset.Mode, ids []string) (*Joined, error) {
	if len(spec.Columns) == 0 {
		panic("sideinfo: columns computed from ids must be named")
	}
	frame := &dataset.Frame{}
	points := pointsOf(mode, ids)
	for _, c := range spec.Columns {
		if part := slices.Index(mode.Columns, c.Name); points != nil && part >= 0 {
			frame.Names, frame.Columns = append(frame.Names, c.Name), append(frame.Columns, points[part])
			continue
		}
		read, err := idColumn(c.Name, mode, c.Type == Group)
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

// pointsOf returns the numbers of points, one column per covariate that forms them, "" for a missing one; nil for another mode.
func pointsOf(mode dataset.Mode, ids []string) [][]string {
	if !mode.Joint() {
		return nil
	}
	columns := make([][]string, len(mode.Columns))
	for part := range columns {
		columns[part] = make([]string, len(ids))
	}
	for i, id := range ids {
		for part, number := range mode.Numbers(id) {
			if number != dataset.MissingID {
				columns[part][i] = number
			}
		}
	}
	return columns
}

// calendarNames are the parts of a date that may be the name of a column of dates.
var calendarNames = []string{"quarter", "month", "week", "weekday", "hour"}

// idColumn returns the function that computes a column, perhaps of groups, from an id.
func idColumn(name string, mode dataset.Mode, group bool) (func(id string) (string, error), error) {
	part := slices.Index(mode.Columns, name)
	switch {
	case mode.Numeric() && (name == mode.Name || name == dataset.NoRowID):
		// A numeric covariate has its number, which a cell without a row lacks, and an
		// indicator of such cells.
		return func(id string) (string, error) {
			switch {
			case name == mode.Name && id == dataset.NoRowID:
				return "", nil
			case name == mode.Name:
				return id, nil
			case id == dataset.NoRowID:
				return "1", nil
			}
			return "0", nil
		}, nil
	case mode.Joint() && part >= 0:
		return func(id string) (string, error) { return pointsOf(mode, []string{id})[part][0], nil }, nil
	case mode.Func == "" && part >= 0 && len(mode.Columns) > 1 && !mode.HasClock():
		return func(id string) (string, error) {
			parts := splitID(id, len(mode.Columns))
			if parts == nil {
				return "", fielderr.Errorf("side.tables", "mode %s, id %q: the id cannot be split into %s, because their values contain '-'; give the columns in a side table", mode.Name, id, strings.Join(mode.Columns, ", "))
			}
			return parts[part], nil
		}, nil
	case mode.Func == "" && len(mode.Columns) == 1 && slices.Contains(calendarNames, name) && (group || name != mode.Name) && (name == mode.Name || part == 0):
		return func(id string) (string, error) {
			if t, ok := mode.MomentOfID(id); ok {
				id, _ = dataset.Calendar(name, t)
			}
			return id, nil
		}, nil
	case name == mode.Name, mode.Func == "" && part == 0:
		return func(id string) (string, error) { return id, nil }, nil
	case slices.Contains(dataset.Functions(), name), isDays(name):
		return func(id string) (string, error) {
			t, ok := mode.MomentOfID(id)
			if !ok {
				return "", fielderr.Errorf("side.tables", "mode %s, id %q: the id is not a date, as @%s requires; use other columns", mode.Name, id, name)
			}
			text, _ := dataset.Calendar(name, t)
			return text, nil
		}, nil
	}
	if strings.HasPrefix(name, dataset.DaysPrefix) {
		return nil, fielderr.Errorf("side.tables", "mode %s: @%s has %s", mode.Name, name, BadDays)
	}
	choices := []string{mode.Name}
	if mode.Func == "" {
		choices = append(slices.Clone(mode.Columns), mode.Name)
	}
	choices = slices.Compact(choices)
	return nil, fielderr.Errorf("side.tables", "mode %s: no column @%s can be computed from the ids%s; use %s or, if ids are dates, %s", mode.Name, name,
		suggest.Hint(name, append(slices.Clone(choices), dataset.Functions()...)), strings.Join(choices, ", "), strings.Join(dataset.Functions(), ", "))
}

// splitID splits an id into the values of n columns, which '-' joins; nil if it has other numbers of them. If there are too
// many, a '-' at the start, after another one or in 1e-05 is taken for that of a number, as in 41.6--93.6.
func splitID(id string, n int) []string {
	parts := strings.Split(id, "-")
	if len(parts) == n {
		return parts
	}
	var numbers []string
	for i, text := range parts {
		last := len(numbers) - 1
		switch {
		case i > 0 && parts[i-1] == "" || i > 0 && isMantissa(parts[i-1]):
			numbers[last] += "-" + text
		default:
			numbers = append(numbers, text)
		}
	}
	if len(numbers) != n {
		return nil
	}
	return numbers
}

// isMantissa reports whether a text is a number up to its exponent, as 1.5e is.
func isMantissa(text string) bool {
	mantissa := strings.TrimRight(text, "eE")
	_, err := strconv.ParseFloat(mantissa, 64)
	return err == nil && len(mantissa) == len(text)-1
}

// BadDays says what is wrong with a part of the date that begins as one of days, and what to do.
const BadDays = "a rule that does not exist; write days as 12-25, 09-1mon, 05-lastmon, easter-2 or thanksgiving1, with _ between them"

// isDays reports whether a name is a part of the date that tells some days of the year from others.
func isDays(name string) bool {
	_, known := dataset.Calendar(name, time.Unix(0, 0))
	return known && strings.HasPrefix(name, dataset.DaysPrefix)
}
