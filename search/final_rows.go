package search

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// finalData returns the data of the final fit for a specification that leaves nothing
// open, and the decision about its rows, if there is one. Once everything is chosen, the
// validation rows only end the training, choose the noise, and correct means and intervals.
// Beyond the given number, which may be 0 for all, they are of more use in the training set.
// They stay where they are if they differ from training rows by their time or their ids,
// because the rows that are left would no longer be like those that are predicted.
func finalData(s spec.Spec, data *train.Data, keep int) (*train.Data, []model.Decision, error) {
	n := data.Count(dataset.Valid)
	if keep == 0 || n <= keep || s.SeveralTargets() || !alike(s, data) {
		return data, nil, nil
	}
	larger, err := data.KeepValid(keep, s.Seed)
	if err != nil {
		return nil, nil, err
	}
	value := fmt.Sprintf("%d of %s; the others train the final fit", keep, plural.Count(n, "row"))
	return larger, []model.Decision{{Subject: "validation set", Options: []model.Candidate{{Value: value, Taken: true}}}}, nil
}

// refitBelow is the number of training and validation rows from which a model is trained again only as
// the specification says: that takes as long as the first training, and the validation rows of
// large tables are few (see finalData).
const refitBelow = 1_000_000

// resolveRefit returns what the specification says about a second training, or, if it leaves
// that open, the choice: all rows of a random split, because its test rows are like those to predict
// and have been measured then; the training and validation set if a file or a column names
// the test rows; none where the parts differ by their time or their ids, because the corrections that the validation set
// was for would then be those of other rows than the ones to predict.
func resolveRefit(s spec.Spec, data *train.Data, opt train.Options) string {
	switch {
	case s.Fit.Refit != spec.Auto:
		return s.Fit.Refit
	case data.Count(dataset.Valid)+data.Count(dataset.Test) == 0 || !refitsTwice(s, data, opt):
		return spec.RefitNone
	case random(s):
		return spec.RefitAll
	}
	return spec.RefitValid
}

// refitsTwice reports whether a model that is trained on all rows in the end is first trained on the training and
// validation set, so that the scores of the test set are those of a model that is more like it.
func refitsTwice(s spec.Spec, data *train.Data, opt train.Options) bool {
	return data.Count(dataset.Train)+data.Count(dataset.Valid) <= refitBelow && opt.Ranks == nil && opt.Memory == 0 && (random(s) || alike(s, data))
}

// random reports whether the rows were divided at random.
func random(s spec.Spec) bool { return strings.HasPrefix(s.Split, "random:") }

// A table of more training rows than longFrom forecasts from its last recentYears years, enough
// for factors along time to learn a season: rows before them cost time.
const (
	longFrom    = 4_000_000
	recentYears = 4
)

// recentData returns the data that a model for forecasts is chosen on and trained on, and
// the decision about its rows, if there is one.
func recentData(s spec.Spec, data *train.Data) (*train.Data, []model.Decision, error) {
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
