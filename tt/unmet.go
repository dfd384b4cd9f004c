package tt

// Unmet tells which rows have a combination of codes, in some joint core, that no
// training row has. One lookup a joint core and row.
func (f *Field) Unmet(codes [][]int32) []bool {
	unmet := make([]bool, len(codes[0]))
	column := make([]int32, len(unmet))
	for _, t := range f.Terms {
		for _, c := range t.Cores {
			if len(c.Modes) == 1 {
				continue
			}
			c.Index.Lookup(column, codes)
			for i, e := range column {
				if e == c.Index.Prior() || !c.trained(int(e)) {
					unmet[i] = true
				}
			}
		}
	}
	return unmet
}
