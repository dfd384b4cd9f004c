package sideinfo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// Report says how a side table met the entities of its mode and how its columns
// were encoded. Join fills in the first part, Fit the columns.
type Report struct {
	Entities  int            `json:"entities"`   // of the mode
	Matched   int            `json:"matched"`    // entities with a row
	Unmatched int            `json:"unmatched"`  // entities without one
	ExtraRows int            `json:"extra_rows"` // rows whose entity is not in the mode
	Columns   []ColumnReport `json:"columns,omitempty"`
	Notices   []string       `json:"notices,omitempty"`
}

// ColumnReport says how a column was encoded.
type ColumnReport struct {
	Name     string `json:"name"`
	Type     Type   `json:"type"`
	Guessed  bool   `json:"guessed,omitempty"`
	Missing  int    `json:"missing,omitempty"`  // entities without a value, those without a row among them
	Levels   int    `json:"levels,omitempty"`   // of cat and labels: different levels
	Pooled   int    `json:"pooled,omitempty"`   // of those: levels too rare for a column of their own
	Hashed   int    `json:"hashed,omitempty"`   // of those: levels that share columns because there are too many
	Constant bool   `json:"constant,omitempty"` // dropped: all values are missing or alike
	Columns  int    `json:"columns"`            // columns it became
}

// Joined is a side table in the order of a mode's entities.
type Joined struct {
	Spec   Spec
	Mode   dataset.Mode
	IDs    []string
	Rows   *dataset.Frame // row i describes IDs[i]; its fields are empty where there is no row
	Has    []bool         // IDs[i] has a row
	Report Report

	// Extra are the rows of entities that the mode does not have, under their keys in
	// table order; nil where there are none. It has no Extra of its own.
	Extra *Joined
}

// Open reads the side table of a mode and joins it with the mode's ids. Of a
// mode's own columns nothing is read. Relative paths are the process's.
func Open(ctx context.Context, spec Spec, mode dataset.Mode, ids []string, format tableio.Format) (*Joined, error) {
	if spec.Own() {
		return JoinOwn(spec, mode, ids)
	}
	frame, err := tableio.ReadFrame(ctx, tableio.Files(spec.File), format)
	if err != nil {
		return nil, err
	}
	return Join(spec, mode, frame, ids)
}

// Join puts the rows of a side table in the order of a mode's ids. A key that is
// there twice and a table that describes none of the ids are errors; entities
// without a row and rows without an entity are counted. O(rows).
func Join(spec Spec, mode dataset.Mode, frame *dataset.Frame, ids []string) (*Joined, error) {
	all, err := entities(spec, mode, frame, true)
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
	for i, id := range ids {
		rows[i] = -1
		if at, ok := row[id]; ok {
			rows[i], j.Has[i], used[at] = at, true, true
			j.Report.Matched++
		}
	}
	j.Report.Unmatched = j.Report.Entities - j.Report.Matched
	if j.Report.Matched == 0 {
		return nil, &dataset.InputError{File: frame.File, Column: strings.Join(keyOf(spec, mode, frame), "+"),
			Problem: fmt.Sprintf("the side table describes no entity of mode %s: its keys are %s, the mode's ids are %s", mode.Name, examples(all.IDs), examples(ids)),
			Remedy:  fmt.Sprintf("name the column that holds the ids of %s, as in %s=%s[key=COLUMN], or mend the ids", mode.Name, mode.Name, quoteName(frame.File))}
	}
	if 2*j.Report.Matched < j.Report.Entities {
		j.Report.Notices = append(j.Report.Notices, fmt.Sprintf("%s describes %d of the %d entities of mode %s", frame.File, j.Report.Matched, j.Report.Entities, mode.Name))
	}
	j.Rows = all.Rows.Select(rows, allColumns(all.Rows))
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

// Select returns some of the entities, in the order given, without Extra.
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

// Entities returns a side table with its own keys as the ids, in table order: the
// entities of a table of new ones. Of a long table they need not have every name
// that spec asks for, only one of them.
func Entities(spec Spec, mode dataset.Mode, frame *dataset.Frame) (*Joined, error) {
	return entities(spec, mode, frame, false)
}

// entities is Entities; every tells whether a long table must have every name.
func entities(spec Spec, mode dataset.Mode, frame *dataset.Frame, every bool) (*Joined, error) {
	if spec.Own() {
		panic("sideinfo: the mode's own columns have no table")
	}
	key, err := findKey(spec, mode, frame)
	if err != nil {
		return nil, err
	}
	if spec.Name != "" {
		return widen(spec, mode, frame, key, every)
	}
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
		if columns[i], err = frame.Find(name); err != nil {
			return nil, err
		}
	}
	j := &Joined{Spec: spec, Mode: mode}
	var rows []int32
	seen := make(map[string]int32, frame.Len())
	keyless := 0
	for i := range frame.Len() {
		id := keyText(frame, key, i)
		if id == "" {
			keyless++
			continue
		}
		if first, again := seen[id]; again {
			return nil, twice(frame, key, id, int(first), i, "keep one row an entity; a table of several rows an entity is written "+
				quoteName(spec.Mode)+"="+quoteName(frame.File)+"~NAMES~VALUES")
		}
		seen[id] = int32(i)
		rows = append(rows, int32(i))
		j.IDs = append(j.IDs, id)
	}
	if len(rows) == 0 {
		return nil, &dataset.InputError{File: frame.File, Column: strings.Join(keyOf(spec, mode, frame), "+"), Problem: "the key is empty in every row", Remedy: "name another column, as in [key=COLUMN]"}
	}
	j.Rows = frame.Select(rows, columns)
	j.Has = slices.Repeat([]bool{true}, len(rows))
	j.Report = Report{Entities: len(rows), Matched: len(rows), Notices: keylessNotice(frame.File, keyless)}
	return j, nil
}

func keylessNotice(file string, n int) []string {
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d rows without a key were left out", file, n)}
}

// keyOf returns the names of the key columns: those given, else the mode's name
// where a column is called so, else the columns the mode is made of.
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
			if input, ok := err.(*dataset.InputError); ok && len(spec.Key) == 0 {
				input.Problem = fmt.Sprintf("the side table has no column with the ids of mode %s", mode.Name)
				input.Remedy = fmt.Sprintf("name it, as in %s=%s[key=COLUMN]; the columns are %s", quoteName(mode.Name), quoteName(frame.File), strings.Join(frame.Names, ", "))
			}
			return nil, err
		}
		key[i] = c
	}
	return key, nil
}

// keyText returns the id a row describes, made as the ids of modes are; "" where a
// part of it is empty.
func keyText(frame *dataset.Frame, key []int, i int) string {
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

func twice(frame *dataset.Frame, key []int, id string, first, again int, remedy string) error {
	names := make([]string, len(key))
	for p, c := range key {
		names[p] = frame.Names[c]
	}
	problem := "this key was given already"
	if place := frame.Place(first); place != "" {
		problem = fmt.Sprintf("this key was given on %s already", place)
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

// examples shows the first few ids.
func examples(ids []string) string {
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
