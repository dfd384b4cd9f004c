package dataset

import "io"

// Columns returns the names of a table's columns, its first rows (a thousand at
// most) and the format that was detected.
func Columns(path string, format Format) (names []string, sample [][]string, detected Format, err error) {
	names, sample, detected, err = sampleRows(path, format, 1000)
	return names, sample, detected, err
}

// sampleRows reads the first rows of a table, limit of them at most.
func sampleRows(path string, format Format, limit int) (names []string, sample [][]string, detected Format, err error) {
	stdin := format.stdin()
	if typed, in, err := openTyped(path, stdin); err != nil {
		return nil, nil, format, err
	} else if typed != nil {
		return sampleTyped(typed, format, limit)
	} else if in != nil {
		stdin = in
	}
	s, err := openSource(path, stdin, blockSize)
	if err != nil {
		return nil, nil, format, err
	}
	defer s.close()
	l, err := s.readLayout(format, nil)
	if err != nil {
		return nil, nil, format, err
	}
	var r rows
	var buf []byte
	line := 1 + l.lines
	for len(sample) < limit {
		var n int
		buf, n, err = s.next(buf)
		if err == io.EOF {
			break
		}
		if err == nil {
			if problem := r.split(buf[:n], l.format.Delimiter, len(l.names), s.quoted); problem != nil {
				err = problem
			}
		} else {
			r.n = 0
		}
		for i := 0; i < r.n && len(sample) < limit; i++ {
			record := make([]string, len(l.names))
			for c := range record {
				record[c] = string(r.field(i, c))
			}
			sample = append(sample, record)
		}
		if err != nil && len(sample) < limit {
			if problem, ok := err.(*InputError); ok {
				problem.File = path
				problem.Line += line
			}
			return nil, nil, format, err
		}
		line += r.lines
	}
	return l.names, sample, l.format, nil
}

// sampleTyped does it for a typed table, which it closes. Nested columns are passed
// over: they are neither ids nor values.
func sampleTyped(t typedTable, format Format, limit int) (names []string, sample [][]string, detected Format, err error) {
	defer t.close()
	format.Header = HeaderYes
	var columns []int
	for c, name := range t.names() {
		if t.readable(c) {
			columns = append(columns, c)
			names = append(names, name)
		}
	}
	t.start(columns)
	var r typedRows
	for len(sample) < limit {
		b, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, format, err
		}
		r.reset(b, ',')
		for i := 0; i < r.len() && len(sample) < limit; i++ {
			record := make([]string, len(columns))
			for k, c := range columns {
				record[k] = string(r.field(i, c))
			}
			sample = append(sample, record)
		}
	}
	return names, sample, format, nil
}
