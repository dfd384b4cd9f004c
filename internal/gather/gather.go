// Package gather copies elements of slices.
package gather

// Rows returns values[rows[0]], values[rows[1]] and so on, nil if values is nil.
func Rows[T any, I int | int32](values []T, rows []I) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = values[row]
	}
	return out
}

// All returns Rows of each of some columns.
func All[T any, I int | int32](columns [][]T, rows []I) [][]T {
	out := make([][]T, len(columns))
	for k, column := range columns {
		out[k] = Rows(column, rows)
	}
	return out
}

// Order returns the places of small numbers of 0 or more in their order; equal ones keep theirs.
func Order(numbers []int32) []int32 {
	most := int32(0)
	for _, v := range numbers {
		most = max(most, v)
	}
	next := make([]int32, most+2)
	for _, v := range numbers {
		next[v+1]++
	}
	for v := range next[1:] {
		next[v+1] += next[v]
	}
	order := make([]int32, len(numbers))
	for i, v := range numbers {
		order[next[v]] = int32(i)
		next[v]++
	}
	return order
}
