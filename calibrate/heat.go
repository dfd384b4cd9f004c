package calibrate

// A Heat counts, for the entities of two modes, how often values lay inside the
// central intervals: an entity a row, a time a column, a map a level. Weights
// have no part in it. It holds 6 numbers for each pair.
type Heat struct {
	rows, columns int
	n             []int32
	hits          [len(Levels)][]int32
}

// NewHeat returns an empty heat for rows times columns entities.
func NewHeat(rows, columns int) *Heat {
	h := &Heat{rows: rows, columns: columns, n: make([]int32, rows*columns)}
	for i := range h.hits {
		h.hits[i] = make([]int32, rows*columns)
	}
	return h
}

// Add counts a value. Unknown entities are passed over.
func (h *Heat) Add(row, column int32, p Predictive, y float64) {
	if row < 0 || column < 0 || int(row) >= h.rows || int(column) >= h.columns {
		return
	}
	at := int(row)*h.columns + int(column)
	h.n[at]++
	for i, hit := range insideAt(p.levels(y)) {
		if hit {
			h.hits[i][at]++
		}
	}
}

// Merge adds another heat of the same size.
func (h *Heat) Merge(o *Heat) {
	for at, n := range o.n {
		h.n[at] += n
		for i := range h.hits {
			h.hits[i][at] += o.hits[i][at]
		}
	}
}

// Count returns how many values a pair of entities has.
func (h *Heat) Count(row, column int) int { return int(h.n[row*h.columns+column]) }

// Hits returns how many of them lay inside the interval Levels[level].
func (h *Heat) Hits(level, row, column int) int {
	return int(h.hits[level][row*h.columns+column])
}

// RowCount returns how many values an entity has.
func (h *Heat) RowCount(row int) int {
	sum := 0
	for _, n := range h.n[row*h.columns : (row+1)*h.columns] {
		sum += int(n)
	}
	return sum
}
