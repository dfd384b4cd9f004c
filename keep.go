package kft

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// How much a model may grow by side rows of ids that are not in the data.
const (
	mostKept       = 1_000_000 // ids a mode
	alwaysKept     = 10_000
	keptTimesKnown = 10      // as many as the data has ids, above alwaysKept
	keptValues     = 1 << 28 // numbers a mode, 1 GiB
)

// keepExtra lets the model know the ids of the side tables that have no row in the
// data, so that they are predicted from their side rows when the table is no longer
// at hand. What cannot be kept is told in the reports; it fails no fit.
func (r *fitting) keepExtra() {
	g := r.model.grow()
	for i := range r.sideReports {
		report := &r.sideReports[i]
		at := slices.Index(r.spec.ModeNames(), report.Mode)
		extra := r.extra[at]
		if extra == nil || !g.informed[at] || r.spec.Side.ReplaceOf(report.Mode) != "" {
			continue
		}
		kept, notices, err := g.keep(at, extra)
		if err != nil {
			notices = append(notices, "rows of ids not in the data are not kept for prediction: "+err.Error())
		}
		report.Kept, report.Notices = kept, append(report.Notices, notices...)
	}
	if err := g.extend(r.engine); err != nil {
		for i := range r.sideReports {
			r.sideReports[i].Kept = 0
		}
		r.warnings = append(r.warnings, "the side rows of ids not in the data are not kept for prediction: "+err.Error())
		return
	}
	*r.model = g.Model
}

// keep gives a mode the rows of a table's other ids. They stand in the order of
// the ids, so that the order of the table does not matter.
func (g *growing) keep(at int, extra *sideinfo.Joined) (kept int, notices []string, err error) {
	rows := make([]int32, min(len(extra.IDs), g.keepLimit(at)))
	for i := range rows {
		rows[i] = int32(i)
	}
	if len(rows) < len(extra.IDs) {
		notices = append(notices, fmt.Sprintf("of %d rows of ids not in the data the first %d are kept for prediction; give the others by --side when they are needed", len(extra.IDs), len(rows)))
	}
	slices.SortFunc(rows, func(a, b int32) int { return strings.Compare(extra.IDs[a], extra.IDs[b]) })
	extra = extra.Select(rows)
	encoder := g.side[at].encoder
	features, faults, err := encoder.EncodeEach(extra.Rows)
	if err != nil {
		return 0, notices, err
	}
	if len(faults) > 0 {
		var good []int32
		var example error
		for i := range extra.IDs {
			if fault := faults[i]; fault == nil {
				good = append(good, int32(i))
			} else if example == nil {
				example = fault
			}
		}
		notices = append(notices, fmt.Sprintf("not kept for prediction: %d of the rows of ids not in the data, for values such as %v", len(faults), example))
		extra = extra.Select(good)
		if features, err = encoder.Encode(extra.Rows); err != nil {
			return 0, notices, err
		}
	}
	if len(extra.IDs) == 0 {
		return 0, notices, nil
	}
	described, lost, err := g.side[at].operator.NewRows(features)
	if err != nil {
		return 0, notices, err
	}
	g.describe(at, extra.IDs, described, lost)
	return len(extra.IDs), notices, nil
}

// keepLimit returns how many ids without training rows a mode may get.
func (m *Model) keepLimit(at int) int {
	each := m.side[at].operator.Columns() // numbers an id
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			if c.Map != nil && len(c.Modes) == 1 && c.Modes[0] == m.modes[at].Name {
				each += c.Slices.Slice()
			}
		}
	}
	return min(mostKept, max(alwaysKept, keptTimesKnown*m.dicts[at].Len()), keptValues/each)
}
