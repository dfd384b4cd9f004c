package modelfile

import (
	"fmt"
	"math"
	"slices"
)

// An Element is the element type of a tensor: F32, F64, I32, I64 or U8.
type Element interface {
	float32 | float64 | int32 | int64 | uint8
}

// A Tensor is a named array of values in row-major order.
type Tensor struct {
	Name  string
	Shape []int
	data  any // a slice of an Element
}

// NewTensor returns a tensor that shares the given values. Without a shape it is a
// vector. It panics if the shape does not match the number of values.
func NewTensor[T Element](name string, values []T, shape ...int) Tensor {
	if len(shape) == 0 {
		shape = []int{len(values)}
	}
	if n, ok := product(shape); !ok || n != len(values) {
		panic(fmt.Sprintf("modelfile: tensor %q of shape %v has %d values", name, shape, len(values)))
	}
	return Tensor{Name: name, Shape: slices.Clone(shape), data: values}
}

// Values returns the values of the named tensor, shared with the file. The shape
// must match if given, where -1 matches any size.
func Values[T Element](f *File, name string, shape ...int) ([]T, error) {
	t, found := f.Tensor(name)
	if !found {
		return nil, fmt.Errorf("tensor %q is missing", name)
	}
	values, ok := t.data.([]T)
	if !ok {
		return nil, fmt.Errorf("tensor %q holds %s, not %s", name, t.DType(), dtypeOf([]T(nil)))
	}
	if len(shape) > 0 && !slices.EqualFunc(t.Shape, shape, func(got, want int) bool { return want == -1 || got == want }) {
		return nil, fmt.Errorf("tensor %q has shape %v, not %v", name, t.Shape, shape)
	}
	return values, nil
}

// DType returns the element type as the layout names it: F32, F64, I32, I64 or U8.
func (t Tensor) DType() string { return dtypeOf(t.data) }

// Bytes returns the size of the values in the file.
func (t Tensor) Bytes() int { return t.Len() * elementBytes(t.DType()) }

// Len returns the number of values.
func (t Tensor) Len() int {
	switch data := t.data.(type) {
	case []float32:
		return len(data)
	case []float64:
		return len(data)
	case []int32:
		return len(data)
	case []int64:
		return len(data)
	case []byte:
		return len(data)
	}
	panic(fmt.Sprintf("modelfile: tensor %q was not created by NewTensor", t.Name))
}

func dtypeOf(data any) string {
	switch data.(type) {
	case []float32:
		return "F32"
	case []float64:
		return "F64"
	case []int32:
		return "I32"
	case []int64:
		return "I64"
	case []byte:
		return "U8"
	}
	panic(fmt.Sprintf("modelfile: tensor of %T", data))
}

// elementBytes returns the size of an element, or 0 for an unknown type.
func elementBytes(dtype string) int {
	switch dtype {
	case "F32", "I32":
		return 4
	case "F64", "I64":
		return 8
	case "U8":
		return 1
	}
	return 0
}

// product returns the number of values of a shape. ok is false if a size is
// negative or the product overflows.
func product(shape []int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// chunks calls use with the little-endian bytes of the values, at once or one
// buffer at a time.
func (t Tensor) chunks(buffer []byte, use func([]byte) error) error {
	switch data := t.data.(type) {
	case []float32:
		return chunksOf(data, 4, buffer, use)
	case []float64:
		return chunksOf(data, 8, buffer, use)
	case []int32:
		return chunksOf(data, 4, buffer, use)
	case []int64:
		return chunksOf(data, 8, buffer, use)
	case []byte:
		return use(data)
	}
	panic(fmt.Sprintf("modelfile: tensor %q was not created by NewTensor", t.Name))
}

func chunksOf[T Element](values []T, size int, buffer []byte, use func([]byte) error) error {
	if littleEndian {
		return use(bytesOf(values))
	}
	for chunk := range slices.Chunk(values, len(buffer)/size) {
		if err := use(buffer[:encodeValues(buffer, chunk)]); err != nil {
			return err
		}
	}
	return nil
}

// parseTensor copies the values of a tensor from its bytes, whose number was
// checked against the shape.
func parseTensor(name, dtype string, shape []int, data []byte) Tensor {
	t := Tensor{Name: name, Shape: shape}
	switch dtype {
	case "F32":
		t.data = parseValues[float32](data, 4)
	case "F64":
		t.data = parseValues[float64](data, 8)
	case "I32":
		t.data = parseValues[int32](data, 4)
	case "I64":
		t.data = parseValues[int64](data, 8)
	case "U8":
		t.data = append([]byte{}, data...)
	}
	return t
}

func parseValues[T Element](data []byte, size int) []T {
	values := make([]T, len(data)/size)
	if littleEndian {
		copy(bytesOf(values), data)
	} else {
		decodeValues(values, data)
	}
	return values
}
