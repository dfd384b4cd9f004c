package modelfile

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// expectFormatError checks that the bytes are rejected with a problem that contains the text.
func expectFormatError(t *testing.T, what string, data []byte, want string) {
	t.Helper()
	f, err := Decode(data, "m.kft")
	var format *FormatError
	if f != nil || !errors.As(err, &format) || format.File != "m.kft" || format.Problem == "" {
		t.Fatalf("%s: got %v, %v, want a FormatError", what, f, err)
	}
	if !strings.Contains(format.Problem, want) {
		t.Errorf("%s: got problem %q, want one with %q", what, format.Problem, want)
	}
}

func TestRandomChangesAreRejected(t *testing.T) {
	f := sample()
	f.Tensors = append(f.Tensors, NewTensor("large", make([]float32, 5000)))
	data := mustEncode(t, f)
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		at, change := random.IntN(len(data)), byte(1+random.IntN(255))
		data[at] ^= change
		expectFormatError(t, "changed", data, "")
		data[at] ^= change
	}
	if _, err := Decode(data, "unchanged"); err != nil {
		t.Fatal(err)
	}
}

func TestEveryByteIsProtected(t *testing.T) {
	data := mustEncode(t, sample())
	header := 8 + int(binary.LittleEndian.Uint64(data))
	for at := range data {
		want := ""
		if at >= header {
			want = "checksum mismatch: the content was changed"
		}
		for _, change := range []byte{1, 0x20, 0x80, 0xff} {
			data[at] ^= change
			expectFormatError(t, "changed", data, want)
			data[at] ^= change
		}
	}
}

func TestTruncatedFilesAreRejected(t *testing.T) {
	data := mustEncode(t, sample())
	header := 8 + int(binary.LittleEndian.Uint64(data))
	for n := range data {
		want := "truncated"
		switch {
		case n == 0:
			want = "the file is empty"
		case n < 8:
			want = "" // a few bytes may look like any format
		}
		expectFormatError(t, "truncated", data[:n], want)
		if n >= header {
			expectFormatError(t, "truncated", data[:n], "truncated: ")
		}
	}
}

func TestExtraBytesAreRejected(t *testing.T) {
	data := mustEncode(t, sample())
	expectFormatError(t, "one byte more", append(bytes.Clone(data), 0), "1 extra bytes after the end")
	expectFormatError(t, "twice", append(bytes.Clone(data), data...), "extra bytes after the end")
}

func TestOtherFormatsAreIdentified(t *testing.T) {
	var zipped, packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	gz.Write(mustEncode(t, sample()))
	gz.Close()
	z := zip.NewWriter(&zipped)
	w, err := z.Create("m.kft")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(mustEncode(t, sample()))
	z.Close()
	safetensors := []byte("\x40\x00\x00\x00\x00\x00\x00\x00" + `{"a":{"dtype":"U8","shape":[40],"data_offsets":[0,40]}}         ` + strings.Repeat("x", 40))
	for want, data := range map[string][]byte{
		"the file is empty":               {},
		"gzip":                            packed.Bytes(),
		"zip file":                        zipped.Bytes(),
		"a text file, such as a table":    []byte("store,item,bottles\n" + strings.Repeat("1,2,3\n", 1000)),
		"a text file":                     []byte("é"),
		"Parquet":                         append([]byte("PAR1"), make([]byte, 100)...),
		"pickle":                          append([]byte("\x80\x04\x95"), make([]byte, 100)...),
		"not a kft model, or its first":   make([]byte, 1000),
		"too few":                         {1, 0, 0, 0, 0, 0, 0, 0, 1},
		"safetensors file, but not a kft": safetensors,
	} {
		expectFormatError(t, want, data, want)
	}
}

// sealed returns a file with the given header and data and a valid checksum.
func sealed(header, data string) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header+data...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

func TestInvalidHeadersAreRejected(t *testing.T) {
	const meta = `"__metadata__":{"format":"kft","format_version":"1"}`
	const sum = `"__sha256__":{"dtype":"U8","shape":[32],"data_offsets":[4,36]}`
	tensor := func(text string) string { return "{" + meta + "," + text + "," + sum + "}" }
	good := tensor(`"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`)
	if f, err := Decode(sealed(good, "1234"), "good"); err != nil || len(f.Tensors) != 1 {
		t.Fatalf("got %v, %v, want one tensor", f, err)
	}
	for _, c := range []struct{ name, header, want string }{
		{"newer", strings.Replace(good, `"1"`, `"2"`, 1), "format version 2 is newer than the supported version 1"},
		{"version", strings.Replace(good, `"1"`, `"x"`, 1), `invalid format version "x"`},
		{"no version", strings.Replace(good, `format_version`, `else`, 1), `invalid format version ""`},
		{"format", strings.Replace(good, `"kft"`, `"pt"`, 1), "not a kft model"},
		{"not JSON", "{nonsense]", "invalid header"},
		{"not an object", "[1,2,3,4]", "not a JSON object"},
		{"two objects", good + "{}", "unexpected content"},
		{"not closed", good[:len(good)-1], "invalid header"},
		{"metadata", `{"__metadata__":{"a":1}}`, "metadata"},
		{"no tensors", "{" + meta + "}", "the header describes"},
		{"no checksum", "{" + meta + `,"a":{"dtype":"U8","shape":[36],"data_offsets":[0,36]}}`, "the last tensor is not a checksum"},
		{"duplicate name", tensor(`"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}`), `"a" appears twice`},
		{"reserved name", tensor(`"__x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}`), "reserved or empty name"},
		{"dtype", tensor(`"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}`), `unknown dtype "BF16"`},
		{"hole", tensor(`"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}`), "the data start at 2, but the previous tensor ends at 0"},
		{"overlap", tensor(`"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}`), "the data start at 0, but the previous tensor ends at 4"},
		{"wrong size", tensor(`"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}`), "do not match shape [2] of F32"},
		{"huge", tensor(`"a":{"dtype":"U8","shape":[9000000000000000000],"data_offsets":[0,9000000000000000000]}`), "the data start at 4"},
		{"huge last", "{" + meta + `,"a":{"dtype":"U8","shape":[9000000000000000000],"data_offsets":[0,9000000000000000000]}}`, "the header describes 9000"},
		{"overflow", tensor(`"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,4]}`), "invalid shape"},
		{"overflow of bytes", tensor(`"a":{"dtype":"F64","shape":[4611686018427387904],"data_offsets":[0,4]}`), "invalid shape"},
		{"negative", tensor(`"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,-4]}`), "invalid shape"},
		{"backwards", tensor(`"a":{"dtype":"U8","shape":[0],"data_offsets":[0,-4]}`), "do not match"},
		{"three offsets", tensor(`"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4,4]}`), "missing"},
		{"no shape", tensor(`"a":{"dtype":"U8","data_offsets":[0,4]}`), "missing"},
		{"fraction", tensor(`"a":{"dtype":"U8","shape":[1.5],"data_offsets":[0,4]}`), "invalid header"},
	} {
		expectFormatError(t, c.name, sealed(c.header, "1234"), c.want)
	}
	short := sealed(good, "1234")
	binary.LittleEndian.PutUint64(short, 1<<62)
	expectFormatError(t, "huge header", short, "first bytes are corrupted")
}

func TestRead(t *testing.T) {
	folder := t.TempDir()
	if _, err := Read(filepath.Join(folder, "no.kft")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no.kft: no such file") {
		t.Errorf("missing file: got error %v", err)
	}
	var format *FormatError
	if _, err := Read(folder); !errors.As(err, &format) || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("folder: got error %v", err)
	}
	// A sparse table of one terabyte is rejected by its first bytes.
	path := filepath.Join(folder, "big.csv")
	if err := os.WriteFile(path, bytes.Repeat([]byte("store,item\n"), 100), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); !errors.As(err, &format) || !strings.Contains(err.Error(), "a text file") {
		t.Errorf("table: got error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	data := mustEncode(f, sample())
	f.Add(data)
	f.Add(data[:len(data)-checksumBytes])
	f.Add(sealed(`{"__metadata__":{"format":"kft","format_version":"1"},"__sha256__":{"dtype":"U8","shape":[32],"data_offsets":[0,32]}}`, ""))
	f.Add([]byte("store,item\n1,2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := sha256.Sum256(data)
		// As it is, and with a valid checksum, so that the header is parsed.
		for _, data := range [][]byte{data, append(bytes.Clone(data), sum[:]...)} {
			file, err := Decode(data, "fuzz")
			if err != nil {
				var format *FormatError
				if !errors.As(err, &format) {
					t.Fatalf("got %T: %v, want a FormatError", err, err)
				}
				continue
			}
			total := 0
			for _, x := range file.Tensors {
				total += x.Bytes()
			}
			if total > len(data) {
				t.Fatalf("got %d bytes of tensors from %d bytes", total, len(data))
			}
			again, err := Encode(file)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Decode(again, "again")
			if err != nil {
				t.Fatal(err)
			}
			third, err := Encode(back)
			if err != nil || !bytes.Equal(third, again) || !reflect.DeepEqual(back.Meta, file.Meta) {
				t.Fatalf("a file changes when it is read and written: %v", err)
			}
		}
	})
}
