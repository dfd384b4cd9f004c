// Package train turns a specification and a table into a fitted model: it splits the
// rows, builds the field, runs a solver, learns the noise and the conformal
// correction, and compares the result with baseline formulas.
package train

import (
	"context"
	"io"
	"runtime/debug"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/paged"
	"github.com/kernel-fried-tensor/kft/internal/sysmemory"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/checkpoint"
	"github.com/kernel-fried-tensor/kft/train/collective"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/train/operators"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Options specify how to run a fit. Only TimeBudget, Share, HoldOut and Compare change
// the result.
type Options struct {
	Threads    int           // 0 for as many as the process may use
	TimeBudget time.Duration // for training; 0 for no limit
	Share      float64       // share of the training rows to use; smaller shares are subsets of larger ones; 0 for all
	HoldOut    bool          // do not use the validation rows that a conformal correction would need, even without one; fits with and without one are then comparable

	// Chosen says that the terms were chosen by comparisons: a covariate without a term is useless, not forgotten.
	Chosen bool

	// Compare makes a fit that is only compared with others: the validation set is
	// reduced to at most compareRows rows, and only it is measured. There are neither
	// baselines nor a report of the other parts.
	Compare bool

	// Memory is a limit in bytes, 0 for what the machine has for this process. A fit that would exceed it keeps its rows in
	// pages on disk, in the folder Scratch ("" for the usual one), see package paged. One
	// that would exceed it even so is refused.
	Memory  int64
	Scratch string

	Checkpoint      string        // folder for checkpoints, "" for none
	CheckpointEvery time.Duration // minimum time between two checkpoints; 0 saves after every block
	Resume          bool          // continue from the folder's checkpoint, if there is one

	Ranks    collective.Ranks // processes that divide the work; nil for none
	manyRows int              // see many
	machine  int64            // memory of the machine, 0 to ask it

	Tables   map[string]tableio.Source // named tables in place of the files of side tables
	Stdin    io.Reader                 // the table called "-"; nil is the process's standard input
	Progress func(Event)               // receives progress; may be nil
}

// An Event describes the progress of a fit.
type Event struct {
	Stage   string        // choose, read, plan, baseline, fit, evaluate or refit
	Fit     *solver.Event // in stage fit
	ValidR2 *float64      // with a point of a fit: R2 on the validation set and the modelling scale, if there is one
	Note    string        // a message for the user
}

// A Report is the result of a fit: the record that the model keeps, and what depends
// on the machine.
type Report struct {
	model.Record
	Seconds map[string]float64 `json:"seconds"` // by stage
	Passes  int                `json:"passes"`
	PeakRSS int64              `json:"peak_rss_bytes"`
	Trials  []solver.Trial     `json:"trials"`
	Weights int                `json:"weights"`
	CPU     string             `json:"cpu"` // instruction set
	Threads int                `json:"threads"`
	Spec    spec.Spec          `json:"spec"`

	origin    conformal.Origin  // see run
	held      tt.Moments        // of the test rows, for a refit on all rows
	refused   string            // the refit that exceeds the limit of memory, "" for none
	settings  baseline.Chosen   // of formulas, for a refit
	ofTargets []baseline.Chosen // the same of each target of several

	// Communication is what passed between ranks, nil without them.
	Communication *collective.Communication `json:"communication,omitempty"`

	// CheckpointWarning says why checkpoints could not be saved, "" if they were.
	CheckpointWarning string `json:"checkpoint_warning,omitempty"`
}

// Fit trains a specification that leaves nothing to choose (see package search for
// those that do) and does not refit (see [Refit]) on data that [Read] returned. Cancelling ctx during training is not
// an error: Fit returns the best model so far, and the report says so.
func Fit(ctx context.Context, s spec.Spec, data *fitdata.Data, opt Options) (*model.Model, *Report, error) {
	return start(ctx, s, data, opt, false)
}

// ReadAndFit reads a table for one fit. It needs less memory than Read and Fit,
// because the table is released once its rows are assigned to the parts.
func ReadAndFit(ctx context.Context, s spec.Spec, source tableio.Source, opt Options) (*model.Model, *Report, error) {
	data, err := readTogether(ctx, s, source, opt, true)
	if err != nil {
		return nil, nil, err
	}
	return start(ctx, s, data, opt, true)
}

func start(ctx context.Context, s spec.Spec, data *fitdata.Data, opt Options, release bool) (m *model.Model, report *Report, err error) {
	r, err := newRun(s, data, opt, release)
	if err != nil {
		return nil, nil, err
	}
	defer r.closePages(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // for Recover
	defer r.recoverPages(&err)
	defer r.leavePages(&err)
	if err := r.openCheckpoint(); err != nil {
		return nil, nil, err
	}
	defer r.closeCheckpoint()
	return r.run(ctx)
}

// A run is the state of one fit.
type run struct {
	spec        spec.Spec
	opt         Options
	engine      backend.Backend
	data        *fitdata.Data
	measured    *model.Model // the model of the first training in a refit, else nil
	last        dataset.Part // the training rows are those of all parts up to this one; more than Train in a refit
	release     bool         // the table's columns are not needed after the parts are taken
	split       *split.Split
	parts       [3]solver.Observations // by dataset.Part; Y in the user's units; see part
	divided     bool                   // of the training rows, this process has its run alone
	held        solver.Observations    // validation rows kept for the conformal correction
	drawn       [][]int                // by drawHeld, until they are used: the rows that are held out, and the others
	trained     [][]int32              // number of training rows by mode and code
	standard    []float32              // targets of the training rows on the modelling scale, standardised
	settings    baseline.Chosen        // of formulas, once they are chosen
	ofTargets   []baseline.Chosen      // the same of each target of several
	sampled     [3][]int32             // by dataset.Part: rows that formulas are measured on, nil for all
	horizons    [3][]int32             // by dataset.Part: periods from the last training period
	heldHorizon []int32                // of held
	recent      *blend.Table           // recent values of the training rows, if forecasts may follow them
	earlier     []*fitdata.Data        // of earlier origins, at which forecasts are measured too
	origins     []*run                 // this and those at earlier origins
	origin      conformal.Origin       // this one, if the conformal correction comes from forecasts of several
	model       *model.Model
	field       *tt.Field
	operators   *operators.Set
	moments     map[dataset.Part]tt.Moments
	some        *someRows      // training rows of a large table; nil if they are not asked for
	levels      []float64      // different targets, nil if they are many
	zeros       [3]int         // rows that were added to each part for cells without a row
	when        *baseline.Time // nil if the validation and test rows are not after the training rows
	between     *baseline.Time // of one series whose rows lie between each other, else nil
	warnings    []string
	notes       []string
	checkpoint  *checkpoint.Folder // nil if none are saved
	seconds     map[string]float64
	began       time.Time

	checkpointWarning string // why the last checkpoint could not be saved

	planned  *plannedRows // what the solver leaves for the evaluation; nil without it
	pages    *paged.Store // of arrays of the length of the data; nil if they are in memory
	traffic  collective.Meter
	refused  string       // see Report
	garbage  int64        // limit of the memory that the collector of garbage sees, while the solver runs; 0 for none
	reserved *paged.Store // in place of pages over several ranks, whose memory is not that of the garbage collector
}

// stage runs work and records its time.
func (r *run) stage(name string, work func() error) error {
	if r.opt.Progress != nil {
		r.opt.Progress(Event{Stage: name})
	}
	began := time.Now()
	err := work()
	r.seconds[name] += time.Since(began).Seconds()
	return err
}

// run executes the stages of a fit.
func (r *run) run(ctx context.Context) (*model.Model, *Report, error) {
	var solved solver.Report
	formulas := func() []model.BaselineScores { return nil }
	steps := []struct {
		name string
		work func() error
	}{
		{"plan", func() error { return r.planWithin(ctx) }},
		{"baseline", func() error {
			if !r.opt.Compare {
				formulas = r.baselineBeside()
			}
			return ctx.Err()
		}},
		{"fit", func() (err error) { solved, err = r.solve(ctx); return err }},
		{"evaluate", func() error { return r.complete(ctx, solved, formulas()) }},
	}
	for _, s := range steps {
		if err := r.stage(s.name, s.work); err != nil {
			return nil, nil, err
		}
	}
	r.seconds["total"] = r.data.Seconds() + time.Since(r.began).Seconds()
	report := &Report{Record: r.model.Record(), Seconds: r.seconds, Passes: solved.Passes, PeakRSS: sysmemory.Peak(), Trials: solved.Trials,
		Weights: r.model.Weights(), CPU: r.engine.Name(), Threads: r.engine.Threads(), Spec: r.spec, CheckpointWarning: r.checkpointWarning,
		Communication: r.traffic.Sum(r.opt.Ranks), settings: r.settings, ofTargets: r.ofTargets, refused: r.refused, origin: r.origin}
	if r.spec.Fit.Refit == spec.RefitAll && !r.opt.Compare {
		report.held = r.heldOut()
	}
	return r.model, report, nil
}
