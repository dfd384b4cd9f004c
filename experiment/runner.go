package experiment

import (
	"context"

	"github.com/kernel-fried-tensor/kft/spec"
)

// A Runner does the work of an experiment. Each call should use its own process, so
// that its time and memory can be measured. Files are named by their paths.
type Runner interface {
	// Split writes the part of each row of a table to a file.
	Split(ctx context.Context, data spec.Data, split Split, to string) error
	// Tune searches for better values of the specification and writes the best one.
	// An existing study is continued. The usage is the total of all runs that worked
	// on the study. It is valid also if err is not nil.
	Tune(ctx context.Context, task TuneTask) (values map[string]string, used Usage, err error)
	// Fit trains the specification in a file and measures it. The model is written to
	// a file, unless its name is "".
	Fit(ctx context.Context, specFile, modelFile string) (Fitted, error)
}

// A TuneTask is the search of one configuration.
type TuneTask struct {
	Tune
	Spec  string // file of the specification
	Study string // file of the trials
	Best  string // file for the best specification
	Used  Usage  // by earlier runs, without those that were killed
}

// Fitted is the result of a fit. Measures have the names of kft evaluate --json.
type Fitted struct {
	Usage
	Valid, Test Measures
	Formula     *Formula // nil if there is none
}
