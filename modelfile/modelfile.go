// Package modelfile reads and writes one file of named tensors and metadata,
// in the layout of safetensors, so that Python's reader opens it too:
//
//	8 bytes    length of the header, little-endian
//	header     JSON: {"__metadata__": {key: text}, name: {dtype, shape, data_offsets}, ...}
//	data       the tensors, little-endian, one after the other
//
// On top of that layout a file of kft has these properties. Metadata names the
// format and its version. The data and every tensor begin at a multiple of 64
// bytes: the header is padded with spaces, and tensors named __padding__ fill
// the gaps, which the layout forbids. The last tensor is the SHA-256 of every
// byte before it and is checked before anything else is believed. The same
// content gives the same bytes.
//
// Writing and reading cost one pass over the bytes, bound by the checksum.
package modelfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// Version is the version of the format that this package writes, and the
// newest it reads.
const Version = 1

// A File is what a model file holds. Tensors are written in their order.
type File struct {
	Meta    map[string]string // format and format_version are the package's own
	Tensors []Tensor
}

// Write replaces the file at path as a whole: after a failure or a crash the
// old file is still there and no part of the new one.
func Write(path string, f *File) error {
	header, err := f.header()
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return f.encode(w, header) })
}

// Encode is what Write writes.
func Encode(f *File) ([]byte, error) {
	header, err := f.header()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.Grow(len(header) + f.dataBytes())
	if err := f.encode(&b, header); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Read reads and checks the file at path. A file that is not a whole, unchanged
// model is a *FormatError that says what is wrong with it.
func Read(path string) (*File, error) {
	data, err := readWhole(path)
	if err != nil {
		return nil, err
	}
	return Decode(data, path)
}

// readWhole reads the file at path, unless its beginning already shows that it
// is no model: a table given by mistake may be larger than memory.
func readWhole(path string) ([]byte, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: there is no such file: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &FormatError{File: path, Problem: "it is a folder, a device or a pipe; a model is a file"}
	}
	head := make([]byte, min(info.Size(), sniffBytes))
	if _, err := io.ReadFull(file, head); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if problem := foreign(head, info.Size()); problem != "" {
		return nil, &FormatError{File: path, Problem: problem}
	}
	data := make([]byte, info.Size())
	copy(data, head)
	if _, err := io.ReadFull(file, data[len(head):]); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// Tensor is the tensor of that name.
func (f *File) Tensor(name string) (t Tensor, found bool) {
	for _, t := range f.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

// A FormatError says why a file is not a model that can be used.
type FormatError struct {
	File    string
	Problem string
}

func (e *FormatError) Error() string { return e.File + ": " + e.Problem }
