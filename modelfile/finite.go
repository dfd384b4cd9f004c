package modelfile

import (
	"fmt"
)

// CheckFinite returns an error that names the first tensor with a value that is not a
// finite number.
func (f *File) CheckFinite() error {
	for _, t := range f.Tensors {
		at := -1
		switch values := t.data.(type) {
		case []float32:
			at = firstNotFinite(values)
		case []float64:
			at = firstNotFinite(values)
		}
		if at >= 0 {
			return fmt.Errorf("tensor %q: value %d is not a finite number", t.Name, at)
		}
	}
	return nil
}

// firstNotFinite returns the index of the first value that is NaN or infinite, -1 if
// there is none.
func firstNotFinite[T float32 | float64](values []T) int {
	for i, v := range values {
		if v-v != 0 { // NaN
			return i
		}
	}
	return -1
}
