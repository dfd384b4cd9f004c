// Package flat passes values between processes of the same program on machines of the same kind: it
// writes all fields of a value, also those that are not exported, with the bits that they have in memory.
// It is not for files.
package flat

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"
)

// Encode returns the bytes of the value that a pointer points to: booleans, numbers, texts, and arrays,
// slices, structs and pointers of them. It panics for other types.
func Encode(pointer any) []byte {
	return encode(nil, reflect.ValueOf(pointer).Elem())
}

// Decode sets the value that a pointer points to from the result of Encode for a value of the same
// type.
func Decode(data []byte, pointer any) error {
	rest, err := decode(data, reflect.ValueOf(pointer).Elem())
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("flat: %d bytes too many for a %T", len(rest), pointer)
	}
	return err
}

// plain reports whether values of a type are their memory.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return true
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// memory returns the bytes of n plain values at an address.
func memory(at unsafe.Pointer, t reflect.Type, n int) []byte {
	return unsafe.Slice((*byte)(at), n*int(t.Size()))
}

func encode(dst []byte, v reflect.Value) []byte {
	t := v.Type()
	switch {
	case plain(t):
		return append(dst, memory(v.Addr().UnsafePointer(), t, 1)...)
	case t.Kind() == reflect.String:
		return append(binary.LittleEndian.AppendUint64(dst, uint64(v.Len())), v.String()...)
	case t.Kind() == reflect.Pointer && v.IsNil():
		return append(dst, 0)
	case t.Kind() == reflect.Pointer:
		return encode(append(dst, 1), v.Elem())
	case t.Kind() == reflect.Slice:
		n := uint64(0) // 0 is nil
		if !v.IsNil() {
			n = uint64(v.Len()) + 1
		}
		dst = binary.LittleEndian.AppendUint64(dst, n)
		if plain(t.Elem()) {
			return append(dst, memory(v.UnsafePointer(), t.Elem(), v.Len())...)
		}
		for i := range v.Len() {
			dst = encode(dst, v.Index(i))
		}
		return dst
	case t.Kind() == reflect.Array:
		for i := range v.Len() {
			dst = encode(dst, v.Index(i))
		}
		return dst
	case t.Kind() == reflect.Struct:
		for i := range v.NumField() {
			dst = encode(dst, v.Field(i))
		}
		return dst
	}
	panic(fmt.Sprintf("flat: a value of type %v", t))
}

func decode(data []byte, v reflect.Value) (rest []byte, err error) {
	t := v.Type()
	v = reflect.NewAt(t, v.Addr().UnsafePointer()).Elem() // a field that is not exported can be set this way
	length := func(bytes int) (n int, err error) {
		if len(data) < 8 {
			return 0, short(t)
		}
		count := binary.LittleEndian.Uint64(data)
		data = data[8:]
		if bytes > 0 && count > uint64(len(data)/bytes)+1 {
			return 0, short(t)
		}
		return int(count), nil
	}
	switch {
	case plain(t):
		return fill(memory(v.Addr().UnsafePointer(), t, 1), data, t)
	case t.Kind() == reflect.String:
		n, err := length(1)
		if err != nil || n > len(data) {
			return nil, short(t)
		}
		v.SetString(string(data[:n]))
		return data[n:], nil
	case t.Kind() == reflect.Pointer:
		if len(data) == 0 {
			return nil, short(t)
		}
		if v.SetZero(); data[0] == 0 {
			return data[1:], nil
		}
		v.Set(reflect.New(t.Elem()))
		return decode(data[1:], v.Elem())
	case t.Kind() == reflect.Slice:
		n, err := length(1)
		if err != nil {
			return nil, err
		}
		if v.SetZero(); n == 0 {
			return data, nil
		}
		if n--; plain(t.Elem()) {
			if n > len(data)/max(1, int(t.Elem().Size())) {
				return nil, short(t)
			}
			v.Set(reflect.MakeSlice(t, n, n))
			return fill(memory(v.UnsafePointer(), t.Elem(), n), data, t)
		}
		v.Set(reflect.MakeSlice(t, n, n))
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if data, err = decode(data, v.Index(i)); err != nil {
				return nil, err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if data, err = decode(data, v.Field(i)); err != nil {
				return nil, err
			}
		}
	default:
		panic(fmt.Sprintf("flat: a value of type %v", t))
	}
	return data, nil
}

func fill(dst, data []byte, t reflect.Type) (rest []byte, err error) {
	if len(data) < len(dst) {
		return nil, short(t)
	}
	copy(dst, data)
	return data[len(dst):], nil
}

func short(t reflect.Type) error { return fmt.Errorf("flat: the data of a %v end early", t) }
