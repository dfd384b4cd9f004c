package operators

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// groupColumns returns the columns of side tables whose groups terms use, by mode.
func (s *Set) groupColumns() map[string][]string {
	columns := map[string][]string{}
	for _, g := range s.in.Spec.Groups() {
		columns[g.Mode] = append(columns[g.Mode], g.Column)
	}
	return columns
}

// withIDGroups adds tables of groups that are computed from the ids, for modes without
// a table.
func withIDGroups(tables []sideinfo.Spec, modes []string, columns map[string][]string) []sideinfo.Spec {
	tables = slices.Clone(tables)
	for _, mode := range modes {
		if len(columns[mode]) > 0 && !slices.ContainsFunc(tables, func(t sideinfo.Spec) bool { return t.Mode == mode }) {
			tables = append(tables, sideinfo.Spec{Mode: mode}.WithGroups(columns[mode]))
		}
	}
	return tables
}

// groupsOf returns the groups of the ids of mode at. Every id with training rows
// belongs to one, since each training row needs weights.
func (s *Set) groupsOf(joined *sideinfo.Joined, at int, columns []string) (*sideinfo.Groups, []sideinfo.GroupReport, error) {
	rows := counts(s.in.Codes(dataset.Train)[at], len(joined.IDs))
	return sideinfo.FitGroups(joined, columns, func(code int) bool { return rows[code] > 0 })
}

// unusedGroups warns about columns of the type group that no term uses.
func (s *Set) unusedGroups() (warnings []string) {
	tables, err := s.in.Spec.SideTables()
	if err != nil {
		return nil // reported before
	}
	used := s.groupColumns()
	for _, t := range tables {
		for _, c := range t.Columns {
			if c.Type == sideinfo.Group && !slices.Contains(used[t.Mode], c.Name) {
				warnings = append(warnings, fmt.Sprintf("the column %s of the side table of %s has no effect: its type is group, and no term has %s.%s", c.Name, t.Mode, t.Mode, c.Name))
			}
		}
	}
	return warnings
}
