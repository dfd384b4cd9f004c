package search

import (
	"fmt"

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
