package dataset

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// WriteParts writes the file that a split file:F reads: the header part, then the
// part of each data row of the table's source. Rows that were dropped are unused;
// rows that were merged have the part of their cell.
func WriteParts(w io.Writer, t *Table, parts []Part) error {
	if len(parts) != t.Len() {
		panic("dataset: WriteParts needs a part for each observation")
	}
	rows := make([]Part, t.Counts.Rows)
	if t.Row != nil {
		for i := range rows {
			rows[i] = Unused
		}
	}
	for k, p := range parts {
		rows[t.SourceRow(k)] = p
	}
	for _, m := range t.merged {
		rows[m.row] = parts[m.into]
	}
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString("part\n")
	for _, p := range rows {
		out.WriteString(partNames[p])
		out.WriteByte('\n')
	}
	return out.Flush()
}

// readParts reads such a file, plain or gzip, for the observations of a table.
func readParts(name string, t *Table) ([]Part, error) {
	s, err := openSource(name, os.Stdin, blockSize)
	if err != nil {
		return nil, err
	}
	defer s.close()
	l, err := s.readLayout(Format{Delimiter: ',', Header: HeaderYes}, nil)
	if err != nil {
		return nil, err
	}
	if len(l.names) != 1 || l.names[0] != "part" {
		return nil, &InputError{File: name, Line: 1, Value: string(l.header), Problem: "the header of a split file is part", Remedy: "let kft split write one"}
	}
	var all []Part
	var r rows
	var buf []byte
	line := 1 + l.lines
	for {
		var n int
		buf, n, err = s.next(buf)
		if err == io.EOF {
			break
		}
		if err == nil {
			if problem := r.split(buf[:n], ',', 1, s.quoted); problem != nil {
				err = problem
			}
		}
		if err != nil {
			if input, ok := err.(*InputError); ok {
				input.File = name
				input.Line += line
			}
			return nil, err
		}
		for i := range r.n {
			part, ok := parsePart(r.field(i, 0))
			if !ok {
				return nil, &InputError{File: name, Line: line + r.line(i), Column: "part", Value: string(r.field(i, 0)), Problem: "this is not a part", Remedy: partRemedy}
			}
			all = append(all, part)
		}
		line += r.lines
	}
	if len(all) != t.Counts.Rows {
		return nil, &InputError{File: name, Problem: fmt.Sprintf("the file has %d parts, the table has %d rows", len(all), t.Counts.Rows),
			Remedy: "give one line for each row of the table, in its order"}
	}
	parts := make([]Part, t.Len())
	for k := range parts {
		parts[k] = all[t.SourceRow(k)]
	}
	for _, m := range t.merged {
		if all[m.row] != parts[m.into] {
			return nil, &InputError{File: name, Column: "part", Value: all[m.row].String(),
				Problem: fmt.Sprintf("rows %d and %d of the table are one cell (%s) but this file puts them in different parts", t.SourceRow(int(m.into))+1, m.row+1, t.cellName(m.into)),
				Remedy:  "give all rows of a cell the same part, or let kft split write the file"}
		}
	}
	return parts, nil
}
