// Package gather copies elements of slices.
package gather

import "github.com/kernel-fried-tensor/kft/internal/parallel"

// Rows returns values[rows[0]], values[rows[1]] and so on, nil if values is nil.
func Rows[T any, I int | int32](values []T, rows []I) []T { return RowsParallel(1, values, rows) }

// RowsParallel is Rows on several threads.
func RowsParallel[T any, I int | int32](threads int, values []T, rows []I) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(rows))
	parallel.Blocks(threads, len(rows), func(from, to int) {
		for i, row := range rows[from:to] {
			out[from+i] = values[row]
		}
	})
	return out
}
