package explain

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A Change gives the id of a mode another value in a column of its side table, or a
// covariate another value.
type Change struct {
	Mode   string `json:"mode"`
	Column string `json:"column"` // "" for a covariate
	Value  string `json:"value"`  // "" is missing
}

// A Changed is a change with the value before it.
type Changed struct {
	Change
	Before string `json:"before"`
	// New are the levels of the value that no id of the side table has: they are predicted
	// as a new level, or as if they were not there.
	New []string `json:"new,omitempty"`
}

// ParseChange parses a change such as item.price=12.5, or promo=1 for a covariate. The
// modes are those of the model.
func ParseChange(text string, all []dataset.Mode) (Change, error) {
	modes := make([]string, len(all))
	for i, m := range all {
		modes[i] = m.Name
	}
	name, value, ok := strings.Cut(text, "=")
	mode, column := spec.CutGroup(strings.TrimSpace(name), modes)
	if ok && mode >= 0 && column == "" && all[mode].Covariate() && !all[mode].Computed() {
		return Change{Mode: modes[mode], Value: strings.TrimSpace(value)}, nil
	}
	if !ok || mode >= 0 && column == "" {
		return Change{}, &ChangeError{text, "it is not of the form MODE.COLUMN=VALUE, as in item.price=12.5"}
	}
	if mode < 0 {
		given, _, _ := strings.Cut(name, ".")
		return Change{}, &ChangeError{text, fmt.Sprintf("the model has no mode %q%s; its modes are %s", given, suggest.Hint(given, modes), strings.Join(modes, ", "))}
	}
	return Change{modes[mode], column, strings.TrimSpace(value)}, nil
}

// A ChangeError reports a change of side information that is not possible.
type ChangeError struct {
	Change  string // as in item.price=12.5
	Problem string
}

func (e *ChangeError) Error() string { return fmt.Sprintf("%s: %s", e.Change, e.Problem) }

func (c Change) String() string {
	if c.Column == "" {
		return c.Mode + "=" + c.Value
	}
	return fmt.Sprintf("%s.%s=%s", c.Mode, c.Column, c.Value)
}

func (c Change) errorf(format string, args ...any) error {
	return &ChangeError{c.String(), fmt.Sprintf(format, args...)}
}

// withCovariates applies the changes of covariates: it returns the model and the row of
// the changed cell, the moments of the field there, what was changed, and the other
// changes.
func (x *Explainer) withCovariates(m *model.Model, e *Explanation, row model.Rows, z tt.Moments, changes []Change) (*model.Model, model.Rows, tt.Moments, []Changed, []Change, error) {
	cell := maps.Clone(e.Cell)
	var changed []Changed
	var rest []Change
	for _, c := range changes {
		if c.Column != "" {
			rest = append(rest, c)
			continue
		}
		changed = append(changed, Changed{Change: c, Before: cell[c.Mode]})
		cell[c.Mode] = c.Value
	}
	if len(changed) == 0 {
		return m, row, z, nil, changes, nil
	}
	m, row, err := x.m.Resolve([]model.Cell{cell})
	if err != nil {
		return nil, row, z, nil, nil, changed[0].errorf("%v", err)
	}
	for _, c := range changed {
		mode := slices.Index(m.Spec().ModeNames(), c.Mode)
		// A number whose curve no term uses has no code; points are formed from it all the same.
		if mode < 0 || row.Codes[mode][0] < 0 && !(m.Modes()[mode].Numeric() && m.Origin(mode, row.Codes[mode][0]) == model.FromTraining) {
			return nil, row, z, nil, nil, c.errorf("no training row has this value of %s, nor a number to compare it with; use one that occurs", c.Mode)
		}
	}
	x.mutex.Lock()
	z = m.Moments(x.engine, row.Codes)
	x.mutex.Unlock()
	return m, row, z, changed, rest, nil
}

// whatIf predicts the cell of an explanation with other side information and covariates.
// z are the moments of the field at the cell.
func (x *Explainer) whatIf(m *model.Model, e *Explanation, row model.Rows, z tt.Moments, changes []Change) (*WhatIf, error) {
	for i, c := range changes {
		if slices.ContainsFunc(changes[:i], func(d Change) bool { return d.Mode == c.Mode && d.Column == c.Column }) {
			return nil, c.errorf("%s is changed twice; give one value", strings.TrimSuffix(c.Mode+"."+c.Column, "."))
		}
	}
	overrides, out := map[int]override{}, &WhatIf{}
	all := changes
	var err error
	if m, row, z, out.Changes, changes, err = x.withCovariates(m, e, row, z, changes); err != nil {
		return nil, err
	}
	names := m.Spec().ModeNames()
	for mode, name := range names {
		var own []Change
		for _, c := range changes {
			if c.Mode == name {
				own = append(own, c)
			}
		}
		if len(own) == 0 {
			continue
		}
		o, changed, err := x.override(m, mode, entity.CodeOf(row.Codes[mode][0]), own)
		if err != nil {
			return nil, err
		}
		overrides[mode] = o
		out.Changes = append(out.Changes, changed...)
	}
	for _, c := range changes {
		if !slices.Contains(names, c.Mode) {
			return nil, c.errorf("the model has no mode %q%s; its modes are %s", c.Mode, suggest.Hint(c.Mode, names), strings.Join(names, ", "))
		}
	}
	scale := m.Scale()
	out.Level = e.Offset
	for _, g := range groupsOf(m.Field()) {
		out.Level += scale.Spread * x.game(m, g, row.Codes, overrides).all()
	}
	for k := range m.Field().Series {
		out.Level += x.seriesTerm(m, k, row.Codes, nil).Value
	}
	z.Mean = []float32{float32((out.Level - exposureOffset(m, row) - scale.Center) / scale.Spread)}
	if err := m.CheckMoments(z, row, 0, 0); err != nil {
		return nil, all[0].errorf("the prediction is not finite")
	}
	out.Outcome = outcomeOf(m.Distribution(z, row, 0))
	for _, v := range []float64{out.Prediction, out.Median, out.SD, out.Low, out.High} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, all[0].errorf("the prediction is not finite")
		}
	}
	return out, nil
}

// override returns the side information of an id with changes.
func (x *Explainer) override(m *model.Model, mode int, code int32, changes []Change) (override, []Changed, error) {
	side, groups := m.SideOf(mode), m.GroupsOf(mode)
	var out override
	var changed []Changed
	var regressed []Change
	for _, c := range changes {
		before := Changed{Change: c}
		group := groups.Column(c.Column)
		if group != nil {
			level := int32(slices.Index(group.Levels, c.Value))
			if level < 0 {
				return out, nil, c.errorf("no %s of the training data has this value%s; use one that occurs", c.Mode, suggest.Hint(c.Value, group.Levels))
			}
			if out.groups == nil {
				out.groups = map[string]int32{}
			}
			out.groups[c.Column] = level
			if code >= 0 && group.Of[code] != sideinfo.NoGroup {
				before.Before = group.Levels[group.Of[code]]
			}
		}
		if column, err := x.encoded(m, mode, c, group != nil); err != nil {
			return out, nil, err
		} else if column {
			regressed = append(regressed, c)
			before.Before = side.Table.Column(c.Column).Value(code)
			before.New = newLevels(side, c)
		}
		changed = append(changed, before)
	}
	if regressed == nil {
		return out, changed, nil
	}
	frame := side.Table.Frame([]int32{code})
	for _, c := range regressed {
		frame.Columns[slices.Index(frame.Names, c.Column)][0] = c.Value
	}
	row, err := x.operatorRows(side, frame)
	if err != nil {
		return out, nil, regressed[0].errorf("%v", err)
	}
	out.row = row
	return out, changed, nil
}

// newLevels returns the levels of a changed value that no id has.
func newLevels(side *model.Side, c Change) []string {
	levels := side.Encoder.Levels(c.Column, c.Value)
	for _, text := range side.Table.Column(c.Column).Levels {
		known := side.Encoder.Levels(c.Column, text)
		levels = slices.DeleteFunc(levels, func(level string) bool { return slices.Contains(known, level) })
	}
	return levels
}

// encoded reports whether the regressions of the model use a column, or returns why it
// cannot be changed.
func (x *Explainer) encoded(m *model.Model, mode int, c Change, grouped bool) (bool, error) {
	side := m.SideOf(mode)
	if side == nil || !m.Informed(mode) {
		if grouped {
			return false, nil
		}
		return false, c.errorf("the model does not use side information of mode %s", c.Mode)
	}
	table := side.Encoder.Spec()
	used := false
	for _, origin := range side.Encoder.Origins() {
		used = used || origin == c.Column
	}
	switch {
	case !used && grouped:
		return false, nil
	case !used:
		return false, c.errorf("the side information of mode %s has no column %q%s; its columns are %s", c.Mode, c.Column, suggest.Hint(c.Column, side.Table.Names()), strings.Join(side.Table.Names(), ", "))
	case m.Spec().Side.PlaceboOf(c.Mode) != "":
		return false, c.errorf("the side information of mode %s was replaced by %s in the fit (side.placebo)", c.Mode, m.Spec().Side.PlaceboOf(c.Mode))
	case table.FromIDs(), strings.HasPrefix(c.Column, "@"):
		return false, c.errorf("the column is computed from the ids of mode %s; ask for another id instead", c.Mode)
	case side.Table == nil:
		return false, c.errorf("the model file does not have the side rows of mode %s, because they are too large or it was written by an earlier version", c.Mode)
	}
	return true, nil
}

// operatorRows returns the rows of the operator for the rows of a frame.
func (x *Explainer) operatorRows(side *model.Side, frame *dataset.Frame) ([]float32, error) {
	features, err := side.Encoder.Encode(frame)
	if err != nil {
		return nil, err
	}
	x.mutex.Lock()
	defer x.mutex.Unlock()
	rows, _, err := side.Operator.NewRows(features)
	return rows, err
}
