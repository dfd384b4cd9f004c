package experiment

import (
	"os"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/internal/specfile"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A Spec is an experiment: configurations on the same splits of one table.
type Spec struct {
	Name           string
	Output         Folder
	Splits         []Split
	Configurations []Configuration
	Against        string   // the reference of differences, "" for none
	Measures       []string // what the table shows; the first is told while working
	Keep           bool     // whether models are kept
}

// A Split is how the rows are divided, and the seed of all that is random on it,
// the fits included.
type Split struct {
	Split string
	Seed  uint64
}

// A Configuration is a specification to be measured.
type Configuration struct {
	Name string
	Spec spec.Spec // filled and valid; its split and seed are not used
	Tune *Tune     // nil takes the specification as it is
}

// Tune says how a configuration is tuned: once, on the first split, or on each.
type Tune struct {
	Trials    int
	Objective string
	Sampler   string
	Halving   string
	Each      bool
}

// Load reads an experiment's file and the specifications it names, which are
// looked for beside it. All that is wrong is returned as spec.Problems.
func Load(file string) (Spec, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Spec{}, err
	}
	return Parse(text, file)
}

// Parse is Load of a text; name is the file's, beside which specifications are.
func Parse(text []byte, name string) (Spec, error) {
	r := &reader{specfile.Reader{File: name, Kind: "experiment", Remedy: "docs/concepts/experiments.md shows one"}, filepath.Dir(name)}
	root, err := r.Root(text)
	if err != nil {
		return Spec{}, err
	}
	spec := r.experiment(root)
	if len(r.Problems) > 0 {
		return Spec{}, r.Problems
	}
	return spec, nil
}
