package kft

import (
	"context"

	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/train"
)

// Options specify how to run a fit. Only TimeBudget and Share change the result.
// Package train documents the fields.
type Options = train.Options

// An Event describes the progress of a fit. Package train documents the fields.
type Event = train.Event

// A Report is the result of a fit: the record that the model keeps, and what depends
// on the machine. Package train documents the fields.
type Report = train.Report

// A Record describes how a model was fitted and what was measured. Package model
// documents the fields.
type Record = model.Record

// Parts of a [Report] and a [Record], documented in packages metrics and model.
type (
	Score          = metrics.Score
	Calibration    = metrics.Calibration
	BaselineScores = model.BaselineScores
	SideReport     = model.SideReport
	Choice         = model.Choice
	Target         = model.Target
	PowerEstimate  = model.PowerEstimate
	Refit          = model.Refit
	OrderChoice    = model.OrderChoice
	Decision       = model.Decision
	Candidate      = model.Candidate
	// TermContribution is what a term contributes, and what pruning left of it.
	TermContribution = model.TermContribution
)

// Fit splits the table, trains the model that the specification describes and
// compares it with baseline formulas. The table is read from the source, or from
// the files of the specification if the source is the zero Source. A scale or
// likelihood that is auto is chosen by CRPS on the validation set.
//
// Cancelling ctx while the model is trained is not an error: Fit returns the best
// model so far, and Report.Stop says so.
func Fit(ctx context.Context, s Spec, source Source, opt Options) (*Model, *Report, error) {
	fitted, report, err := search.Fit(ctx, s, source, opt)
	if err != nil {
		return nil, nil, err
	}
	return &Model{fitted}, report, nil
}

// An Estimate tells in advance what a fit needs. Package train documents the fields.
type Estimate = train.Estimate

// A MemoryError reports a fit that needs more memory than [Options] allow.
type MemoryError = train.MemoryError

// EstimateFit tells what [Fit] with the same arguments needs. It reads the table, makes the
// automatic choices and measures a sweep. A fit that exceeds opt.Memory is a [*MemoryError],
// with the estimate.
func EstimateFit(ctx context.Context, s Spec, source Source, opt Options) (*Estimate, error) {
	return search.Estimate(ctx, s, source, opt)
}

// A Search looks for a better specification by trials that several workers can
// share. Package search documents its fields and methods.
type Search = search.Search

// An OpenSearch is a search with a study in a store. Package search documents its
// methods.
type OpenSearch = search.OpenSearch
