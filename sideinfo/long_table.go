package sideinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// widen turns a long table, whose rows hold a key, a name and a value, into a table
// with one row per key and one column per name. Pairs without a row are missing. A
// listed name without any row is an error if every is set, else it is missing
// throughout. A long table without values becomes one column of labels.
// O(rows + keys x names).
func widen(spec Spec, mode dataset.Mode, frame *dataset.Frame, key []int, every bool) (*Joined, error) {
	t := &longTable{spec: spec, frame: frame, key: key, value: -1, types: map[string]Type{}}
	var err error
	if t.name, err = frame.Find(spec.Name); err != nil {
		return nil, err
	}
	if spec.Value != "" {
		if t.value, err = frame.Find(spec.Value); err != nil {
			return nil, err
		}
	}
	for _, c := range spec.Columns {
		t.types[c.Name] = c.Type
	}
	if err := t.scan(); err != nil {
		return nil, err
	}
	if err := t.complete(every); err != nil {
		return nil, err
	}
	out := &dataset.Frame{File: frame.File, Names: t.names}
	if t.value < 0 {
		out.Names = []string{spec.Name}
		out.Columns = [][]string{joinLabels(t.rowIDs, frame.Columns[t.name], len(t.ids))}
	} else if out.Columns, err = t.wideColumns(); err != nil {
		return nil, err
	}
	j := &Joined{Spec: spec, Mode: mode, IDs: t.ids, Rows: out, Has: slices.Repeat([]bool{true}, len(t.ids)),
		Report: Report{Entities: len(t.ids), Matched: len(t.ids), Notices: emptyKeyNotice(frame.File, t.emptyKeys)}}
	if len(spec.Columns) > 0 { // in the order of the spec
		columns := make([]int, len(spec.Columns))
		for i, c := range spec.Columns {
			columns[i] = slices.Index(t.names, c.Name)
		}
		j.Rows = out.Select(rowsInOrder(len(t.ids)), columns)
	}
	return j, nil
}

// longTable is the state of widen.
type longTable struct {
	spec        Spec
	frame       *dataset.Frame
	key         []int // columns of the frame
	name, value int   // columns of the frame; value is -1 without values
	types       map[string]Type

	ids, names       []string // in order of first appearance
	rowIDs, rowNames []int32  // by row; -1 for rows that are skipped
	emptyKeys        int
}

// scan numbers the id and the name of each row.
func (t *longTable) scan() error {
	idOf, nameOf := map[string]int32{}, map[string]int32{}
	t.rowIDs, t.rowNames = make([]int32, t.frame.Len()), make([]int32, t.frame.Len())
	for i := range t.frame.Len() {
		id, name := rowID(t.frame, t.key, i), t.frame.Columns[t.name][i]
		t.rowIDs[i] = -1
		if id == "" {
			t.emptyKeys++
			continue
		}
		if name == "" {
			return t.frame.Fault(i, t.spec.Name, "", "the name is empty", "fill it in or remove the row")
		}
		if t.value < 0 && strings.ContainsRune(name, '|') {
			return t.frame.Fault(i, t.spec.Name, name, "a label must not contain '|'", "replace the character")
		}
		at, ok := idOf[id]
		if !ok {
			at = int32(len(t.ids))
			idOf[id] = at
			t.ids = append(t.ids, id)
		}
		t.rowIDs[i] = at
		column, ok := nameOf[name]
		if !ok {
			column = -1
			if _, wanted := t.types[name]; wanted || len(t.types) == 0 {
				column = int32(len(t.names))
				t.names = append(t.names, name)
			}
			nameOf[name] = column
		}
		t.rowNames[i] = column
	}
	if len(t.ids) == 0 {
		return &dataset.InputError{File: t.frame.File, Column: t.frame.Names[t.key[0]], Problem: "the key is empty in every row", Remedy: "name another key column, as in [key=COLUMN]"}
	}
	return nil
}

// complete adds the names of the spec that no row has, or returns an error if every
// is set or the table has none of the names.
func (t *longTable) complete(every bool) error {
	found := len(t.names)
	for _, c := range t.spec.Columns {
		if slices.Contains(t.names[:found], c.Name) {
			continue
		}
		if every || found == 0 {
			return &dataset.InputError{File: t.frame.File, Column: t.spec.Name, Value: c.Name, Problem: "no row has this name", Remedy: "choose names that are in the table"}
		}
		t.names = append(t.names, c.Name)
	}
	return nil
}

// wideColumns returns one column per name. A duplicate pair is an error, and so is a
// value that does not match the type of its column, which is num by default.
func (t *longTable) wideColumns() ([][]string, error) {
	columns := make([][]string, len(t.names))
	filled := make([][]int32, len(t.names)) // row + 1
	for c := range columns {
		columns[c] = make([]string, len(t.ids))
		filled[c] = make([]int32, len(t.ids))
	}
	for i, id := range t.rowIDs {
		c := t.rowNames[i]
		if id < 0 || c < 0 {
			continue
		}
		if first := filled[c][id]; first > 0 {
			return nil, duplicateKey(t.frame, append(slices.Clone(t.key), t.name), t.ids[id]+" "+t.names[c], int(first-1), i, "keep one value per key and name")
		}
		filled[c][id] = int32(i + 1)
		text := t.frame.Columns[t.value][i]
		kind := t.types[t.names[c]]
		if kind == "" {
			kind = Num
		}
		if !kind.levelled() && !kind.missing(text) {
			if _, problem := quantity(kind, text); problem != "" {
				return nil, t.frame.Fault(i, t.spec.Value, text, problem, fmt.Sprintf("correct the value, or give %s another type", quoteName(t.names[c])))
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
