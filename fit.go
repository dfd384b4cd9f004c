package kft

import (
	"context"

	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/search/tuning"
	"github.com/kernel-fried-tensor/kft/train"
)

// Types of fits and searches, documented in packages train, model (Record) and search/tuning.
type (
	Options     = train.Options     // how to run a fit; only TimeBudget and Share change the result
	Event       = train.Event       // the progress of a fit
	Report      = train.Report      // the result of a fit: the record that the model keeps, and what depends on the machine
	Record      = model.Record      // how a model was fitted and what was measured
	Estimate    = train.Estimate    // what a fit needs, in advance
	MemoryError = train.MemoryError // a fit that needs more memory than Options allow
	Search      = tuning.Search     // looks for a better specification by trials that several workers can share
	OpenSearch  = tuning.OpenSearch // a search with a study in a store
)

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

	TermContribution = model.TermContribution // what a term contributes, and what pruning left of it
)

// Fit splits the table, trains the model that the specification describes and
// compares it with baseline formulas. The table is read from the source, or from
// the files of the specification if the source is the zero Source. A scale or
// likelihood that is auto is chosen by CRPS on the validation set.
//
// Cancelling ctx while the model is trained is not an error: Fit returns the best
// model so far, and Report.Stop says so.
func Fit(ctx context.Context, s Spec, source Source, opt Options) (*Model, *Report, error) {
	return wrapWith(search.Fit(ctx, s, source, opt))
}

// EstimateFit tells what [Fit] with the same arguments needs. It reads the table, makes the
// automatic choices and measures a sweep. A fit that exceeds opt.Memory is a [*MemoryError],
// with the estimate.
func EstimateFit(ctx context.Context, s Spec, source Source, opt Options) (*Estimate, error) {
	return search.Estimate(ctx, s, source, opt)
}
