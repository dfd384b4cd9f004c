package tableio

// IsZero reports whether the source is the zero Source, which contains no table.
func (s Source) IsZero() bool { return len(s.inputs) == 0 }

// Repeatable reports whether the source can be read more than once. A reader and
// standard input cannot.
func (s Source) Repeatable() bool {
	for _, in := range s.inputs {
		if in.reader != nil || in.name == "-" && in.columns == nil {
			return false
		}
	}
	return true
}

// Named returns the source with the given name from tables, or the file of that name
// if there is none.
func Named(tables map[string]Source, name string) Source {
	if s, found := tables[name]; found {
		return s
	}
	return Files(name)
}
