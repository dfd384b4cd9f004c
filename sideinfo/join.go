package sideinfo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// Report describes how a side table matches the entities of its mode and how its
// columns were encoded. Join fills in the counts, Fit the columns.
type Report struct {
	Entities  int            `json:"entities"`   // of the mode
	Matched   int            `json:"matched"`    // entities with a row
	Unmatched int            `json:"unmatched"`  // entities without a row
	ExtraRows int            `json:"extra_rows"` // rows whose entity is not in the mode
	Columns   []ColumnReport `json:"columns,omitempty"`
	Notices   []string       `json:"notices,omitempty"`
}

// ColumnReport describes how a column was encoded.
type ColumnReport struct {
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Guessed  bool   `json:"guessed,omitempty"`
	Missing  int    `json:"missing,omitempty"`  // entities without a value, including those without a row
	Levels   int    `json:"levels,omitempty"`   // distinct levels of cat and labels
	Pooled   int    `json:"pooled,omitempty"`   // levels that are too rare for their own column
	Hashed   int    `json:"hashed,omitempty"`   // levels that share columns because there are too many
	Constant bool   `json:"constant,omitempty"` // dropped: all values are missing or equal
	Columns  int    `json:"columns"`            // number of encoded columns
}

// Joined is a side table in the order of the entities of a mode.
type Joined struct {
	Spec   Spec
	Mode   dataset.Mode
	IDs    []string
	Rows   *dataset.Frame // row i describes IDs[i]; its fields are empty if there is no row
	Has    []bool         // Has[i] reports whether IDs[i] has a row
	Report Report

	// Extra holds the rows of entities that are not in the mode, with their keys as
	// ids, in table order. It is nil if there are none. Its own Extra is nil.
	Extra *Joined
}

// Open reads the side table of a mode and joins it with the ids of the mode. It reads
// no file for columns computed from the ids. Relative paths start at the working
// directory.
func Open(ctx context.Context, spec Spec, source tableio.Source, mode dataset.Mode, ids []string, format tableio.Format) (*Joined, error) {
	if spec.FromIDs() {
		return JoinIDColumns(spec, mode, ids)
	}
	frame, err := tableio.ReadFrame(ctx, source, format)
	if err != nil {
		return nil, err
	}
	return Join(spec, mode, frame, ids)
}

// Join puts the rows of a side table in the order of the ids of a mode. A duplicate
// key is an error, and so is a table that describes none of the ids. The report
// counts entities without a row and rows without an entity. O(rows).
func Join(spec Spec, mode dataset.Mode, frame *dataset.Frame, ids []string) (*Joined, error) {
	all, err := tableEntities(spec, mode, frame, true)
	if err != nil {
		return nil, err
	}
	row := make(map[string]int32, len(all.IDs))
	for i, id := range all.IDs {
		row[id] = int32(i)
	}
	j := &Joined{Spec: spec, Mode: mode, IDs: ids, Has: make([]bool, len(ids)), Report: Report{Entities: len(ids), Notices: all.Report.Notices}}
	rows := make([]int32, len(ids))
	used := make([]bool, len(all.IDs))
	whole := map[string]int32{} // by id, of which 12.0 is 12
	for i, id := range all.IDs {
		whole[string(dataset.WholeID([]byte(id)))] = int32(i)
	}
	for i, id := range ids {
		rows[i] = -1
		at, ok := row[id]
		if !ok {
			at, ok = whole[string(dataset.WholeID([]byte(id)))]
		}
		if ok {
			rows[i], j.Has[i], used[at] = at, true, true
			j.Report.Matched++
		}
	}
	j.Report.Unmatched = j.Report.Entities - j.Report.Matched
	if j.Report.Matched == 0 {
		return nil, tableError(&dataset.InputError{File: frame.File, Column: strings.Join(keyOf(spec, mode, frame), "+"),
			Problem: fmt.Sprintf("the side table describes no entity of mode %s: its keys are %s, the ids of the mode are %s", mode.Name, Examples(all.IDs), Examples(ids)),
			Remedy:  fmt.Sprintf("name the column that holds the ids of %s, as in %s=%s[key=COLUMN], or correct the ids", mode.Name, mode.Name, quoteName(frame.File))})
	}
	if 2*j.Report.Matched < j.Report.Entities {
		j.Report.Notices = append(j.Report.Notices, fmt.Sprintf("%s describes %d of the %d entities of mode %s", frame.File, j.Report.Matched, j.Report.Entities, mode.Name))
	}
	j.Rows = all.Rows.Select(rows, allColumns(all.Rows))
	if err := j.describeAll(); err != nil {
		return nil, err
	}
	var extra []int32
	for i, isUsed := range used {
		if !isUsed {
			extra = append(extra, int32(i))
		}
	}
	if j.Report.ExtraRows = len(extra); len(extra) > 0 {
		j.Extra = all.Select(extra)
	}
	return j, nil
}

// Select returns the given entities, in the given order, without Extra.
func (j *Joined) Select(entities []int32) *Joined {
	s := &Joined{Spec: j.Spec, Mode: j.Mode, Rows: j.Rows.Select(entities, allColumns(j.Rows)), Report: Report{Entities: len(entities)}}
	for _, i := range entities {
		s.IDs, s.Has = append(s.IDs, j.IDs[i]), append(s.Has, j.Has[i])
		if j.Has[i] {
			s.Report.Matched++
		}
	}
	s.Report.Unmatched = s.Report.Entities - s.Report.Matched
	return s
}

// TableEntities returns a table of new entities: in table order, with its keys as the
// ids. A long table need not have every name that spec lists, only one of them.
func TableEntities(spec Spec, mode dataset.Mode, frame *dataset.Frame) (*Joined, error) {
	return tableEntities(spec, mode, frame, false)
}

// tableEntities implements TableEntities. every reports whether a long table must
// have every name that spec lists.
func tableEntities(spec Spec, mode dataset.Mode, frame *dataset.Frame, every bool) (*Joined, error) {
	if spec.FromIDs() {
		panic("sideinfo: columns computed from ids have no table")
	}
	key, err := findKey(spec, mode, frame)
	if err != nil {
		return nil, tableError(err)
	}
	var j *Joined
	if spec.Name != "" {
		j, err = widen(spec, mode, frame, key, every)
	} else {
		j, err = wideTable(spec, mode, frame, key)
	}
	if err != nil {
		return nil, tableError(err)
	}
	return j, j.appendIDColumns(false)
}

// tableError adds the path of the specification field to an error about a table.
func tableError(err error) error { return fielderr.Errorf("side.tables", "%w", err) }

// wideTable returns the entities of a table with one row per key, or with several that agree in the
// columns that are named.
func wideTable(spec Spec, mode dataset.Mode, frame *dataset.Frame, key []int) (*Joined, error) {
	names := slices.DeleteFunc(slices.Clone(frame.Names), func(name string) bool {
		return slices.ContainsFunc(key, func(k int) bool { return frame.Names[k] == name })
	})
	if len(spec.Columns) > 0 {
		names = names[:0]
		for _, c := range spec.Columns {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil, &dataset.InputError{File: frame.File, Problem: "the side table has no column besides its key", Remedy: "give a table with columns that describe the entities"}
	}
	columns := make([]int, len(names))
	for i, name := range names {
		var err error
		if columns[i], err = frame.Find(name); err != nil {
			return nil, err
		}
	}
	j := &Joined{Spec: spec, Mode: mode}
	var rows []int32
	seen := make(map[string]int32, frame.Len())
	emptyKeys := 0
	for i := range frame.Len() {
		id := rowID(frame, key, i)
		if id == "" {
			emptyKeys++
			continue
		}
		if first, duplicate := seen[id]; duplicate {
			if len(spec.Columns) > 0 && sameFacts(frame, columns, int(first), i) {
				continue // as in a table of sales that has the city of the store in every row
			}
			return nil, duplicateKey(frame, key, id, int(first), i, "keep one row per entity, or write a table with several rows per entity as "+
				quoteName(spec.Mode)+"="+quoteName(frame.File)+"~NAMES~VALUES")
		}
		seen[id] = int32(i)
		rows = append(rows, int32(i))
		j.IDs = append(j.IDs, id)
	}
	if len(rows) == 0 {
		return nil, &dataset.InputError{File: frame.File, Column: strings.Join(keyOf(spec, mode, frame), "+"), Problem: "the key is empty in every row", Remedy: "name another key column, as in [key=COLUMN]"}
	}
	j.Rows = frame.Select(rows, columns)
	j.Has = slices.Repeat([]bool{true}, len(rows))
	j.Report = Report{Entities: len(rows), Matched: len(rows), Notices: emptyKeyNotice(frame.File, emptyKeys)}
	return j, nil
}

// sameFacts reports whether two rows agree in some columns.
func sameFacts(frame *dataset.Frame, columns []int, a, b int) bool {
	return !slices.ContainsFunc(columns, func(c int) bool { return frame.Columns[c][a] != frame.Columns[c][b] })
}

func emptyKeyNotice(file string, n int) []string {
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: skipped %s without a key", file, plural.Count(n, "row"))}
}

// keyOf returns the names of the key columns: the given ones, else the name of the
// mode if a column has it, else the columns of which the mode is made.
func keyOf(spec Spec, mode dataset.Mode, frame *dataset.Frame) []string {
	switch {
	case len(spec.Key) > 0:
		return spec.Key
	case slices.Contains(frame.Names, mode.Name) || mode.Func != "":
		return []string{mode.Name}
	}
	return mode.Columns
}

func findKey(spec Spec, mode dataset.Mode, frame *dataset.Frame) ([]int, error) {
	names := keyOf(spec, mode, frame)
	key := make([]int, len(names))
	for i, name := range names {
		c, err := frame.Find(name)
		if err != nil {
			var input *dataset.InputError
			if errors.As(err, &input) && len(spec.Key) == 0 {
				input.Problem = fmt.Sprintf("the side table has no column with the ids of mode %s", mode.Name)
				input.Remedy = fmt.Sprintf("name that column, as in %s=%s[key=COLUMN]; the columns are %s", quoteName(mode.Name), quoteName(frame.File), strings.Join(frame.Names, ", "))
			}
			return nil, err
		}
		key[i] = c
	}
	return key, nil
}

// rowID returns the id that a row describes, joined in the same way as the ids of
// modes. It is "" if a part of it is empty.
func rowID(frame *dataset.Frame, key []int, i int) string {
	if len(key) == 1 {
		return frame.Columns[key[0]][i]
	}
	parts := make([]string, len(key))
	for p, c := range key {
		if parts[p] = frame.Columns[c][i]; parts[p] == "" {
			return ""
		}
	}
	return strings.Join(parts, "-")
}

// duplicateKey returns the error for a key that appears again in a later row.
func duplicateKey(frame *dataset.Frame, key []int, id string, first, again int, remedy string) error {
	names := make([]string, len(key))
	for p, c := range key {
		names[p] = frame.Names[c]
	}
	problem := "the key is a duplicate"
	if place := frame.Place(first); place != "" {
		problem = fmt.Sprintf("the key is a duplicate of %s", place)
	}
	return frame.Fault(again, strings.Join(names, "+"), id, problem, remedy)
}

func allColumns(frame *dataset.Frame) []int {
	columns := make([]int, len(frame.Names))
	for c := range columns {
		columns[c] = c
	}
	return columns
}

// Examples lists the first few ids, in quotes.
func Examples(ids []string) string {
	const shown = 3
	var quoted []string
	for _, id := range ids[:min(shown, len(ids))] {
		quoted = append(quoted, fmt.Sprintf("%q", id))
	}
	if len(ids) > shown {
		quoted = append(quoted, "...")
	}
	return strings.Join(quoted, ", ")
}
