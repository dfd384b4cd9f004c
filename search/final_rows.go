package search

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search/automatic"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// finalData returns the data of the final fit for a specification that leaves nothing
// open, and the decision about its rows, if there is one. Once everything is chosen, the
// validation rows only end the training, choose the noise, and correct means and intervals.
// Beyond the given number, which may be 0 for all, they are of more use in the training set.
// They stay where they are if they differ from training rows by their time or their ids,
// because the rows that are left would no longer be like those that are predicted.
func finalData(s spec.Spec, data *fitdata.Data, keep int) (*fitdata.Data, []model.Decision, error) {
	n := data.Count(dataset.Valid)
	if keep == 0 || n <= keep || s.SeveralTargets() || !automatic.Alike(s, data) {
		return data, nil, nil
	}
	larger, err := data.KeepValid(keep, s.Seed)
	if err != nil {
		return nil, nil, err
	}
	value := fmt.Sprintf("%d of %s; the others train the final fit", keep, plural.Count(n, "row"))
	return larger, []model.Decision{{Subject: "validation set", Options: []model.Candidate{{Value: value, Taken: true}}}}, nil
}

// refitBelow is the number of training and validation rows up to which a model is trained again unless the
// specification says otherwise. Above it, a refit that does not continue the first training takes as long as that, and
// one without the test rows adds few rows (see finalData).
const refitBelow = 1_000_000

// resolveRefit returns what the specification says about a second training, or, if it leaves
// that open, the choice: all rows of a random split, because its test rows are like those to predict
// and have been measured then; the training and validation set if test rows are named or
// later. A forecast must know the periods before it, so its table may be large. If the parts differ by their
// ids there is none: what a validation set of new ids ended, a second training would continue.
func resolveRefit(s spec.Spec, data *fitdata.Data, opt train.Options) string {
	valid := data.Count(dataset.Valid)
	later := data.LaterMode() >= 0
	random := strings.HasPrefix(s.Split, "random:")
	if s.Uncertainty.Likelihood == spec.Auto {
		s.Uncertainty.Likelihood = "gaussian" // as it will be for most tables
	}
	large := data.Count(dataset.Train)+valid > refitBelow
	switch {
	case s.Fit.Refit != spec.Auto:
		return s.Fit.Refit
	case valid+data.Count(dataset.Test) == 0 || opt.Ranks != nil || large && !later && !(random && train.ContinuesRefit(s)):
		return spec.RefitNone
	case random:
		return spec.RefitAll
	case valid == 0 || !later && !automatic.Alike(s, data):
		return spec.RefitNone
	}
	return spec.RefitValid
}

// planRefit returns the specification with the second training, if that is not left to what the fit chooses, and with the one
// that is probable: the likelihood says whether a refit continues the first training.
func planRefit(s spec.Spec, data *fitdata.Data, opt train.Options) (first, planned spec.Spec) {
	planned = s
	planned.Fit.Refit = resolveRefit(s, data, opt)
	if planned.Fit.Refit == spec.RefitNone || !s.Automatic() && s.Uncertainty.Likelihood != spec.Auto {
		return planned, planned
	}
	return s, planned
}

// refitsOf returns the trainings that follow the first one, for a specification that leaves nothing open. Before one on
// all rows of a table that is not large there is one on the training and validation set, by which the
// test set is measured; with more than automatic.KeptValid validation rows most of them train the first one (see finalData).
func refitsOf(s spec.Spec, data *fitdata.Data, opt train.Options) []string {
	valid := data.Count(dataset.Valid)
	if s.Fit.Refit == spec.RefitAll && valid > 0 && data.Count(dataset.Test) > 0 && valid <= automatic.KeptValid && data.Count(dataset.Train)+valid <= refitBelow && opt.Ranks == nil {
		return []string{spec.RefitValid, spec.RefitAll}
	}
	return []string{s.Fit.Refit}
}

// A table of more training rows than longFrom forecasts from its last recentYears years, enough
// for factors along time to learn a season: rows before them cost time.
const (
	longFrom    = 4_000_000
	recentYears = 4
)

// recentData returns the data that a model for forecasts is chosen on and trained on, and
// the decision about its rows, if there is one.
func recentData(s spec.Spec, data *fitdata.Data) (*fitdata.Data, []model.Decision, error) {
	if !s.Automatic() || data.Count(dataset.Train) <= longFrom {
		return data, nil, nil
	}
	recent, first, err := data.Recent(recentYears)
	if err != nil || recent == nil {
		return data, nil, err
	}
	value := fmt.Sprintf("%d, from %s on", recent.Count(dataset.Train), first)
	return recent, []model.Decision{{Subject: "training rows", Options: []model.Candidate{{Value: value, Taken: true}}}}, nil
}
