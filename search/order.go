package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// A fit that compares orders has at most this many training rows, sweeps and epochs.
const (
	orderRows   = 200_000
	orderSweeps = 10
)

// orderBudget is the share of the time budget for the comparison of orders.
const orderBudget = 0.25

// openOrders returns the positions of the terms whose order is to be chosen.
func openOrders(s spec.Spec) []int {
	if s.Order != "auto" {
		return nil
	}
	terms, err := s.ParseTerms()
	if err != nil {
		return nil // Validate reports it
	}
	var open []int
	for i, t := range terms {
		if len(t.Cores) > 2 {
			open = append(open, i)
		}
	}
	return open
}

// chooseOrders returns the specification with the order of cores that has the smallest
// CRPS on the validation set after a short fit on a share of the rows. It chooses for
// one term after the other.
func chooseOrders(ctx context.Context, s spec.Spec, data *fitdata.Data, opt train.Options) (spec.Spec, []model.OrderChoice, error) {
	s = s.Clone()
	open := openOrders(s)
	s.Order = "given"
	if len(open) == 0 {
		return s, nil, nil
	}
	short := opt
	short.Checkpoint, short.Resume, short.Progress = "", false, nil
	short.Share = min(max(opt.Share, 0), 1)
	if short.Share == 0 {
		short.Share = 1
	}
	if rows := float64(data.Count(dataset.Train)) * short.Share; rows > orderRows {
		short.Share *= orderRows / rows
	}
	terms, err := s.ParseTerms()
	if err != nil {
		return s, nil, err
	}
	fits := 0
	for _, i := range open {
		fits += len(terms[i].Orders())
	}
	short.TimeBudget = time.Duration(orderBudget * float64(opt.TimeBudget) / float64(fits))
	var choices []model.OrderChoice
	done := 0
	for _, i := range open {
		first, lowest, taken := len(choices), math.Inf(1), -1
		for k, t := range terms[i].Orders() {
			done++
			candidate := s.Clone()
			candidate.Terms[i] = t.String()
			if k > 0 && candidate.Validate() != nil {
				continue // the same as another term
			}
			if opt.Progress != nil {
				opt.Progress(train.Event{Stage: "choose", Note: fmt.Sprintf("order %s, %d of %d", t.Order(), done, fits)})
			}
			choices = append(choices, model.OrderChoice{Term: i + 1, Order: t.Order()})
			crps, err := orderScore(ctx, candidate, data, short)
			var diverged *solver.DivergedError
			switch {
			case errors.As(err, &diverged):
				continue // another order may suit the data
			case err != nil:
				return s, nil, err
			}
			last := len(choices) - 1
			choices[last].CRPS = fitrecord.Finite(crps)
			if crps < lowest {
				lowest, taken = crps, last
			}
		}
		if taken < 0 {
			taken = first // the fit itself reports what is wrong
		}
		choices[taken].Taken = true
		s.ChangeTerm(i, func(t *spec.Term) { t.Reorder(choices[taken].Order) })
	}
	return s, choices, nil
}

// orderScore returns the CRPS on the validation set of a short fit. A scale that is still
// open is log1p, if the table allows it, otherwise the identity.
func orderScore(ctx context.Context, s spec.Spec, data *fitdata.Data, opt train.Options) (float64, error) {
	if s.Uncertainty.Likelihood == "auto" {
		s.Uncertainty.Likelihood = "gaussian"
	}
	if s.Transform == "auto" {
		s.Transform = targetscale.Log1p.String()
		if data.CheckDomain(s) != nil {
			s.Transform = targetscale.Identity.String()
		}
	}
	s.Fit.Sweeps, s.Fit.Epochs = min(s.Fit.Sweeps, orderSweeps), min(s.Fit.Epochs, orderSweeps)
	_, r, err := train.Fit(ctx, s, data, opt)
	if err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if r.Valid.Calibration == nil {
		return 0, fielderr.Errorf("split", "an automatic order of cores is chosen on the validation set, which is empty; add one to split, or set order to given")
	}
	return float64(r.Valid.Calibration.CRPS), nil
}
