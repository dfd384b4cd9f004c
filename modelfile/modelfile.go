// Package modelfile reads and writes a file of named tensors and metadata in the
// safetensors layout, so that Python's safetensors can read it too:
//
//	8 bytes    length of the header, little-endian
//	header     JSON: {"__metadata__": {key: text}, name: {dtype, shape, data_offsets}, ...}
//	data       the tensors, little-endian, contiguous
//
// In addition to that layout, a kft file has these properties. The metadata
// contain the format and its version. The data and every tensor start at a
// multiple of 64 bytes: the header is padded with spaces, and tensors named
// __padding__ fill the gaps, because the layout forbids unused bytes. The last
// tensor is the SHA-256 of all preceding bytes. It is verified before what is made of the
// content is used. The same content always gives the same bytes.
//
// Writing and reading take one pass over the bytes, dominated by the checksum.
package modelfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Version is the format version that this package writes, and the newest it
// reads.
const Version = 1

// A File is the content of a model file. Tensors are written in order.
type File struct {
	Meta    map[string]string // without the reserved keys format and format_version
	Tensors []Tensor
}

// Write replaces the file at path atomically: after a failure or a crash the old
// file is unchanged and no part of the new one remains.
func Write(path string, f *File) error {
	header, err := f.header()
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return f.encode(w, header) })
}

// WriteTo writes the bytes of the file to w.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	header, err := f.header()
	if err != nil {
		return 0, err
	}
	counted := &countingWriter{w: w}
	err = f.encode(counted, header)
	return counted.n, err
}

// A countingWriter counts the bytes that it passes on.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Encode returns the bytes that Write writes.
func Encode(f *File) ([]byte, error) {
	var b bytes.Buffer
	_, err := f.WriteTo(&b)
	return b.Bytes(), err
}

// Read reads and verifies the file at path. It returns a *FormatError if the file
// is not a complete, unmodified model.
func Read(path string) (*File, error) {
	return verified(func(use func(*File) error) error { return ReadWith(path, use) })
}

// ReadWith is [Read] for a caller with work to do: it calls use beside the computation of the checksum,
// which takes as long as reading the file. What use made counts only if the error is nil. A
// *FormatError of the file goes before the error of use.
func ReadWith(path string, use func(*File) error) error {
	data, err := readWhole(path)
	if err != nil {
		return err
	}
	return decodeWith(data, path, use)
}

// readWhole reads the file at path, unless its first bytes show that it is not a
// model: a table passed by mistake may be larger than memory.
func readWhole(path string) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingError{path}
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &FormatError{File: path, Problem: "not a regular file; a model is a file"}
	}
	head := make([]byte, min(info.Size(), sniffBytes))
	if _, err := io.ReadFull(file, head); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if problem := notModel(head, info.Size()); problem != "" {
		return nil, &FormatError{File: path, Problem: problem}
	}
	data := paged.Make[byte](nil, int(info.Size()))
	copy(data, head)
	pieces := make([]error, (len(data)+readBytes-1)/readBytes)
	parallel.For(runtime.GOMAXPROCS(0), len(pieces), func(k int) {
		from := max(k*readBytes, len(head))
		piece := data[from:max(from, min(len(data), (k+1)*readBytes))]
		if n, err := file.ReadAt(piece, int64(from)); n < len(piece) {
			pieces[k] = fmt.Errorf("read %s: %w", path, err)
		}
	})
	return data, cmp.Or(pieces...)
}

// readBytes is how much of a file a goroutine reads at a time.
const readBytes = 4 << 20

// A missingError reports that there is no file at a path.
type missingError struct{ path string }

func (e *missingError) Error() string {
	return e.path + ": no such file; check the path of the model"
}

// Unwrap returns fs.ErrNotExist.
func (e *missingError) Unwrap() error { return fs.ErrNotExist }

// Tensor returns the tensor with the given name.
func (f *File) Tensor(name string) (t Tensor, found bool) {
	for _, t := range f.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

// A FormatError reports why a file is not a usable model.
type FormatError struct {
	File    string
	Problem string
}

// ErrFormat is the sentinel of [FormatError].
var ErrFormat = errors.New("not a complete, unmodified model file")

// Unwrap returns ErrFormat.
func (e *FormatError) Unwrap() error { return ErrFormat }

func (e *FormatError) Error() string { return e.File + ": " + e.Problem }
