package publicdata

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// Folder is where the files of a data set go.
type Folder struct {
	Path  string
	Force bool // files that are there are replaced
}

// ExistsError says which files are in the way.
type ExistsError struct{ Files []string }

func (e *ExistsError) Error() string {
	are := "is"
	if len(e.Files) > 1 {
		are = "are"
	}
	return fmt.Sprintf("%s %s there already; choose another folder with -o, or give --force", strings.Join(e.Files, ", "), are)
}

// ReadError says that a file to be made is one that is read.
type ReadError struct{ File string }

func (e *ReadError) Error() string {
	return e.File + " is part of the download, which would be lost; choose another folder with -o"
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// check refuses, before any work, files that are there, and those that the work
// reads even where it is forced. It makes the folder.
func (f Folder) check(inputs []string, names ...string) error {
	var there []string
	for _, name := range names {
		path := filepath.Join(f.Path, name)
		if _, err := os.Lstat(path); err == nil {
			if slices.ContainsFunc(inputs, func(input string) bool { return sameFile(input, path) }) {
				return &ReadError{path}
			}
			there = append(there, path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}
	if len(there) > 0 && !f.Force {
		return &ExistsError{there}
	}
	if err := os.MkdirAll(f.Path, 0o777); err != nil {
		return fmt.Errorf("the folder %s cannot be made: %w", f.Path, err)
	}
	return nil
}

// write makes several files at once, all of them or none: write is given a writer
// for each. Those whose name ends in .gz are compressed.
func (f Folder) write(names []string, write func(w []io.Writer) error) error {
	var made []string
	var problem error // of write itself, which is no failure of the files around it
	var open func(rest []string, w []io.Writer) error
	open = func(rest []string, w []io.Writer) error {
		if len(rest) == 0 {
			problem = write(w)
			return problem
		}
		path := filepath.Join(f.Path, rest[0])
		err := atomicfile.Write(path, func(out io.Writer) error {
			out = namedWriter{out, path}
			if !strings.HasSuffix(path, ".gz") {
				return open(rest[1:], append(w, out))
			}
			// Speed before size: the text is compressed as fast as it is made.
			z, err := gzip.NewWriterLevel(out, gzip.BestSpeed)
			if err != nil {
				return err
			}
			if err := open(rest[1:], append(w, z)); err != nil {
				return err
			}
			return z.Close()
		})
		if err == nil {
			made = append(made, path)
		}
		return err
	}
	err := open(names, nil)
	if err != nil {
		for _, path := range made {
			os.Remove(path)
		}
	}
	if problem != nil {
		return problem
	}
	return err
}

// namedWriter says which of several files could not be written.
type namedWriter struct {
	io.Writer
	path string
}

func (w namedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err // the name there is that of a temporary file
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", w.path, err)
	}
	return n, err
}

// appendField appends a field of a CSV file, in quotes where it needs them.
func appendField(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\n\r") {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}

// appendLine appends a line of a CSV file.
func appendLine(dst []byte, fields []string) []byte {
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendField(dst, field)
	}
	return append(dst, '\n')
}
