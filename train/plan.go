package train

import (
	"cmp"
	"context"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/sysmemory"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/panel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/train/collective"
	"github.com/kernel-fried-tensor/kft/train/design"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/train/operators"
)

// planWithin plans the fit and checks its memory.
func (r *run) planWithin(ctx context.Context) error {
	if err := r.plan(ctx); err != nil || !r.nearsLimit() {
		return err
	}
	_, err := r.checkMemory()
	return err
}

// plan assigns the observations to the parts, builds the field and fits the scale.
func (r *run) plan(ctx context.Context) error {
	if err := r.data.CheckDomain(r.spec); err != nil {
		return err
	}
	if r.spec.Uncertainty.Likelihood == "ordinal" {
		r.levels = r.data.Levels() // the table may be released
	}
	if err := r.findOrigins(); err != nil {
		return err
	}
	if err := r.takeParts(); err != nil {
		return err
	}
	if err := r.findOperators(ctx); err != nil {
		return err
	}
	train := r.ownTrain()
	r.trained = collective.CountRows(collective.Group(r.opt.Ranks), r.engine.Threads(), train.Codes, r.data.Sizes())
	var scale targetscale.Scale
	var means [][]float64
	err := r.sideBySide(
		r.buildField,
		func() (err error) { scale, err = r.newScale(); return err },
		func() error {
			means = collective.MeanTargets(collective.Backend(r.opt.Ranks), r.engine.Threads(), train, r.trained)
			return nil
		},
		func() error {
			if r.measured == nil && len(r.earlier) == 0 && r.opt.Ranks == nil && r.spec.Uncertainty.Conformal != "none" {
				r.drawHeld() // if it is needed: the kind of the correction may not be known yet
			}
			return nil
		})
	if err != nil {
		return err
	}
	r.warnings = append(r.warnings, model.ReadWarnings(r.data.Table())...)
	if warning := fitdata.WarnCoarseTarget(r.spec.Data.Target, train); warning != "" {
		r.warnings = append(r.warnings, warning)
	}
	table := r.data.Table()
	found := panel.New(collective.Group(r.opt.Ranks), r.engine.Threads(), table.Modes, func(mode int) []string { return table.Dicts[mode].IDs() }, r.field.SeriesTime(),
		panel.Rows{Codes: train.Codes, Target: train.Target, Pages: r.pages})
	if found != nil && r.data.Ends() != nil && found.Time == r.data.Ends().Time {
		found.Own = true
	}
	r.resolveConformal(found != nil && (r.split.Periods != nil || found.Time == r.data.LaterMode()))
	if err := r.checkHorizonRows(); err != nil {
		return err
	}
	stored := r.spec
	if r.measured != nil {
		stored = r.measured.Spec()
	}
	r.model, err = model.New(model.Contents{Spec: stored, Modes: table.Modes, Dicts: table.Dicts, Field: r.field, Scale: scale,
		Parts: r.sourceParts(), Side: r.operators.Side, Rows: r.trained, Means: means, Groups: r.operators.Groups, History: r.data.History(), Series: found})
	if err != nil {
		return err
	}
	r.warnings = append(r.warnings, r.operators.Unused(r.model)...)
	r.warnUnusedCovariates()
	if r.measured == nil {
		if err := r.holdOut(); err != nil {
			return err
		}
	}
	if r.last == dataset.Test {
		return nil
	}
	r.when = r.periodsOfRows()
	r.between = r.periodsOfSeries()
	// Validation and test rows are measured as new rows would be predicted: by the prior,
	// if their id has no training rows and no side information.
	for _, p := range []dataset.Part{dataset.Valid, dataset.Test} {
		r.horizons[p] = collective.Horizons(r.opt.Ranks, r.engine, r.model.Series(), r.part(p).Codes)
		r.model.ForgetUntrained(r.part(p).Codes)
	}
	if r.held.Len() > 0 {
		r.heldHorizon = collective.Horizons(r.opt.Ranks, r.engine, r.model.Series(), r.held.Codes)
	}
	r.model.ForgetUntrained(r.held.Codes)
	return nil
}

// sideBySide runs steps that need nothing of each other at the same time, over several ranks in order. It returns the error of the
// first that failed.
func (r *run) sideBySide(steps ...func() error) error {
	threads := r.engine.Threads()
	if r.opt.Ranks != nil {
		threads = 1 // all pass messages in the same order
	}
	failed := make([]error, len(steps))
	parallel.For(threads, len(steps), func(i int) { failed[i] = steps[i]() })
	return cmp.Or(failed...)
}

// findOperators computes the operators of side tables and covariates.
func (r *run) findOperators(ctx context.Context) (err error) {
	in := operators.Input{Spec: r.spec, Table: r.data.Table(), Codes: func(p dataset.Part) [][]int32 { return r.part(p).Codes },
		Engine: r.engine, Tables: r.opt.Tables, Stdin: r.opt.Stdin, SideBySide: r.sideBySide}
	if r.continues() {
		in.Continued = r.measured
	}
	if r.pages == nil && r.opt.Ranks == nil {
		in.Cache = r.data.Cache()
	}
	if r.opt.Compare {
		in.Rows = func() string { return fitdata.HashParts(r.split.Parts) }
	}
	if r.operators, err = operators.New(ctx, in); err != nil {
		return err
	}
	r.warnings = append(r.warnings, r.operators.Warnings...)
	return nil
}

// buildField builds the field that the terms describe.
func (r *run) buildField() error {
	terms, err := r.spec.ParseTerms()
	if err != nil {
		return err
	}
	train, cells := r.ownTrain().Codes, r.size(dataset.Train)
	if r.divided {
		train = r.firstCodes()
	}
	other := make([][]int32, len(train))
	for m := range other {
		if len(r.operators.Reports) > 0 {
			valid, test := r.part(dataset.Valid).Codes[m], r.part(dataset.Test).Codes[m]
			other[m] = append(append(backend.Make[int32](r.engine, len(valid)+len(test))[:0], valid...), test...)
		}
	}
	defer backend.FreeAll(r.engine, other)
	data := design.Data{Modes: r.spec.ModeNames(), Table: r.data.Table().Modes, Sizes: r.data.Sizes(), Train: train, Cells: cells, Rows: r.trained, Other: other, Groups: r.operators.Groups,
		Family: r.spec.Uncertainty.Family(), Adam: r.spec.Fit.Solver == "adam", Threads: r.engine.Threads(), Room: sysmemory.Available, Paged: r.pages != nil,
		Line: func(mode int) (*timeline.Timeline, error) {
			return timeline.New(r.data.Table().Modes[mode], r.data.Table().Dicts[mode].IDs())
		}}
	field, notices, err := design.Field(terms, data, r.operators.ForTerms())
	if err != nil {
		return err
	}
	r.field = field
	r.warnings = append(r.warnings, notices...)
	design.SetPenalties(field, &r.spec)
	if err := field.SetFamily(r.spec.Uncertainty.Family()); err != nil {
		return err
	}
	if mean, given := r.spec.Uncertainty.PriorMean.Value(); given {
		field.SetPriorMean(mean)
	}
	return nil
}
