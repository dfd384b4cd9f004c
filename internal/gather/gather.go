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
