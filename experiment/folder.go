package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// Usage is what a piece of work took.
type Usage struct {
	Seconds float64 `json:"seconds"`        // wall, reading included
	CPU     float64 `json:"cpu_seconds"`    // user and system
	PeakRSS int64   `json:"peak_rss_bytes"` // the most memory held
}

// Add returns what two pieces of work took, one after the other.
func (u Usage) Add(v Usage) Usage {
	return Usage{Seconds: u.Seconds + v.Seconds, CPU: u.CPU + v.CPU, PeakRSS: max(u.PeakRSS, v.PeakRSS)}
}

// Measures are figures by name, as kft evaluate --json names them, lists among
// them.
type Measures map[string]json.RawMessage

// A Cell is one configuration on one split. A measure that a tool does not give is
// absent or null.
type Cell struct {
	Configuration string            `json:"configuration"`
	Split         int               `json:"split"` // from 1
	Tool          string            `json:"tool"`
	Values        map[string]string `json:"values,omitempty"` // chosen by tuning
	Usage
	Definition string   `json:"definition"`        // what must be unchanged for the cell to count as done
	Problem    string   `json:"problem,omitempty"` // why it failed; then there are no measures
	Valid      Measures `json:"valid,omitempty"`
	Test       Measures `json:"test,omitempty"`
}

// A Tuning is the search of a configuration.
type Tuning struct {
	Configuration string `json:"configuration"`
	Tool          string `json:"tool"`
	Split         int    `json:"split"`
	Objective     string `json:"objective"`
	Trials        int    `json:"trials"`
	Usage
	Definition string            `json:"definition,omitempty"`
	Values     map[string]string `json:"values"`            // the best; none while it is not finished
	Problem    string            `json:"problem,omitempty"` // why it failed

	name string // of its file, without .json
}

// A Plan is what the table needs to know of an experiment besides its cells.
type Plan struct {
	Name           string   `json:"name"`
	Configurations []string `json:"configurations"`
	Splits         int      `json:"splits"`
	Tuned          []string `json:"tuned"` // the files in tuning that count, without .json; null where all do
	Against        string   `json:"against,omitempty"`
	Measures       []string `json:"measures"`
}

// A Folder holds the results of an experiment.
type Folder string

// SplitFile is where split n, from 1, is recorded.
func (f Folder) SplitFile(n int) string {
	return filepath.Join(string(f), "splits", strconv.Itoa(n)+".csv.gz")
}

func (f Folder) cellFile(configuration string, split int) string {
	return filepath.Join(string(f), "cells", configuration+"."+strconv.Itoa(split)+".json")
}

func (f Folder) planFile() string { return filepath.Join(string(f), "experiment.json") }

// Results is all that a folder holds.
type Results struct {
	Plan   Plan // empty where no experiment was run here
	Cells  []Cell
	Tuning []Tuning
}

// Read reads a folder of results.
func Read(folder Folder) (Results, error) {
	var r Results
	if _, err := os.Stat(filepath.Join(string(folder), "cells")); err != nil {
		return r, fmt.Errorf("%s: there are no results here (a folder cells with a file a cell); kft experiment --spec FILE makes them", folder)
	}
	if err := readJSON(folder.planFile(), &r.Plan); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	var err error
	files := map[string]string{}
	r.Cells, err = readAll(filepath.Join(string(folder), "cells"), func(c *Cell, file string) error {
		key := c.Configuration + "." + strconv.Itoa(c.Split)
		switch before := files[key]; {
		case c.Configuration == "" || c.Split < 1:
			return fmt.Errorf("%s: the cell has no configuration, or no split from 1 on", file)
		case before != "":
			return fmt.Errorf("%s and %s: two files are of %s, split %d; remove one", before, file, c.Configuration, c.Split)
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
		return r, fmt.Errorf("%s: there are no cells yet", folder)
	}
	return r, nil
}

// readAll reads the JSON files of a folder by their names, and hands each to check;
// none where there is no folder.
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

// writeJSON writes a file that is whole or not there, and its folder.
func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return atomicfile.Write(file, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// configurations are those of the plan in its order, then others by name.
func (r Results) configurations() []string {
	names := slices.Clone(r.Plan.Configurations)
	var others []string
	for _, c := range r.Cells {
		if !slices.Contains(names, c.Configuration) && !slices.Contains(others, c.Configuration) {
			others = append(others, c.Configuration)
		}
	}
	slices.Sort(others)
	return append(names, others...)
}

// cells are those of a configuration by split.
func (r Results) cells(configuration string) map[int]Cell {
	all := map[int]Cell{}
	for _, c := range r.Cells {
		if c.Configuration == configuration {
			all[c.Split] = c
		}
	}
	return all
}

// splits is how many there are: of the plan, or without one the last that a cell
// has.
func (r Results) splits() int {
	n := r.Plan.Splits
	if n > 0 {
		return n
	}
	for _, c := range r.Cells {
		n = max(n, c.Split)
	}
	return n
}

// tunings are the searches that the configuration's cells rest on; one of an
// earlier plan, whose file is still there, is not.
func (r Results) tunings(configuration string) []Tuning {
	planned := r.Plan.Tuned != nil && slices.Contains(r.Plan.Configurations, configuration)
	var all []Tuning
	for _, t := range r.Tuning {
		if t.Configuration == configuration && (!planned || slices.Contains(r.Plan.Tuned, t.name)) {
			all = append(all, t)
		}
	}
	return all
}
