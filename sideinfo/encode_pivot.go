package sideinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// widen turns a long table, a row of which holds a key, a name and a value, into a
// table with a row a key and a column a name. A pair without a row is missing.
// Without a column of values it has one column, of labels. O(rows + keys x names).
func widen(spec Spec, mode dataset.Mode, frame *dataset.Frame, key []int) (*Joined, error) {
	nameColumn, err := frame.Find(spec.Name)
	if err != nil {
		return nil, err
	}
	valueColumn := -1
	if spec.Value != "" {
		if valueColumn, err = frame.Find(spec.Value); err != nil {
			return nil, err
		}
	}
	types := map[string]Type{}
	for _, c := range spec.Columns {
		types[c.Name] = c.Type
	}
	var ids, names []string
	idOf, nameOf := map[string]int32{}, map[string]int32{}
	rowIDs, rowNames := make([]int32, frame.Len()), make([]int32, frame.Len())
	keyless := 0
	for i := range frame.Len() {
		id, name := keyText(frame, key, i), frame.Columns[nameColumn][i]
		rowIDs[i] = -1
		if id == "" {
			keyless++
			continue
		}
		if name == "" {
			return nil, &dataset.InputError{File: frame.File, Line: frame.Line(i), Column: spec.Name, Problem: "the name is empty", Remedy: "fill it in or remove the row"}
		}
		if valueColumn < 0 && strings.ContainsRune(name, '|') {
			return nil, &dataset.InputError{File: frame.File, Line: frame.Line(i), Column: spec.Name, Value: name, Problem: "a label may not hold a '|'", Remedy: "write it otherwise"}
		}
		at, ok := idOf[id]
		if !ok {
			at = int32(len(ids))
			idOf[id] = at
			ids = append(ids, id)
		}
		rowIDs[i] = at
		column, ok := nameOf[name]
		if !ok {
			column = -1
			if _, wanted := types[name]; wanted || len(types) == 0 {
				column = int32(len(names))
				names = append(names, name)
			}
			nameOf[name] = column
		}
		rowNames[i] = column
	}
	for _, c := range spec.Columns {
		if _, ok := nameOf[c.Name]; !ok {
			return nil, &dataset.InputError{File: frame.File, Column: spec.Name, Value: c.Name, Problem: "no row has this name", Remedy: "choose names that are in the table"}
		}
	}
	if len(ids) == 0 {
		return nil, &dataset.InputError{File: frame.File, Column: frame.Names[key[0]], Problem: "the key is empty in every row", Remedy: "name another column, as in [key=COLUMN]"}
	}
	out := &dataset.Frame{File: frame.File, Names: names}
	if valueColumn < 0 {
		out.Names = []string{spec.Name}
		out.Columns = [][]string{joinLabels(rowIDs, frame.Columns[nameColumn], len(ids))}
	} else if out.Columns, err = spread(spec, frame, key, valueColumn, rowIDs, rowNames, types, ids, names); err != nil {
		return nil, err
	}
	j := &Joined{Spec: spec, Mode: mode, IDs: ids, Rows: out, Has: slices.Repeat([]bool{true}, len(ids)),
		Report: Report{Entities: len(ids), Matched: len(ids), Notices: keylessNotice(frame.File, keyless)}}
	if len(spec.Columns) > 0 { // in the order asked for
		columns := make([]int, len(spec.Columns))
		for i, c := range spec.Columns {
			columns[i] = slices.Index(names, c.Name)
		}
		j.Rows = out.Select(rowsInOrder(len(ids)), columns)
	}
	return j, nil
}

// spread fills the columns, and refuses a pair that is there twice and a value
// that does not fit its type, which is num unless another was given.
func spread(spec Spec, frame *dataset.Frame, key []int, valueColumn int, rowIDs, rowNames []int32, types map[string]Type, ids, names []string) ([][]string, error) {
	columns := make([][]string, len(names))
	filled := make([][]int32, len(names)) // row + 1
	for c := range columns {
		columns[c] = make([]string, len(ids))
		filled[c] = make([]int32, len(ids))
	}
	for i, id := range rowIDs {
		c := rowNames[i]
		if id < 0 || c < 0 {
			continue
		}
		if first := filled[c][id]; first > 0 {
			return nil, twice(frame, append(slices.Clone(key), slices.Index(frame.Names, spec.Name)), ids[id]+" "+names[c], int(first-1), i, "keep one value for each key and name")
		}
		filled[c][id] = int32(i + 1)
		text := frame.Columns[valueColumn][i]
		t := types[names[c]]
		if t == "" {
			t = Num
		}
		if !t.levelled() && !dataset.Missing(text) {
			if _, problem := quantity(t, text); problem != "" {
				return nil, &dataset.InputError{File: frame.File, Line: frame.Line(i), Column: spec.Value, Value: text, Problem: problem,
					Remedy: fmt.Sprintf("mend it, or give %s another type", quoteName(names[c]))}
			}
		}
		columns[c][id] = text
	}
	return columns, nil
}

func joinLabels(rowIDs []int32, labels []string, n int) []string {
	joined := make([][]string, n)
	for i, id := range rowIDs {
		if id >= 0 {
			joined[id] = append(joined[id], labels[i])
		}
	}
	out := make([]string, n)
	for id := range out {
		out[id] = strings.Join(joined[id], "|")
	}
	return out
}

func rowsInOrder(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}
