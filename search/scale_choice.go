// Package search fits a model by a specification that leaves something open: it completes the specification by what a
// table shows, lets search/automatic choose the terms, chooses scale, likelihood and order of cores by fits that are
// compared on the validation set, and decides about a second training on more rows.
package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/search/automatic"
	"github.com/kernel-fried-tensor/kft/search/power"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// Fit reads a table and trains the model. The zero source means the files of the
// specification. If the scale is power, Fit first estimates it from training rows. If the
// order of cores is auto, Fit chooses it next, by short fits. If the scale or the
// likelihood is auto, Fit trains one model per combination that the data allows and
// returns the one with the smallest CRPS on the validation set. If the specification says
// so, or leaves it open and the table is not large, the result is trained again on more rows. All fits
// share the time budget.
func Fit(ctx context.Context, s spec.Spec, source tableio.Source, opt train.Options) (*model.Model, *train.Report, error) {
	if _, err := Complete(&s, source, false); err != nil {
		return nil, nil, err
	}
	s.Fill()
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	s.Search = nil
	if s.SeveralTargets() {
		var err error
		if s, err = chooseTransforms(ctx, s, source, opt); err != nil {
			return nil, nil, err
		}
	}
	if !s.Automatic() && !hasChoice(s) && s.Fit.Refit == spec.RefitNone {
		return train.ReadAndFit(ctx, s, source, opt)
	}
	data, err := train.Read(ctx, s, source, opt)
	if err != nil {
		return nil, nil, err
	}
	if s.SeveralTargets() {
		s.Transform = targetscale.Identity.String() // values are on their scales
	}
	return FitData(ctx, s, data, opt)
}

// Estimate tells what a fit of the specification needs: it reads the table, makes the
// automatic choices, plans the final fit and measures a sweep of it. Several fits of
// different scales, orders or likelihoods need as much as one of them.
func Estimate(ctx context.Context, s spec.Spec, source tableio.Source, opt train.Options) (*train.Estimate, error) {
	if _, err := Complete(&s, source, false); err != nil {
		return nil, err
	}
	s.Fill()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	s.Search = nil
	data, err := train.Read(ctx, s, source, opt)
	if err != nil {
		return nil, err
	}
	if s.Automatic() {
		if s, _, _, err = automatic.Resolve(ctx, s, data, opt); err != nil {
			return nil, err
		}
		if data, _, err = finalData(s, data, automatic.ValidRows(s.Fit.Effort)); err != nil {
			return nil, err
		}
	}
	if s.Transform == "power" || s.Transform == "auto" {
		s.Transform = targetscale.Identity.String()
	}
	if s.Uncertainty.Likelihood == "auto" {
		s.Uncertainty.Likelihood = "gaussian"
	}
	s.Order = "given"
	s.Fit.Refit = resolveRefit(s, data, opt)
	return train.EstimateFit(ctx, s, data, opt)
}

// FitData is Fit on a table that was read before, for a filled specification.
func FitData(ctx context.Context, s spec.Spec, data *fitdata.Data, opt train.Options) (*model.Model, *train.Report, error) {
	opt.Chosen = s.Automatic()
	data, recent, err := recentData(s, data)
	if err != nil {
		return nil, nil, err
	}
	open := s.Fit.Refit == spec.Auto
	s, planned := planRefit(s, data, opt)
	if s.Fit.Refit == spec.RefitNone {
		m, r, _, err := fitOn(ctx, s, data, 1, opt)
		if err != nil {
			return nil, nil, err
		}
		return withDecisions(m, r, recent), r, nil
	}
	refits := refitsOf(planned, data, opt)
	for _, which := range refits {
		if err := train.CheckRefit(which, opt); err != nil {
			return nil, nil, err
		}
	}
	began, share := time.Now(), 1.0 // a refit that nobody asked for has the time that is left
	if !open {
		share = firstShare(data, refits)
	}
	m, r, data, err := fitOn(ctx, s, data, share, opt)
	if err != nil {
		return nil, nil, err
	}
	m = withDecisions(m, r, recent)
	budget := opt.TimeBudget
	for _, which := range refits {
		if m.Spec().Fit.Refit == spec.RefitNone {
			break // the likelihood that was chosen decides
		}
		if open && (ctx.Err() != nil || budget > 0 && time.Since(began) >= budget) {
			break // who stops a fit knows that it is not complete
		}
		opt.TimeBudget = remaining(budget, began)
		if m, r, err = train.Refit(ctx, m, r, data, which, opt); err != nil {
			return nil, nil, err
		}
		if r.Refit == nil {
			break // it was given up, and so would be the next
		}
	}
	return m, r, nil
}

// FitOnce is FitData without a second training. It returns the report alone.
func FitOnce(ctx context.Context, s spec.Spec, data *fitdata.Data, opt train.Options) (*train.Report, error) {
	_, report, _, err := fitOn(ctx, s, data, 1, opt)
	return report, err
}

// firstShare returns the share of the time for all trainings that the first one has. A sweep over more
// rows takes longer than one over the training rows, and a refit has at most as many.
func firstShare(data *fitdata.Data, refits []string) float64 {
	rows := data.Count(dataset.Train)
	together := rows
	for _, which := range refits {
		together += rows + data.Count(dataset.Valid)
		if which == spec.RefitAll {
			together += data.Count(dataset.Test)
		}
	}
	return float64(rows) / float64(max(together, 1))
}

// withDecisions adds decisions to the record of a model.
func withDecisions(m *model.Model, r *train.Report, decisions []model.Decision) *model.Model {
	if len(decisions) == 0 {
		return m
	}
	r.Decisions = append(r.Decisions, decisions...)
	return m.WithRecord(r.Record)
}

// fitOn is Fit on a table that was read before. share is the part of the time budget that the training has
// after the choices. It also returns the data with the parts of the final fit.
func fitOn(ctx context.Context, s spec.Spec, data *fitdata.Data, share float64, opt train.Options) (*model.Model, *train.Report, *fitdata.Data, error) {
	if s.Automatic() {
		return fitAutomatic(ctx, s, data, share, opt)
	}
	var estimate *model.PowerEstimate
	if s.Transform == "power" {
		began := time.Now()
		var err error
		if s, estimate, err = power.Choose(ctx, s, data, opt); err != nil {
			return nil, nil, nil, err
		}
		opt.TimeBudget = remaining(opt.TimeBudget, began)
	}
	var orders []model.OrderChoice
	if s.Order == "auto" {
		began := time.Now()
		var err error
		if s, orders, err = chooseOrders(ctx, s, data, opt); err != nil {
			return nil, nil, nil, err
		}
		opt.TimeBudget = remaining(opt.TimeBudget, began)
	}
	fit := train.Fit
	if s.Transform == "auto" || s.Uncertainty.Likelihood == "auto" {
		fit = choose
	}
	opt.TimeBudget = time.Duration(share * float64(opt.TimeBudget))
	m, r, err := fit(ctx, s, data, opt)
	if err != nil || len(orders) == 0 && estimate == nil {
		return m, r, data, err
	}
	r.Orders, r.Power = orders, estimate
	return m.WithRecord(r.Record), r, data, nil
}

// fitAutomatic chooses everything that the specification leaves open, then fits it.
func fitAutomatic(ctx context.Context, s spec.Spec, data *fitdata.Data, share float64, opt train.Options) (*model.Model, *train.Report, *fitdata.Data, error) {
	began := time.Now()
	resolved, power, decisions, err := automatic.Resolve(ctx, s, data, opt)
	if err != nil {
		return nil, nil, nil, err
	}
	resolved.Fit.Refit = resolveRefit(resolved, data, opt)
	final, rows, err := finalData(resolved, data, automatic.ValidRows(s.Fit.Effort))
	if err != nil {
		return nil, nil, nil, err
	}
	opt.TimeBudget = time.Duration(share * float64(remaining(opt.TimeBudget, began)))
	m, r, err := train.Fit(ctx, resolved, final, opt)
	if err != nil {
		return nil, nil, nil, err
	}
	r.Decisions, r.Power = append(decisions, rows...), power
	r.Seconds["choose"] = time.Since(began).Seconds() - (r.Seconds["total"] - r.Seconds["read"])
	r.Seconds["total"] += r.Seconds["choose"]
	return m.WithRecord(r.Record), r, final, nil
}

// remaining returns what is left of a time budget since a moment; 0 is no limit.
func remaining(budget time.Duration, began time.Time) time.Duration {
	if budget == 0 {
		return 0
	}
	return max(budget-time.Since(began), time.Millisecond)
}

// hasChoice reports whether the scale, the likelihood or the order of cores is open.
func hasChoice(s spec.Spec) bool {
	return s.Transform == "power" || s.Transform == "auto" || s.Uncertainty.Likelihood == "auto" || s.Order == "auto"
}

// combinations returns the specifications with every combination of scale and
// likelihood that s leaves open.
func combinations(s spec.Spec) []spec.Spec {
	transforms, likelihoods := []string{s.Transform}, []string{s.Uncertainty.Likelihood}
	if s.Transform == "auto" {
		transforms = targetscale.Transforms()
	}
	if s.Uncertainty.Likelihood == "auto" {
		likelihoods = spec.ComparedLikelihoods()
	}
	var all []spec.Spec
	for _, l := range likelihoods {
		c := s.WithLikelihood(l)
		if c.Uncertainty.Links() {
			all = append(all, c)
			continue
		}
		for _, t := range transforms {
			c.Transform = t
			all = append(all, c)
		}
	}
	return all
}

// choose fits every combination and returns the best.
func choose(ctx context.Context, s spec.Spec, data *fitdata.Data, opt train.Options) (*model.Model, *train.Report, error) {
	all := combinations(s)
	if s.Uncertainty.Likelihood == spec.Auto {
		switch {
		case data.ZeroOne():
			all = []spec.Spec{s.WithLikelihood("bernoulli")}
		case data.FewValues():
			all = append(all, s.WithLikelihood("ordinal"))
		}
		if automatic.ManyZeros(data.Targets()) {
			all = append(all, s.WithLikelihood("zero-inflated"), s.WithLikelihood("hurdle"))
		}
	}
	var best *model.Model
	var report *train.Report
	var choices []model.Choice
	lowest, taken := math.Inf(1), -1
	folder := opt.Checkpoint
	opt.TimeBudget /= time.Duration(len(all))
	for i, c := range all {
		if folder != "" {
			opt.Checkpoint = filepath.Join(folder, c.Transform+"-"+c.Uncertainty.Likelihood)
		}
		if opt.Progress != nil {
			opt.Progress(train.Event{Stage: "choose", Note: fmt.Sprintf("scale %s with the %s likelihood, %d of %d", c.Transform, c.Uncertainty.Likelihood, i+1, len(all))})
		}
		choices = append(choices, model.Choice{Transform: c.Transform, Likelihood: c.Uncertainty.Likelihood})
		c.Fit.Refit = resolveRefit(c, data, opt)
		m, r, err := train.Fit(ctx, c, data, opt)
		var domain *targetscale.DomainError
		var diverged *solver.DivergedError
		switch {
		case errors.As(err, &domain), errors.As(err, &diverged):
			continue // another combination may suit the data
		case err != nil:
			return nil, nil, fmt.Errorf("scale %s, %s likelihood: %w", c.Transform, c.Uncertainty.Likelihood, err)
		case r.Valid.Calibration == nil:
			return nil, nil, fielderr.Errorf("split", "an automatic scale or likelihood is chosen on the validation set, which is empty; add one to split, or set transform and uncertainty.likelihood")
		}
		crps := float64(r.Valid.Calibration.CRPS)
		choices[i].CRPS = fitrecord.Finite(crps)
		if crps < lowest {
			best, report, lowest, taken = m, r, crps, i
		}
		if ctx.Err() != nil {
			break
		}
	}
	if best == nil {
		return nil, nil, fielderr.Errorf("data.target", "no scale or likelihood suits the target; check the values of column %s", s.Data.Target)
	}
	choices[taken].Taken = true
	report.Choices = choices
	return best.WithRecord(report.Record), report, nil
}
