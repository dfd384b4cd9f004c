package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// An UnknownTableError reports a table of which the model knows nothing: no row has an
// id in any mode that it has weights or side information for.
type UnknownTableError struct {
	Rows     int
	Problems []string // by mode: its ids beside those of the model
}

func (e *UnknownTableError) Error() string {
	return fmt.Sprintf("no id of the %s is in the training data, so every row would get the same average: %s", plural.Count(e.Rows, "row"), strings.Join(e.Problems, "; "))
}

// mostly is the share of rows with unknown ids above which a mode is warned about.
const mostly = 0.5

// knowsNothing returns an *UnknownTableError if no row has a known id in any mode that
// the terms use.
func (m *Model) knowsNothing(sum Summary) error {
	var problems []string
	for mode := range m.modes {
		switch {
		case m.trained[mode] == nil: // no term uses it
		case sum.Unseen[mode] < sum.Rows:
			return nil
		default:
			problems = append(problems, m.unknownText(mode, sum))
		}
	}
	if sum.Rows == 0 || len(problems) == 0 {
		return nil
	}
	return &UnknownTableError{sum.Rows, problems}
}

// tableWarnings returns what a user should know before using the predictions: modes
// whose ids the model mostly does not know, and periods that it cannot tell apart.
func (m *Model) tableWarnings(sum Summary) []string {
	warnings := DecodedWarning(sum.decoded)
	if first := sum.examples[len(m.modes)+1]; sum.NoID > 0 {
		warnings = append(warnings, NoIDWarning(sum.NoID, fmt.Sprintf("data row %d, column %s", first[0].row+1, first[0].id)))
	}
	if stray := sum.exampleIDs(len(m.modes)); len(stray) > 0 {
		warnings = append(warnings, fmt.Sprintf("mode %s has the id %s: %s; the row has a prediction, but it is not that of the period", m.modes[m.series.Time].Name, stray[0], m.series.Line.WhyNone(stray[0])))
	}
	for mode := range m.modes {
		unknown := sum.Unseen[mode] - sum.missing[mode]
		switch ids := sum.exampleIDs(mode); {
		case m.trained[mode] == nil || sum.Unseen[mode] == 0:
		case m.UsesLags() && m.future(mode, ids):
		case m.future(mode, ids):
			who, _, _ := ofRows(unknown, sum.Rows)
			warnings = append(warnings, fmt.Sprintf("%s: %s", who, m.SameFuture(mode)))
		case float64(sum.Unseen[mode]) > mostly*float64(sum.Rows):
			warnings = append(warnings, m.unknownText(mode, sum))
		default:
			if hint := m.idHint(mode, ids); hint != "" {
				who, have, _ := ofRows(unknown, sum.Rows)
				warnings = append(warnings, fmt.Sprintf("mode %s: %s %s an unknown id: %s", m.modes[mode].Name, who, have, hint))
			}
		}
	}
	return warnings
}

// DecodedWarning tells of lines that are not UTF-8; nil without any.
func DecodedWarning(lines int) []string {
	if lines == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s not UTF-8 and read as Windows-1252 (Latin-1); if letters are wrong, convert the table, as in iconv -f ENCODING -t UTF-8", plural.Count(lines, "line")+map[bool]string{true: " is", false: " are"}[lines == 1])}
}

// ReadWarnings tells of the rows of a table that were left out or changed when it was read.
func ReadWarnings(t *dataset.Table) []string {
	warnings := DecodedWarning(t.Decoded)
	if n := t.Counts.NoID; n > 0 {
		warnings = append(warnings, NoIDWarning(n, t.NoID))
	}
	return warnings
}

// NoIDWarning tells of rows that belong to no cell, such as those of totals.
func NoIDWarning(rows int, first string) string {
	return fmt.Sprintf("%s left out, because an id is empty; the first is %s", plural.Count(rows, "row"), first)
}

// UsesLags reports whether a term has a lag of the target, which differs between future
// periods.
func (m *Model) UsesLags() bool {
	for mode := range m.modes {
		if m.modes[mode].Lag() > 0 && m.UsesMode(mode) {
			return true
		}
	}
	return false
}

// SameFuture says that periods of a mode after the last one in training cannot be told
// apart.
func (m *Model) SameFuture(mode int) string {
	name := m.modes[mode].Name
	return fmt.Sprintf("every %s after %s gets the same prediction in the same cell of the other modes, that of an average %s, because no term of the model distinguishes future periods; "+
		"fit it with a series term along %s, which automatic terms have with a split by time, or with side information of %s that is known in advance, such as columns computed from its ids, in side.tables", name, m.lastPeriod(mode), name, name, name)
}

// ofRows counts rows of a table and has the verbs that follow.
func ofRows(n, rows int) (who, have, are string) {
	switch {
	case rows == 1:
		return "the only row", "has", "is"
	case n == 1:
		return fmt.Sprintf("1 of %d rows", rows), "has", "is"
	case n == rows:
		return fmt.Sprintf("all %d rows", rows), "have", "are"
	}
	return fmt.Sprintf("%d of %d rows", n, rows), "have", "are"
}

// unknownText shows the unknown ids of a mode beside those of the model.
func (m *Model) unknownText(mode int, sum Summary) string {
	name, ids := m.modes[mode].Name, sum.exampleIDs(mode)
	if who, have, _ := ofRows(sum.Unseen[mode], sum.Rows); len(ids) == 0 {
		return fmt.Sprintf("mode %s: %s %s no id", name, who, have)
	}
	who, have, are := ofRows(sum.Unseen[mode]-sum.missing[mode], sum.Rows)
	none := ""
	if n := sum.missing[mode]; n > 0 {
		none = fmt.Sprintf(" (and %s none)", plural.Count(n, "row")+map[bool]string{true: " has", false: " have"}[n == 1])
	}
	text := fmt.Sprintf("mode %s: %s %s an id that is not in the training data%s and %s predicted as an average %s; the table has %s, the model %s", name, who, have, none, are, name, sideinfo.Examples(ids), sideinfo.Examples(m.trainedIDs(mode)))
	if hint := m.idHint(mode, ids); hint != "" {
		text += "; " + hint
	}
	return text
}

// trainedIDs returns the ids of a mode that have training rows.
func (m *Model) trainedIDs(mode int) []string {
	var ids []string
	for code, trained := range m.trained[mode] {
		if trained {
			ids = append(ids, m.dicts[mode].ID(int32(code)))
		}
	}
	return ids
}

// lastPeriod returns the last id of a mode that has training rows.
func (m *Model) lastPeriod(mode int) string {
	ids := m.trainedIDs(mode)
	order := m.modes[mode].Order(ids)
	return ids[order[len(order)-1]]
}

// future reports whether all ids are periods after those of the training data.
func (m *Model) future(mode int, ids []string) bool {
	trained := m.trainedIDs(mode)
	if len(ids) == 0 || len(trained) == 0 || !m.modes[mode].IsTime(trained) {
		return false
	}
	c, err := m.modes[mode].Chronology(slices.Concat(trained, ids))
	if err != nil || c.Note != "" {
		return false
	}
	return !slices.ContainsFunc(c.Order[:len(trained)], func(code int32) bool { return int(code) >= len(trained) })
}

// UsesMode reports whether a term uses the mode, or points that it forms with others.
func (m *Model) UsesMode(mode int) bool {
	name := m.modes[mode].Name
	for at, one := range m.modes {
		if m.trained[at] != nil && (at == mode || one.Joint() && slices.Contains(one.Columns, name)) {
			return true
		}
	}
	return false
}

// IsTime reports whether the ids of a mode are periods with an order in time.
func (m *Model) IsTime(mode int) bool { return m.modes[mode].IsTime(m.trainedIDs(mode)) }

// idHint says how the ids of a table differ from those of the model if they mean the
// same: another format of dates, or another spelling.
func (m *Model) idHint(mode int, ids []string) string {
	trained := m.trainedIDs(mode)
	ours, theirs := dataset.DateFormats(trained), dataset.DateFormats(ids)
	if len(ours) > 0 && len(theirs) > 0 && !slices.ContainsFunc(theirs, func(f string) bool { return slices.Contains(ours, f) }) {
		return fmt.Sprintf("the dates of the table are written as %s, those of the model as %s; write them in the same way", strings.Join(theirs, " or "), strings.Join(ours, " or "))
	}
	if difference := suggest.Spelling(ids, trained); difference != "" {
		return fmt.Sprintf("they are ids of the model %s; write them in the same way", difference)
	}
	return ""
}

// PeriodProblem says why the id of a cell in the mode of time is not a period as the model
// writes them. It is "" for a period, and for a model without series.
func (m *Model) PeriodProblem(cell Cell) string {
	if m.series == nil {
		return ""
	}
	id, given := cell[m.modes[m.series.Time].Name]
	if !given {
		return ""
	}
	if _, ok := m.series.Line.Step(id); ok {
		return ""
	}
	mode := m.series.Time
	if !m.series.Line.Regular() && m.Origin(mode, m.Code(mode, id)) == FromSide {
		return "" // its order is unknown, but it has a side row
	}
	text := fmt.Sprintf("mode %s: %q is not a period as the model writes them, such as %q, so the prediction is not that of a period", m.modes[mode].Name, id, m.lastPeriod(mode))
	if hint := m.idHint(mode, []string{id}); hint != "" {
		text += "; " + hint
	}
	return text
}
