package experiment

import (
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/internal/specfile"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A Spec describes an experiment: configurations on the same splits of one table, or of
// several tables.
type Spec struct {
	Name           string
	Output         Folder
	Splits         []Split
	Configurations []Configuration
	Against        string   // the reference configuration of differences, "" for none
	Measures       []string // columns of the table; the first is part of the progress
	KeepModels     bool
	Warnings       []string // about deprecated keys and values of the specifications

	// Tables are experiments on one table each, with the same splits and configurations.
	// If there are any, the experiment itself has no configurations.
	Tables []Spec
}

// A Split specifies how the rows are divided. The seed is used for the split and for the
// fits on it.
type Split struct {
	Split string
	Seed  uint64
}

// A Configuration is a specification to fit and measure.
type Configuration struct {
	Name string
	Spec spec.Spec // filled and valid; split and seed are not used
	Tune *Tune     // nil to fit the specification as it is
}

// Tune specifies how a configuration is tuned: on the first split, or on each.
type Tune struct {
	Trials    int
	Objective string
	Sampler   string
	Halving   string
	Each      bool
}

// Load reads the file of an experiment and the specifications that it names, relative
// to its folder. Everything that is wrong is returned as [spec.Problems].
func Load(file string) (Spec, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Spec{}, err
	}
	return Parse(text, file)
}

// Parse reads an experiment in YAML or JSON. The name is that of its file, whose folder
// contains the specifications.
func Parse(text []byte, name string) (Spec, error) {
	r := &reader{
		Reader: specfile.Reader{File: name, Kind: "experiment", Remedy: "docs/concepts/experiments.md shows an example"},
		folder: filepath.Dir(name),
	}
	root, err := r.Root(text)
	if err != nil {
		return Spec{}, err
	}
	exp := r.experiments(root)
	if len(r.Problems) > 0 {
		return Spec{}, r.Problems
	}
	exp.Warnings = r.warnings
	return exp, nil
}
