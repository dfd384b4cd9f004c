package train

import (
	"context"
	"errors"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/solver"
)

// complete adds noise, conformal correction and the record with measures of all
// parts to the model.
func (r *run) complete(ctx context.Context, solved solver.Report, scores []model.BaselineScores) error {
	r.learnResponse(solved)
	r.operators.ReportLearned()
	var warning string
	if r.model, r.operators.Reports, warning = r.model.KeepSideRows(r.engine, r.operators.Extra, r.operators.Reports); warning != "" {
		r.warnings = append(r.warnings, warning)
	}
	r.learnNoise(solved)
	if err := r.learnPull(ctx); err != nil {
		return err
	}
	r.learnMoves()
	if err := r.learnCorrection(); err != nil {
		return err
	}
	r.learnHeaping()
	r.learnBlend()
	if err := r.learnCopula(); err != nil {
		return err
	}
	if err := errors.Join(r.keepStatistics(solved), r.releasePlanned()); err != nil {
		return err
	}
	record := model.Record{DataHash: model.HashText(r.data.Table().Hash), Split: r.split.Spec, Periods: periods(r.split), Seed: r.spec.Seed, Rows: r.data.Table().Counts, Baseline: scores,
		Ridge: solved.Ridge, Stop: solved.Stop, Best: solved.Best, Start: solved.Start, History: solved.Points, Side: r.operators.Reports, Terms: r.contributions(solved), DecileEdges: r.decileEdges()}
	record.Rows.Zeros, record.Rows.ValidZeros = r.zeros[dataset.Train]+r.zeros[dataset.Valid]+r.zeros[dataset.Test], r.zeros[dataset.Valid]
	r.model = r.model.WithRecord(record)                                           // measures need the edges
	for _, p := range []dataset.Part{dataset.Valid, dataset.Test, dataset.Train} { // the most expensive rows first
		if r.opt.Compare && p != dataset.Valid {
			continue
		}
		score, err := r.measure(p)
		if err != nil {
			return err
		}
		*[...]*metrics.Score{&record.Train, &record.Valid, &record.Test}[p] = score
	}
	part, _ := record.Judged()
	var err error
	if record.Compared, err = r.measureCompared(part); err != nil {
		return err
	}
	if record.Targets, err = r.scoreTargets(); err != nil {
		return err
	}
	record.Notes = r.notes
	record.Warnings = append(append([]string{}, r.warnings...), solved.Warnings...)
	if warning := record.BehindConstant(); warning != "" && r.spec.Uncertainty.Bayesian() {
		record.Warnings = append(record.Warnings, warning)
	}
	if warning := record.RevealingCovariates(r.model.Modes()); warning != "" {
		record.Warnings = append(record.Warnings, warning)
	}
	record.Warnings = slices.Concat(record.Warnings, r.futureWarning(), judgements(r.model, record))
	r.model = r.model.WithRecord(record)
	return nil
}

// judgements returns the warnings that follow from the scores on the part that a model is judged by.
func judgements(m *model.Model, record model.Record) []string {
	var warnings []string
	if warning := record.BehindFormula(); warning != "" {
		warnings = append(warnings, warning)
	}
	judged, where := record.Test, "the test set"
	if judged.N == 0 {
		judged, where = record.Valid, "the validation set"
	}
	return append(warnings, evaluate.CoverageWarnings(m, judged, where)...)
}
