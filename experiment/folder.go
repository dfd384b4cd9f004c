package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// A Folder holds the results of an experiment.
type Folder string

// SplitFile returns the file of split n, from 1.
func (f Folder) SplitFile(n int) string {
	return filepath.Join(string(f), "splits", strconv.Itoa(n)+".csv.gz")
}

func (f Folder) cellFile(configuration string, split int) string {
	return filepath.Join(string(f), "cells", configuration+"."+strconv.Itoa(split)+".json")
}

func (f Folder) planFile() string { return filepath.Join(string(f), "experiment.json") }

// Read reads a folder of results.
func Read(folder Folder) (Results, error) {
	var r Results
	if _, err := os.Stat(filepath.Join(string(folder), "cells")); err != nil {
		return r, fmt.Errorf("%s: no experiment results here: the folder cells is missing; run an experiment with this folder as its output", folder)
	}
	if err := readJSON(folder.planFile(), &r.Plan); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	var err error
	files := map[string]string{}
	r.Cells, err = readAll(filepath.Join(string(folder), "cells"), func(c *Cell, file string) error {
		key := c.Configuration + "." + strconv.Itoa(c.Split)
		switch other := files[key]; {
		case c.Configuration == "" || c.Split < 1:
			return fmt.Errorf("%s: the cell has no configuration, or no split of 1 or more; remove the file", file)
		case other != "":
			return fmt.Errorf("%s and %s: two files for configuration %s, split %d; remove one", other, file, c.Configuration, c.Split)
		}
		files[key] = file
		return nil
	})
	if err != nil {
		return r, err
	}
	r.Tuning, err = readAll(filepath.Join(string(folder), "tuning"), func(t *Tuning, file string) error {
		t.name = strings.TrimSuffix(filepath.Base(file), ".json")
		return nil
	})
	if err != nil {
		return r, err
	}
	if len(r.Cells) == 0 && len(r.Plan.Configurations) == 0 {
		return r, fmt.Errorf("%s: no cells yet", folder)
	}
	return r, nil
}

// readAll reads the JSON files of a folder in the order of their names and passes each
// to check. A folder that does not exist has no files.
func readAll[T any](folder string, check func(v *T, file string) error) ([]T, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []T
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		var v T
		file := filepath.Join(folder, e.Name())
		if err := readJSON(file, &v); err != nil {
			return nil, err
		}
		if err := check(&v, file); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// writeJSON writes a file completely or not at all, and creates its folder.
func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return writeFile(file, append(text, '\n'))
}

// writeFile writes a file completely or not at all.
func writeFile(file string, text []byte) error {
	return atomicfile.Write(file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
