package tableio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/magic"
)

// A Source is a table to read: files, a reader, columns in memory, or several of them.
// The format (CSV or TSV, plain or compressed; Parquet; Arrow) is detected.
type Source struct{ inputs []input }

// input is one part of a source: a file, a reader or columns.
type input struct {
	name    string // for errors; the path of a file
	reader  *onceReader
	columns *dataset.Columns
	part    *inputPart // what of a file is read; nil for all of it
}

// onceReader is a reader that a source can open once.
type onceReader struct {
	io.Reader
	opened atomic.Bool
}

// open returns the error of a reader that cannot be read.
func (r *onceReader) open(name string) error {
	switch {
	case r.Reader == nil:
		return &dataset.InputError{File: name, Problem: "the reader is nil", Remedy: "give a reader of the table"}
	case r.opened.Swap(true):
		return &dataset.InputError{File: name, Problem: "the reader was already read", Remedy: "give a new reader for each call"}
	}
	return nil
}

// Files returns the table in one or several files. Each file has its own header, if it
// has one, and the order of the columns may differ between files. The path "-" is
// standard input, see [Format].
func Files(paths ...string) Source {
	var s Source
	for _, path := range paths {
		s.inputs = append(s.inputs, input{name: path})
	}
	return s
}

// Reader returns the table that r contains, in any supported format. Errors call it by
// name. A Parquet file is held in memory, because its end must be read first. The
// source can be read once.
func Reader(name string, r io.Reader) Source {
	return Source{inputs: []input{{name: name, reader: &onceReader{Reader: r}}}}
}

// Columns returns a table in memory.
func Columns(c *dataset.Columns) Source {
	return Source{inputs: []input{{name: dataset.ColumnsName, columns: c}}}
}

// NewColumns returns the table that columns make up. Their names must be unique, and all
// must have the same length.
func NewColumns(columns ...dataset.Column) (Source, error) {
	c, err := dataset.NewColumns(columns...)
	if err != nil {
		return Source{}, err
	}
	return Columns(c), nil
}

// Concat returns the rows of several sources, one after the other.
func Concat(sources ...Source) Source {
	var all Source
	for _, s := range sources {
		all.inputs = append(all.inputs, s.inputs...)
	}
	return all
}

// String returns the names of the inputs.
func (s Source) String() string {
	var names []string
	for _, in := range s.inputs {
		names = append(names, in.name)
	}
	return strings.Join(names, ", ")
}

// content is the open content of an input: text or a table with typed columns.
type content struct {
	name    string
	text    *delimited.Blocks
	typed   columnar.Table // nil for text
	memory  bool           // typed consists of columns in memory
	closing func()         // closes the file of text
	file    *os.File       // of text; nil if it is not a file
}

func (c *content) close() {
	if c.typed != nil {
		c.typed.Close()
		return
	}
	c.text.Close()
	c.closing()
}

// open opens an input. Text is read in blocks of the given size.
func (in input) open(stdin io.Reader, block int) (*content, error) {
	switch {
	case in.columns != nil:
		return &content{name: in.name, typed: columnar.FromMemory(in.columns), memory: true}, nil
	case in.reader != nil:
		if err := in.reader.open(in.name); err != nil {
			return nil, err
		}
		return openReader(in.name, in.reader, block)
	case in.name == "-":
		return openReader(in.name, stdin, block)
	}
	return openFile(in.name, block)
}

func openReader(name string, r io.Reader, block int) (*content, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, _ := buffered.Peek(magic.Size) // an error occurs again
	var typed columnar.Table
	var err error
	switch magic.Columnar(head) {
	case magic.Parquet:
		whole, readErr := io.ReadAll(buffered)
		if readErr != nil {
			return nil, &dataset.InputError{File: name, Problem: readErr.Error(), Remedy: "check the input", Err: readErr}
		}
		typed, err = columnar.OpenParquet(name, bytes.NewReader(whole), int64(len(whole)), func() {})
	case magic.Arrow, magic.ArrowStream:
		typed, err = columnar.OpenArrowStream(name, buffered, func() {})
	default:
		text, err := delimited.Open(name, buffered, block)
		if err != nil {
			return nil, err
		}
		return &content{name: name, text: text, closing: func() {}}, nil
	}
	if err != nil {
		return nil, err
	}
	return &content{name: name, typed: typed}, nil
}

func openFile(path string, block int) (*content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &dataset.InputError{File: path, Problem: openProblem(err), Remedy: "check the path", Err: err}
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, &dataset.InputError{File: path, Problem: "this is a directory", Remedy: "name the files in it"}
	}
	typed, err := columnar.OpenFile(path, f)
	if err != nil {
		return nil, err
	}
	if typed != nil {
		return &content{name: path, typed: typed}, nil
	}
	text, err := delimited.Open(path, f, block)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &content{name: path, text: text, closing: func() { f.Close() }, file: f}, nil
}

func openProblem(err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "no such file"
	case errors.Is(err, os.ErrPermission):
		return "permission denied"
	}
	return err.Error()
}

// size estimates the size of an input: bytes of text, or rows of typed columns. 0
// means unknown.
func (in input) size() int {
	if in.columns != nil {
		return in.columns.Len()
	}
	if in.reader != nil {
		return 0
	}
	info, err := os.Stat(in.name)
	if err != nil || !info.Mode().IsRegular() {
		return 0 // a pipe must not be opened twice
	}
	f, err := os.Open(in.name)
	if err != nil {
		return 0
	}
	defer f.Close()
	var head [delimited.TextHeadSize]byte
	n, _ := f.ReadAt(head[:], 0)
	switch magic.Columnar(head[:n]) {
	case magic.Parquet:
		return columnar.ParquetRows(f, info.Size())
	case magic.Arrow, magic.ArrowStream:
		return 0
	}
	var tail [4]byte
	if _, err := f.ReadAt(tail[:], max(0, info.Size()-4)); err != nil && err != io.EOF {
		return 0
	}
	return delimited.TextSize(head[:n], tail, info.Size())
}
