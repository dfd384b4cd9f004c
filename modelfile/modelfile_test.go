package modelfile

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// sample has every type, an empty tensor, shapes with 0 to 3 dimensions, text that
// needs escapes, and sizes that need padding.
func sample() *File {
	f := &File{
		Meta: map[string]string{
			"spec": `{"version":1,"terms":["a,b:3"]}`, "quote\"\\": "line\n\u2028<é日>", "": "", "zz": "last",
		},
		Tensors: []Tensor{
			NewTensor("core/store", []float32{1, -2, float32(math.Inf(1)), 3e-40, 5, 6}, 1, 2, 3),
			NewTensor("metrics", []float64{math.Pi, math.Copysign(0, -1)}),
			NewTensor("codes", []int32{math.MinInt32, 0, math.MaxInt32}, 3, 1),
			NewTensor("none", []float32{}, 4, 0),
			NewTensor("hash", []int64{math.MinInt64, math.MaxInt64}),
			NewTensor("part", bytes.Repeat([]byte{1, 2}, 64), 128),
			NewTensor("né\tme/\"x\"", []byte{7}),
		},
	}
	f.Tensors = append(f.Tensors, StringTensors("ids", []string{"x904631", "", "\xff\x00", "日本"})...)
	return f
}

func mustEncode(t testing.TB, f *File) []byte {
	t.Helper()
	data, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.kft")
	for name, f := range map[string]*File{"sample": sample(), "empty": {Meta: map[string]string{}}} {
		if err := Write(path, f); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(got, f) {
			t.Errorf("%s: got\n%v\nwant\n%v", name, got, f)
		}
		onDisk, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(onDisk, mustEncode(t, f)) {
			t.Errorf("%s: Write and Encode differ (%v)", name, err)
		}
	}
}

func TestSameContentSameBytes(t *testing.T) {
	first := mustEncode(t, sample())
	for range 20 {
		if !bytes.Equal(mustEncode(t, sample()), first) {
			t.Fatal("two encodings of the same file differ")
		}
	}
}

func TestLargeTensorIsWrittenInChunks(t *testing.T) {
	values := make([]float64, 100_003)
	for i := range values {
		values[i] = float64(i) * 1.1
	}
	f := &File{Tensors: []Tensor{NewTensor("v", values)}}
	data := mustEncode(t, f)
	// The portable code path reads and writes the same bytes.
	defer func(native bool) { littleEndian = native }(littleEndian)
	for _, littleEndian = range []bool{littleEndian, false} {
		if !bytes.Equal(mustEncode(t, f), data) {
			t.Errorf("different bytes with native order %v", littleEndian)
		}
		got, err := Decode(data, "large")
		if err != nil {
			t.Fatal(err)
		}
		back, err := Values[float64](got, "v", len(values))
		if err != nil || !reflect.DeepEqual(back, values) {
			t.Errorf("different values with native order %v (%v)", littleEndian, err)
		}
	}
}

func TestWriteFails(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "m.kft")
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	bad := &File{Meta: map[string]string{"spec": "\xff"}}
	if err := Write(path, bad); err == nil || !strings.Contains(err.Error(), `metadata "spec" is not valid UTF-8`) {
		t.Errorf("invalid metadata: got error %v", err)
	}
	if err := Write(path, &File{Tensors: []Tensor{NewTensor("\xff", []byte{})}}); err == nil || !strings.Contains(err.Error(), "not valid UTF-8") {
		t.Errorf("invalid tensor name: got error %v", err)
	}
	if _, err := Read(path); err != nil {
		t.Errorf("the previous file is gone: %v", err)
	}
	if err := Write(filepath.Join(folder, "no", "m.kft"), sample()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: got error %v, want ErrNotExist", err)
	}
}

func TestMisusePanics(t *testing.T) {
	encode := func(f *File) func() { return func() { Encode(f) } }
	for name, misuse := range map[string]func(){
		"shape":         func() { NewTensor("a", []float32{1, 2}, 3) },
		"overflow":      func() { NewTensor("a", []float32{}, math.MaxInt, 2, 0) },
		"no values":     encode(&File{Tensors: []Tensor{{Name: "a"}}}),
		"shape changed": encode(&File{Tensors: []Tensor{{Name: "a", Shape: []int{2}, data: []byte{1}}}}),
		"duplicate":     encode(&File{Tensors: []Tensor{NewTensor("a", []byte{1}), NewTensor("a", []byte{1})}}),
		"no name":       encode(&File{Tensors: []Tensor{NewTensor("", []byte{1})}}),
		"reserved name": encode(&File{Tensors: []Tensor{NewTensor("__sha256__", []byte{1})}}),
		"reserved key":  encode(&File{Meta: map[string]string{"format": "x"}}),
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "modelfile: ") {
					t.Errorf("%s: got %q, want a panic of package modelfile", name, s)
				}
			}()
			misuse()
		}()
	}
}

func TestValues(t *testing.T) {
	f := sample()
	got, err := Values[float32](f, "core/store", 1, -1, 3)
	if err != nil || len(got) != 6 {
		t.Errorf("got %v, %v, want 6 values", got, err)
	}
	for want, get := range map[string]func() error{
		`tensor "core/x" is missing`:                          func() error { _, err := Values[float32](f, "core/x"); return err },
		`tensor "core/store" holds F32, not F64`:              func() error { _, err := Values[float64](f, "core/store"); return err },
		`tensor "core/store" has shape [1 2 3], not [1 3 -1]`: func() error { _, err := Values[float32](f, "core/store", 1, 3, -1); return err },
		`tensor "codes" has shape [3 1], not [3]`:             func() error { _, err := Values[int32](f, "codes", 3); return err },
	} {
		if err := get(); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	if tensor, ok := f.Tensor("hash"); !ok || tensor.DType() != "I64" || tensor.Bytes() != 16 {
		t.Errorf("got %v, %v, want an I64 tensor of 16 bytes", tensor, ok)
	}
}

func TestStrings(t *testing.T) {
	for _, want := range [][]string{{}, {""}, {"a", "", "", "bcd", "\xff"}} {
		f := &File{Tensors: StringTensors("ids", want)}
		got, err := f.Strings("ids")
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	for name, tensors := range map[string][]Tensor{
		"missing":      {},
		"no offsets":   {NewTensor("ids/bytes", []byte("abc"))},
		"empty":        {NewTensor("ids/bytes", []byte("abc")), NewTensor("ids/offsets", []int64{})},
		"late start":   {NewTensor("ids/bytes", []byte("abc")), NewTensor("ids/offsets", []int64{1, 3})},
		"early end":    {NewTensor("ids/bytes", []byte("abc")), NewTensor("ids/offsets", []int64{0, 2})},
		"decreasing":   {NewTensor("ids/bytes", []byte("abc")), NewTensor("ids/offsets", []int64{0, 2, 1, 3})},
		"out of range": {NewTensor("ids/bytes", []byte("abc")), NewTensor("ids/offsets", []int64{0, 9, 3})},
		"negative":     {NewTensor("ids/bytes", []byte("abc")), NewTensor("ids/offsets", []int64{0, -1, 3})},
		"other type":   {NewTensor("ids/bytes", []byte("abc")), NewTensor("ids/offsets", []int32{0, 3})},
	} {
		if got, err := (&File{Tensors: tensors}).Strings("ids"); err == nil || !strings.Contains(err.Error(), `"ids/`) {
			t.Errorf("%s: got %q, %v, want an error", name, got, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	f := &File{Tensors: []Tensor{NewTensor("w", make([]float32, 25<<20))}}
	path := filepath.Join(b.TempDir(), "m.kft")
	b.SetBytes(100 << 20)
	for b.Loop() {
		if err := Write(path, f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	f := &File{Tensors: []Tensor{NewTensor("w", make([]float32, 25<<20))}}
	b.SetBytes(100 << 20)
	for b.Loop() {
		if _, err := Encode(f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := mustEncode(b, &File{Tensors: []Tensor{NewTensor("w", make([]float32, 25<<20))}})
	b.SetBytes(100 << 20)
	for b.Loop() {
		if _, err := Decode(data, "bench"); err != nil {
			b.Fatal(err)
		}
	}
}
