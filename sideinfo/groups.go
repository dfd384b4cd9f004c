package sideinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// MaxGroups is the largest number of groups of a column.
const MaxGroups = 5000

// NoGroup is the group of an id that belongs to none.
const NoGroup = -1

// Groups are the groups of the ids of a mode: for each of some columns of its side
// table, the ids with the same value. It is immutable and may be shared.
type Groups struct {
	Table   Spec // the table without other columns
	Columns []GroupColumn
}

// GroupColumn is a column whose values are groups of ids. A missing value, "", is a
// group like the others.
type GroupColumn struct {
	Name   string
	Levels []string // sorted
	Of     []int32  // by code of the id: the position of its level, or NoGroup
}

// GroupReport describes the groups of a column.
type GroupReport struct {
	Column  string `json:"column"`
	Levels  int    `json:"levels"`
	Missing int    `json:"missing,omitempty"` // ids without a value, including those without a row
}

// WithGroups returns the spec that also reads the named columns, as groups.
func (s Spec) WithGroups(columns []string) Spec {
	if len(s.Columns) == 0 && s.File != "" {
		return s // all columns
	}
	s.Columns = slices.Clone(s.Columns)
	for _, name := range columns {
		if !slices.ContainsFunc(s.Columns, func(c ColumnSpec) bool { return c.Name == name }) {
			s.Columns = append(s.Columns, ColumnSpec{Name: name, Type: Group})
		}
	}
	return s
}

// OnlyGroups reports whether the columns are listed and all of them are groups, so
// that the table gives no side information for a regression.
func (s Spec) OnlyGroups() bool {
	return len(s.Columns) > 0 && !slices.ContainsFunc(s.Columns, func(c ColumnSpec) bool { return c.Type != Group })
}

// FromID reports whether a column can be computed from the ids of a mode.
func FromID(column string, mode dataset.Mode) bool {
	_, err := idColumn(column, mode, true)
	return err == nil
}

// FitGroups returns the groups of the ids of a joined table by the named columns. An
// id without a row belongs to the group of missing values if it has training rows,
// and to no group otherwise. A column that is missing in the table, has too many
// levels, one level, or a level of its own for each id, is an error.
func FitGroups(j *Joined, columns []string, trained func(code int) bool) (*Groups, []GroupReport, error) {
	table := j.Spec
	table.Columns = nil
	if table.Name != "" && table.Value == "" {
		return nil, nil, fielderr.Errorf("terms", "%s.%s: the side table of %s holds labels, of which an id has several, so they are no groups; give a table with one row per %s", j.Mode.Name, columns[0], j.Mode.Name, j.Mode.Name)
	}
	g := &Groups{Table: table}
	var reports []GroupReport
	for _, name := range columns {
		g.Table.Columns = append(g.Table.Columns, ColumnSpec{Name: name, Type: Group})
		at, err := j.Rows.Find(name)
		if err != nil {
			return nil, nil, fielderr.Errorf("terms", "%w", err) // the table is read as a whole
		}
		values := make([]string, len(j.IDs))
		report := GroupReport{Column: name}
		distinct := map[string]int{}
		present := 0
		for i, text := range j.Rows.Columns[at] {
			if !dataset.Missing(text) {
				values[i] = text
				present++
			} else {
				report.Missing++
			}
			if j.Has[i] || trained(i) {
				distinct[values[i]]++
			}
		}
		report.Levels = len(distinct)
		if err := checkLevels(j.Mode.Name, name, len(distinct), present, distinct[""] > 0); err != nil {
			return nil, nil, err
		}
		c := GroupColumn{Name: name}
		for level := range distinct {
			c.Levels = append(c.Levels, level)
		}
		slices.Sort(c.Levels)
		place := c.places()
		c.Of = make([]int32, len(values))
		for i, text := range values {
			c.Of[i] = NoGroup
			if j.Has[i] || trained(i) {
				c.Of[i] = place[text]
			}
		}
		g.Columns, reports = append(g.Columns, c), append(reports, report)
	}
	return g, reports, nil
}

// checkLevels returns an error for levels that are no groups: of that many, present
// ids have one, and missing reports whether missing values are a level too.
func checkLevels(mode, column string, levels, present int, missing bool) error {
	name := mode + "." + column
	own := levels
	if missing {
		own--
	}
	switch {
	case levels > MaxGroups:
		return fielderr.Errorf("terms", "%s has %d levels, and groups are limited to %d; choose a coarser column, or leave it to the regression on side information", name, levels, MaxGroups)
	case levels <= 1:
		return fielderr.Errorf("terms", "%s has the same value for every %s, so it carries no information; choose another column", name, mode)
	case own == present && present > 1:
		return fielderr.Errorf("terms", "%s has another value for every %s (%s), so its groups are the ids; use %s itself, or a coarser column", name, mode, plural.Count(own, "level"), mode)
	}
	return nil
}

// places returns the position of each level.
func (c *GroupColumn) places() map[string]int32 {
	place := make(map[string]int32, len(c.Levels))
	for i, level := range c.Levels {
		place[level] = int32(i)
	}
	return place
}

// Column returns a column, or nil if there is none of that name.
func (g *Groups) Column(name string) *GroupColumn {
	if g == nil {
		return nil
	}
	for i := range g.Columns {
		if g.Columns[i].Name == name {
			return &g.Columns[i]
		}
	}
	return nil
}

// Names returns the names of the columns.
func (g *Groups) Names() []string {
	var names []string
	if g != nil {
		for i := range g.Columns {
			names = append(names, g.Columns[i].Name)
		}
	}
	return names
}

// WithIDs returns the groups of a mode that has n ids, with those of the given codes
// read from rows of a side table, in the order of codes. A negative code is skipped. A
// level that was not there in the fit is no group.
func (g *Groups) WithIDs(n int, codes []int32, rows *dataset.Frame) (*Groups, error) {
	out := &Groups{Table: g.Table, Columns: slices.Clone(g.Columns)}
	for k := range out.Columns {
		c := &out.Columns[k]
		at, err := rows.Find(c.Name)
		if err != nil {
			return nil, tableError(err)
		}
		c.Of = slices.Clone(c.Of)
		for len(c.Of) < n {
			c.Of = append(c.Of, NoGroup)
		}
		place := c.places()
		for i, code := range codes {
			if code < 0 {
				continue
			}
			text := rows.Columns[at][i]
			if dataset.Missing(text) {
				text = ""
			}
			level, known := place[text]
			if !known && g.Table.FromIDs() { // the month 05 of 2016-05, where the fit had 2016-5, and the other way round
				number := strings.TrimPrefix(text, "0")
				if level, known = place[number]; !known {
					level, known = place["0"+number]
				}
			}
			if c.Of[code] = NoGroup; known {
				c.Of[code] = level
			}
		}
	}
	return out, nil
}

// WithoutRows returns the groups of a mode that has n ids, of which the new ones have no
// side row and belong to no group.
func (g *Groups) WithoutRows(n int) *Groups {
	out := &Groups{Table: g.Table, Columns: slices.Clone(g.Columns)}
	for k := range out.Columns {
		c := &out.Columns[k]
		c.Of = slices.Concat(c.Of, slices.Repeat([]int32{NoGroup}, n-len(c.Of)))
	}
	return out
}

// SpecFor returns the spec to read a table of new entities: with the file and the key
// of given, and the columns of the groups.
func (g *Groups) SpecFor(given Spec) (Spec, error) {
	s := g.Table
	if given.FromIDs() != s.FromIDs() {
		return Spec{}, fielderr.Errorf("side.tables", "the groups of mode %s were read from %s when the model was fitted; give a table of the same kind", s.Mode, s)
	}
	s.File = given.File
	if len(given.Key) > 0 {
		s.Key = given.Key
	}
	if given.Name != "" {
		s.Name, s.Value = given.Name, given.Value
	}
	return s, nil
}

// Check returns an error unless the groups are those of a mode with n ids.
func (g *Groups) Check(n int) error {
	if len(g.Columns) == 0 {
		return fmt.Errorf("there is no column")
	}
	for _, c := range g.Columns {
		for i, level := range c.Levels {
			if i > 0 && c.Levels[i-1] >= level {
				return fmt.Errorf("column %q: its levels are not sorted", c.Name)
			}
		}
		if len(c.Of) != n {
			return fmt.Errorf("column %q has %d groups for %d ids", c.Name, len(c.Of), n)
		}
		for _, group := range c.Of {
			if group < NoGroup || int(group) >= len(c.Levels) {
				return fmt.Errorf("column %q has the group %d, but %d levels", c.Name, group, len(c.Levels))
			}
		}
	}
	return nil
}
