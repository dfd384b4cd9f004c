package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// Limits of the side rows that a model keeps for ids that are not in the data.
const (
	maxKept        = 1_000_000 // ids per mode
	alwaysKept     = 10_000
	keptTimesKnown = 10      // times the number of ids in the data, if above alwaysKept
	maxKeptValues  = 1 << 28 // numbers per mode, 1 GiB
)

// KeepSideRows returns a model that also contains the ids of the side tables that do
// not occur in the data, so that they can be predicted without the tables. extra
// holds these rows by mode, nil for none. The returned reports are those given,
// with the number of rows that are kept and notices about the others. A failure
// leaves the model as it is and is described by the returned warning.
func (m *Model) KeepSideRows(b backend.Backend, extra []*sideinfo.Joined, reports []SideReport) (kept *Model, updated []SideReport, warning string) {
	x := m.extend()
	updated = slices.Clone(reports)
	for i := range updated {
		report := &updated[i]
		at := slices.Index(m.spec.ModeNames(), report.Mode)
		if extra[at] == nil || !m.informed[at] && m.groupsOf(at) == nil || m.spec.Side.PlaceboOf(report.Mode) != "" {
			continue
		}
		n, notices, err := x.keep(at, extra[at])
		if err != nil {
			notices = append(notices, "rows of ids not in the data are not kept for prediction: "+err.Error())
		}
		report.Kept, report.Notices = n, append(report.Notices, notices...)
	}
	if err := x.computeSlices(b); err != nil {
		for i := range updated {
			updated[i].Kept = 0
		}
		return m, updated, "the side rows of ids not in the data are not kept for prediction: " + err.Error()
	}
	return &x.Model, updated, ""
}

// keep adds the rows of ids that are not in the data to a mode. They are sorted by
// id, so that the order of the table does not matter.
func (x *extension) keep(at int, extra *sideinfo.Joined) (kept int, notices []string, err error) {
	rows := make([]int32, min(len(extra.IDs), x.keepLimit(at)))
	for i := range rows {
		rows[i] = int32(i)
	}
	if len(rows) < len(extra.IDs) {
		notices = append(notices, fmt.Sprintf("of %d rows of ids not in the data the first %d are kept for prediction; pass the side table again to predict the others", len(extra.IDs), len(rows)))
	}
	slices.SortFunc(rows, func(a, b int32) int { return strings.Compare(extra.IDs[a], extra.IDs[b]) })
	extra = extra.Select(rows)
	if x.side[at] == nil {
		return len(extra.IDs), notices, x.addRows(at, extra, nil, nil)
	}
	encoder := x.side[at].Encoder
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
		notices = append(notices, fmt.Sprintf("%s of ids not in the data cannot be kept for prediction because of values such as: %v", plural.Count(len(faults), "row"), example))
		extra = extra.Select(good)
		if features, err = encoder.Encode(extra.Rows); err != nil {
			return 0, notices, err
		}
	}
	if len(extra.IDs) == 0 {
		return 0, notices, nil
	}
	if err := x.addIDs(at, extra, features); err != nil {
		return 0, notices, err
	}
	return len(extra.IDs), notices, nil
}

// keepLimit returns how many ids without training rows a mode may receive.
func (m *Model) keepLimit(at int) int {
	perID := 1
	if m.side[at] != nil {
		perID = m.side[at].Operator.Columns()
	}
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			if c.Map != nil && len(c.Modes) == 1 && c.Modes[0] == m.modes[at].Name {
				perID += c.Slices.Slice()
			}
		}
	}
	return min(maxKept, max(alwaysKept, keptTimesKnown*m.dicts[at].Len()), maxKeptValues/perID)
}
