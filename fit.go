package kft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Options say how to run a fit; none of them changes the result but for
// TimeBudget and Share.
type Options struct {
	Threads    int           // 0 takes as many as the process may use
	TimeBudget time.Duration // for training; 0 is none
	Share      float64       // of the training rows to be used, a smaller one being within a greater; 0 is all

	Checkpoint      string        // folder for checkpoints, "" for none
	CheckpointEvery time.Duration // least time between two; 0 is after every block
	Resume          bool          // go on from the folder's checkpoint, if there is one

	Stdin    io.Reader   // the table called "-"; nil is the process's standard input
	Progress func(Event) // nil says nothing

	table *splitTable // read already; nil reads what the specification names
}

// Event tells how far Fit is.
type Event struct {
	Stage   string     // choose, read, plan, baseline, fit, evaluate
	Fit     *fit.Event // in stage fit
	ValidR2 *float64   // with a point of a fit: R2 of the valid part on the modelling scale, where there is one
	Note    string     // something worth knowing now
}

// A Report is what a fit found, as `kft fit --json` prints it.
type Report struct {
	Train    Score              `json:"train"`
	Valid    Score              `json:"valid"`
	Test     Score              `json:"test"`
	Periods  map[string]string  `json:"periods,omitempty"` // of the parts of a split by time
	Baseline []BaselineScores   `json:"baseline"`
	Seconds  map[string]float64 `json:"seconds"`
	Passes   int                `json:"passes"`
	PeakRSS  int64              `json:"peak_rss_bytes"`
	Stop     fit.Stop           `json:"stop"`
	Ridge    fit.Ridge          `json:"ridge"`
	Trials   []fit.Trial        `json:"trials"`
	History  []fit.Point        `json:"history"`
	Side     []SideReport       `json:"side,omitempty"`
	Choices  []Choice           `json:"choices,omitempty"` // where a scale or likelihood was left open
	Weights  int                `json:"weights"`
	Path     string             `json:"cpu"`
	Threads  int                `json:"threads"`
	Warnings []string           `json:"warnings"`
	Spec     Spec               `json:"spec"`
}

// Fit reads the table that the specification names, splits it, trains the model
// and measures it beside the baseline formulas. Cancelling ctx while it trains
// is no error: the best model so far is returned, and the report says so.
func Fit(ctx context.Context, spec Spec, opt Options) (*Model, *Report, error) {
	spec.Fill()
	if err := spec.Validate(); err != nil {
		return nil, nil, err
	}
	spec.Search = nil
	if open(spec) {
		return choose(ctx, spec, opt)
	}
	return fitOne(ctx, spec, opt)
}

// fitting is one call of Fit.
type fitting struct {
	spec        Spec
	opt         Options
	engine      backend.Backend
	table       *dataset.Table
	split       *dataset.Split
	parts       [3]fit.Observations // by dataset.Part; Y in the user's units
	model       *Model
	side        []*sideMode        // by mode
	extra       []*sideinfo.Joined // by mode: side rows of ids not in the data
	sideReports []SideReport
	held        fit.Observations // the part of the valid rows that the conformal layer is made of
	moments     map[dataset.Part]tt.Moments
	warnings    []string
	seconds     map[string]float64
	began       time.Time
}

// stage runs work and notes its time.
func (r *fitting) stage(name string, work func() error) error {
	if r.opt.Progress != nil {
		r.opt.Progress(Event{Stage: name})
	}
	began := time.Now()
	err := work()
	r.seconds[name] += time.Since(began).Seconds()
	return err
}

func (r *fitting) run(ctx context.Context) (*Model, *Report, error) {
	var solved fit.Report
	var scores []BaselineScores
	steps := []struct {
		name string
		work func() error
	}{
		{"read", func() error { return r.read(ctx) }},
		{"plan", func() error { return r.plan(ctx) }},
		{"baseline", func() error { scores = r.baseline(); return ctx.Err() }},
		{"fit", func() (err error) { solved, err = r.solve(ctx); return err }},
		{"evaluate", func() error { return r.evaluate(solved, scores) }},
	}
	for _, s := range steps {
		if err := r.stage(s.name, s.work); err != nil {
			return nil, nil, err
		}
	}
	r.seconds["total"] = time.Since(r.began).Seconds()
	about := r.model.about
	report := &Report{Train: about.Train, Valid: about.Valid, Test: about.Test, Periods: about.Periods, Baseline: about.Baseline, Seconds: r.seconds,
		Passes: solved.Passes, PeakRSS: peakRSS(), Stop: solved.Stop, Ridge: solved.Ridge, Trials: solved.Trials, History: solved.Points,
		Side: about.Side, Weights: r.model.Weights(), Path: r.engine.Name(), Threads: r.engine.Threads(), Warnings: about.Warnings, Spec: r.spec}
	return r.model, report, nil
}

// read takes the table that was read already, or reads it.
func (r *fitting) read(ctx context.Context) error {
	t := r.opt.table
	if t == nil {
		var err error
		if t, err = readSplit(ctx, r.spec, r.opt); err != nil {
			return err
		}
	}
	table := t.table // a copy, for plan takes the columns out of it
	r.table, r.split = &table, t.split
	if share := r.opt.Share; share > 0 && share < 1 {
		all := r.split.Count(dataset.Train)
		if r.split = shareOf(r.split, share, r.spec.Seed); r.split.Count(dataset.Train) == 0 {
			return fmt.Errorf("a share of %.2g of %d training rows is none; the table is too small to use a part of it", share, all)
		}
	}
	if r.split.Note != "" {
		r.warnings = append(r.warnings, "split "+r.split.Spec+": "+r.split.Note)
	}
	return nil
}

// splitTable is a table and the parts of its rows. Fits do not change it.
type splitTable struct {
	table dataset.Table
	split *dataset.Split
}

// readSplit reads and splits the table.
func readSplit(ctx context.Context, spec Spec, opt Options) (*splitTable, error) {
	how, err := dataset.ParseSplit(spec.Split)
	if err != nil {
		return nil, err
	}
	schema, format, err := tableOf(spec)
	if err != nil {
		return nil, err
	}
	schema.Part = how.Column()
	format.Stdin = opt.Stdin
	table, err := dataset.Read(ctx, spec.Data.Files, schema, format, opt.Threads)
	if err != nil {
		return nil, err
	}
	for m, d := range table.Dicts {
		if d.Len() == 1 {
			return nil, fmt.Errorf("mode %q has one id only, %q: it says nothing; leave it out of --modes", table.Modes[m].Name, d.ID(0))
		}
	}
	split, err := how.Apply(table, spec.Seed)
	if err != nil {
		return nil, err
	}
	return &splitTable{table: *table, split: split}, nil
}

// tableOf returns how to read the specification's table.
func tableOf(spec Spec) (dataset.Schema, dataset.Format, error) {
	schema := dataset.Schema{Target: spec.Data.Target, Weight: spec.Data.Weight, Duplicates: spec.Data.Duplicates}
	var format dataset.Format
	for _, text := range spec.Data.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return schema, format, err
		}
		schema.Modes = append(schema.Modes, mode)
	}
	var err error
	if format.Delimiter, err = dataset.ParseDelimiter(spec.Data.Delimiter); err != nil {
		return schema, format, err
	}
	format.Header, err = dataset.ParseHeader(spec.Data.Header)
	return schema, format, err
}

// plan divides the observations, builds the field and fits the scale.
func (r *fitting) plan(ctx context.Context) error {
	if err := r.checkDomain(); err != nil {
		return err
	}
	for p := range r.parts {
		r.parts[p] = take(r.table, r.split.Parts, dataset.Part(p))
	}
	r.table.Codes, r.table.Y, r.table.W = nil, nil, nil // the parts hold them now
	train := r.parts[dataset.Train]
	terms, err := r.spec.ParseTerms()
	if err != nil {
		return err
	}
	sizes := make([]int, len(r.table.Dicts))
	for i, d := range r.table.Dicts {
		sizes[i] = d.Len()
	}
	if err := r.readSide(ctx); err != nil {
		return err
	}
	other := make([][]int32, len(train.Codes))
	for m := range other {
		if len(r.sideReports) > 0 {
			other[m] = slices.Concat(r.parts[dataset.Valid].Codes[m], r.parts[dataset.Test].Codes[m])
		}
	}
	data := model.Table{Modes: r.spec.ModeNames(), Sizes: sizes, Train: train.Codes, Other: other}
	field, notices, err := model.Build(terms, data, r.sideInfo())
	if err != nil {
		return err
	}
	r.warnings = append(r.warnings, notices...)
	if warning := coarseTarget(r.spec.Data.Target, train.Y); warning != "" {
		r.warnings = append(r.warnings, warning)
	}
	if err := field.SetFamily(r.spec.Uncertainty.Family()); err != nil {
		return err
	}
	scale, err := r.newScale()
	if err != nil {
		return err
	}
	r.resolveConformal()
	r.model = &Model{spec: r.spec, modes: r.table.Modes, dicts: r.table.Dicts, field: field, scale: scale, parts: r.sourceParts(), side: r.side, seen: countRows(train.Codes, sizes)}
	r.model.markTrained()
	r.warnUnused()
	if err := r.model.resolve(); err != nil {
		return err
	}
	if err := r.holdOut(); err != nil {
		return err
	}
	// Measured as predicted: by the prior, where nothing is known of an id.
	for _, p := range []dataset.Part{dataset.Valid, dataset.Test} {
		r.model.forgetUntrained(r.parts[p].Codes)
	}
	return nil
}

// sourceParts returns the part of each row of the input, unused for dropped
// ones.
func (r *fitting) sourceParts() []dataset.Part {
	if r.table.Row == nil {
		return r.split.Parts
	}
	parts := make([]dataset.Part, r.table.Counts.Rows)
	for i := range parts {
		parts[i] = dataset.Unused
	}
	for i, p := range r.split.Parts {
		parts[r.table.SourceRow(i)] = p
	}
	return parts
}

// checkDomain refuses a target that the transform cannot take, in any part,
// with its place.
func (r *fitting) checkDomain() error {
	transform := r.spec.Transform
	if r.spec.Uncertainty.Counts() {
		transform = model.LogRate
	}
	err := model.CheckDomain(transform, r.table.Y)
	var domain *model.DomainError
	if errors.As(err, &domain) {
		return fmt.Errorf("%s: data row %d, column %s: %w", strings.Join(r.spec.Data.Files, ", "), r.table.SourceRow(domain.Position)+1, r.spec.Data.Target, err)
	}
	return err
}

// take copies the observations of one part.
func take(t *dataset.Table, parts []dataset.Part, part dataset.Part) fit.Observations {
	n := 0
	for _, p := range parts {
		if p == part {
			n++
		}
	}
	o := fit.Observations{Codes: make([][]int32, len(t.Codes)), Y: pick(t.Y, parts, part, n)}
	for m := range t.Codes {
		o.Codes[m] = pick(t.Codes[m], parts, part, n)
	}
	if t.W != nil {
		o.W = pick(t.W, parts, part, n)
	}
	return o
}

func pick[T any](src []T, parts []dataset.Part, part dataset.Part, n int) []T {
	dst := make([]T, 0, n)
	for i, v := range src {
		if parts[i] == part {
			dst = append(dst, v)
		}
	}
	return dst
}

// solve trains on the modelling scale.
func (r *fitting) solve(ctx context.Context) (fit.Report, error) {
	problem := &fit.Problem{Field: r.model.field, Backend: r.engine}
	problem.Train, problem.Valid = r.parts[dataset.Train], r.parts[dataset.Valid]
	for _, o := range []*fit.Observations{&problem.Train, &problem.Valid} {
		y := make([]float32, o.Len())
		if err := r.model.scale.Forward(y, o.Y); err != nil {
			return fit.Report{}, err
		}
		o.Y = y
	}
	if r.spec.Side.LengthScales == "learn" {
		problem.Kernels = r.kernels()
	}
	opt := solverOptions(r.spec, r.opt)
	if r.spec.Uncertainty.Counts() {
		opt.Counts = &fit.Counts{Law: r.spec.Uncertainty.Likelihood, Offset: r.model.scale.Center}
	}
	opt.Noise = r.noiseModel()
	if r.opt.Progress != nil {
		spread := variance(&problem.Valid)
		if opt.Counts != nil {
			spread = 0 // its points are no squared errors
		}
		opt.Progress = func(e fit.Event) {
			told := Event{Stage: "fit", Fit: &e}
			if e.Point != nil && spread > 0 {
				r2 := 1 - e.Point.Valid/spread
				told.ValidR2 = &r2
			}
			r.opt.Progress(told)
		}
	}
	if r.opt.Checkpoint != "" {
		k := &checkpoint{folder: r.opt.Checkpoint, spec: r.spec, data: hashText(r.table.Hash), split: hashParts(r.split.Parts), side: hashSide(r.side), path: r.engine.Name()}
		if err := k.prepare(); err != nil {
			return fit.Report{}, err
		}
		if r.opt.Resume {
			state, err := k.load()
			if err != nil {
				return fit.Report{}, err
			}
			opt.Resume = state
			r.note(state, k)
		}
		opt.Keeper, opt.KeeperEvery = k, r.opt.CheckpointEvery
	}
	return fit.Solve(ctx, problem, opt)
}

func (r *fitting) note(state *fit.State, k *checkpoint) {
	if r.opt.Progress == nil {
		return
	}
	note := fmt.Sprintf("no checkpoint in %s yet: starting from the beginning", k.folder)
	if state != nil {
		note = fmt.Sprintf("going on from sweep %d of %s", state.Run.Sweep+1, k.file())
	}
	r.opt.Progress(Event{Stage: "fit", Note: note})
}

// solverOptions translates the specification.
func solverOptions(spec Spec, opt Options) fit.Options {
	f := spec.Fit
	o := fit.Options{Solver: f.Solver, Sweeps: f.Sweeps, Patience: f.Patience, CGSteps: f.CGSteps, Rate: f.Rate, Batch: f.Batch,
		Schedule: fit.Schedule(f.Schedule), Seed: spec.Seed, TimeBudget: opt.TimeBudget}
	if f.Solver == "adam" {
		o.Sweeps = f.Epochs
	}
	kinds := []fit.RidgeKind{fit.Frequency, fit.Uniform}
	if f.Ridge != "auto" {
		kinds = []fit.RidgeKind{fit.RidgeKind(f.Ridge)}
	}
	lambda, given := f.Lambda.Value()
	if given && (len(kinds) == 1 || lambda == 0) {
		o.Ridge = &fit.Ridge{Kind: kinds[0], Lambda: lambda}
		return o
	}
	o.Search = fit.Search{Kinds: kinds}
	if given {
		o.Search.Lambda = lambda
	}
	return o
}

// baseline measures the formulas.
func (r *fitting) baseline() []BaselineScores {
	train := r.parts[dataset.Train]
	sizes := make([]int, len(r.table.Dicts))
	for i, d := range r.table.Dicts {
		sizes[i] = d.Len()
	}
	b := baseline.Fit(r.spec.ModeNames(), sizes, train.Codes, train.Y, train.W)
	scores := []BaselineScores{{Name: b.Pair}, {Name: b.Mix}}
	for p := range r.parts {
		var tallies [2]model.Tally
		o := &r.parts[p]
		for i, y := range o.Y {
			first, second := b.Predict(o.Codes, i)
			on := r.model.scale.OnScale(float64(y))
			for k, v := range [2]float64{first, second} {
				tallies[k].Add(float64(y), weightOf(o, i), v, v, on, r.model.scale.OnScale(v))
			}
		}
		for k := range scores {
			*scores[k].part(dataset.Part(p)) = tallies[k].Score()
		}
	}
	return scores
}

func (b *BaselineScores) part(p dataset.Part) *Score {
	return [...]*Score{&b.Train, &b.Valid, &b.Test}[p]
}

func weightOf(o *fit.Observations, i int) float64 {
	if o.W == nil {
		return 1
	}
	return float64(o.W[i])
}

// evaluate completes the model: noise, conformal layer, and its record with
// measures of all parts.
func (r *fitting) evaluate(solved fit.Report, scores []BaselineScores) error {
	r.reportLearned()
	r.keepExtra()
	m := r.model
	if err := r.learnNoise(solved); err != nil {
		return err
	}
	if err := r.learnLayer(); err != nil {
		return err
	}
	about := Training{DataHash: hashText(r.table.Hash), Split: r.split.Spec, Periods: periods(r.split), Seed: r.spec.Seed, Rows: r.table.Counts, Baseline: scores,
		Ridge: solved.Ridge, Stop: solved.Stop, Best: solved.Best, History: solved.Points, Side: r.sideReports}
	for p := range r.parts {
		o, z := &r.parts[p], r.predicted(dataset.Part(p))
		if dataset.Part(p) == dataset.Train && m.uncertain.count() != nil {
			o, z = thinned(o, z)
		}
		measured, err := m.measure(r.engine, z, o.Codes, o.Y, o.W, 0, dataset.Part(p) != dataset.Train)
		if err != nil {
			return err
		}
		score := measured.score(m)
		if score.Calibration != nil {
			for i := range score.Calibration.CoverageByMode {
				score.Calibration.CoverageByMode[i].Table = nil // kft evaluate --json has it
			}
		}
		*[...]*Score{&about.Train, &about.Valid, &about.Test}[p] = score
	}
	about.Warnings = append(append([]string{}, r.warnings...), solved.Warnings...)
	m.about = about
	return nil
}

// variance returns the weighted variance of the targets, 0 without any.
func variance(o *fit.Observations) float64 {
	var sum, squares, total float64
	for i, y := range o.Y {
		w := weightOf(o, i)
		sum += w * float64(y)
		squares += w * float64(y) * float64(y)
		total += w
	}
	if total == 0 {
		return 0
	}
	return squares/total - sum*sum/(total*total)
}
