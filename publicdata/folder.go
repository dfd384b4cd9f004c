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

// Folder is the output directory of a data set.
type Folder struct {
	Path  string
	Force bool // overwrite existing files
}

// ExistsError reports output files that already exist.
type ExistsError struct{ Files []string }

func (e *ExistsError) Error() string {
	verb := "exists"
	if len(e.Files) > 1 {
		verb = "exist"
	}
	return fmt.Sprintf("%s already %s; choose another folder or allow overwriting", strings.Join(e.Files, ", "), verb)
}

// InputOverwriteError reports an output file that is also an input file.
type InputOverwriteError struct{ File string }

func (e *InputOverwriteError) Error() string {
	return e.File + " is part of the download and would be overwritten; choose another folder"
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// check creates the folder. It fails before any work is done if an output file
// exists and Force is not set, or if an output file is also an input.
func (f Folder) check(inputs []string, names ...string) error {
	var there []string
	for _, name := range names {
		path := filepath.Join(f.Path, name)
		if _, err := os.Lstat(path); err == nil {
			if slices.ContainsFunc(inputs, func(input string) bool { return sameFile(input, path) }) {
				return &InputOverwriteError{path}
			}
			there = append(there, path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
	}
	if len(there) > 0 && !f.Force {
		return &ExistsError{there}
	}
	if err := os.MkdirAll(f.Path, 0o777); err != nil {
		return fmt.Errorf("cannot create the folder %s: %w", f.Path, err)
	}
	return nil
}

// write creates either all of the named files or none of them. The callback gets
// one writer per file. Files whose name ends in .gz are compressed.
func (f Folder) write(names []string, write func(w []io.Writer) error) error {
	var made []string
	var problem error // error of the callback itself, not of the files
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
			// BestSpeed: compression would otherwise be the bottleneck.
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

// namedWriter adds the file name to write errors.
type namedWriter struct {
	io.Writer
	path string
}

func (w namedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err // the inner path is that of a temporary file
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", w.path, err)
	}
	return n, err
}

// appendField appends a CSV field, quoted if necessary.
func appendField(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\n\r") {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(text, `"`, `""`)...)
	return append(dst, '"')
}

// appendLine appends a CSV line.
func appendLine(dst []byte, fields []string) []byte {
	for i, field := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendField(dst, field)
	}
	return append(dst, '\n')
}
