package modelfile

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// CheckFinite returns an error that names the first tensor with a value that is not a
// finite number.
func (f *File) CheckFinite() error {
	failed := make([]error, len(f.Tensors))
	parallel.For(runtime.GOMAXPROCS(0), len(f.Tensors), func(k int) {
		at := -1
		switch values := f.Tensors[k].data.(type) {
		case []float32:
			at = firstNotFinite(values)
		case []float64:
			at = firstNotFinite(values)
		}
		if at >= 0 {
			failed[k] = fmt.Errorf("tensor %q: value %d is not a finite number", f.Tensors[k].Name, at)
		}
	})
	return cmp.Or(failed...)
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
