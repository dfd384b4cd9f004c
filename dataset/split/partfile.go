package split

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/plural"
)

// WriteParts writes the file that a split file:F reads: the header part, then the part
// of each data row of the table's source. Rows that were dropped are unused. Rows that
// were merged have the part of their cell.
func WriteParts(w io.Writer, t *dataset.Table, parts []dataset.Part) error {
	if len(parts) != t.Len() {
		panic("split: WriteParts needs one part per observation")
	}
	rows := make([]dataset.Part, t.Counts.Rows)
	if t.Row != nil {
		for i := range rows {
			rows[i] = dataset.Unused
		}
	}
	for k, p := range parts {
		rows[t.SourceRow(k)] = p
	}
	for _, m := range t.Merged {
		rows[m.Row] = parts[m.Into]
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString("part\n")
	for _, p := range rows {
		out.WriteString(p.String())
		out.WriteByte('\n')
	}
	return out.Flush()
}

// readParts reads such a file, plain or compressed, and returns the part of each
// observation of a table.
func (s Spec) readParts(t *dataset.Table) ([]dataset.Part, error) {
	if s.ahead == nil {
		s = s.ReadAhead()
	}
	name := s.name
	all, err := s.ahead.read()
	if err != nil {
		return nil, err
	}
	if len(all) != t.Counts.Rows {
		return nil, &dataset.InputError{File: name, Problem: fmt.Sprintf("the file has %s, the table has %s", plural.Count(len(all), "part"), plural.Count(t.Counts.Rows, "row")),
			Remedy: "give one line per row of the table, in its order"}
	}
	parts := make([]dataset.Part, t.Len())
	for k := range parts {
		parts[k] = all[t.SourceRow(k)]
	}
	for _, m := range t.Merged {
		if all[m.Row] != parts[m.Into] {
			return nil, &dataset.InputError{File: name, Column: "part", Value: all[m.Row].String(),
				Problem: fmt.Sprintf("rows %d and %d of the table are one cell (%s) but have different parts", t.SourceRow(int(m.Into))+1, m.Row+1, t.CellName(m.Into)),
				Remedy:  "give all rows of a cell the same part, or set data.duplicates to keep, which does not merge them"}
		}
	}
	return parts, nil
}

// partsAhead are the parts of a file that is being read.
type partsAhead struct {
	read func() ([]dataset.Part, error)
}

// ReadAhead returns a specification that reads the file of a split, if it has one, from now on, beside other work.
func (s Spec) ReadAhead() Spec {
	if s.kind == "file" {
		read := sync.OnceValues(func() ([]dataset.Part, error) { return readPartColumn(s.name) })
		s.ahead = &partsAhead{read}
		go func() { _, _ = read() }() // who needs the parts gets the error
	}
	return s
}

// readPartColumn reads the parts of all rows.
func readPartColumn(name string) ([]dataset.Part, error) {
	var all []dataset.Part
	format := tableio.Format{Delimiter: ',', Header: delimited.HeaderYes}
	err := tableio.Scan(context.Background(), tableio.Files(name), format, 0, func(names []string) error {
		if len(names) != 1 || names[0] != "part" {
			return &dataset.InputError{File: name, Line: 1, Value: strings.Join(names, ","), Problem: "the header of a split file must be part", Remedy: `start the file with a line "part"`}
		}
		return nil
	}, func(_ int, r *tableio.Records) (any, error) {
		if len(r.Bad) > 0 {
			return nil, &dataset.InputError{File: name, Line: r.Bad[0].Line, Problem: r.Bad[0].Problem, Remedy: "write one part per line"}
		}
		parts := make([]dataset.Part, r.Len())
		for i := range parts {
			part, ok := dataset.ParsePart(r.Field(i, 0))
			if !ok {
				return nil, &dataset.InputError{File: name, Line: r.Line(i), Column: "part", Value: string(r.Field(i, 0)), Problem: "this is not a part", Remedy: dataset.PartRemedy, Field: "split"}
			}
			parts[i] = part
		}
		return parts, nil
	}, func(result any) error {
		all = append(all, result.([]dataset.Part)...)
		return nil
	})
	return all, err
}
