package backend

import "github.com/kernel-fried-tensor/kft/internal/paged"

// Pages returns the store in which a backend keeps arrays of the length of the data, nil if
// they are in memory.
func Pages(b Backend) *paged.Store {
	if p, ok := b.(interface{ Pages() *paged.Store }); ok {
		return p.Pages()
	}
	return nil
}

// FreeAll gives arrays that Make returned back to the store of the backend. They must not be
// used afterwards.
func FreeAll[T paged.Number](b Backend, arrays [][]T) {
	for _, a := range arrays {
		paged.Free(Pages(b), a)
	}
}

// Make returns an array of the length of the data: in memory, or in the store of the backend.
func Make[T paged.Number](b Backend, n int) []T { return paged.Make[T](Pages(b), n) }
