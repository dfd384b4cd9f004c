package fitrecord

import (
	"fmt"
	"math"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
)

// BaselineScores are the scores of a formula of package baseline. Formulas are fitted
// to the training rows; the training scores of all but the best are undefined unless the
// model is judged by them.
type BaselineScores struct {
	Name    string        `json:"name"`
	Setting string        `json:"setting,omitempty"` // what the formula left open, as in "shrunk to the mean by item, pseudo-count 1"
	Best    bool          `json:"best,omitempty"`    // it has the least squared error on the rows that formulas are chosen on
	Train   metrics.Score `json:"train"`
	Valid   metrics.Score `json:"valid"`
	Test    metrics.Score `json:"test"`
	Median  *Median       `json:"-"` // for a refit; nil if the medians are the means
}

// A Median says how the medians of a formula follow from its means.
type Median struct {
	Factor float64 `json:"factor"`
	Shift  float64 `json:"shift,omitempty"`
}

// Of returns the median for a mean, which without a Median is the mean.
func (m *Median) Of(mean float64) float64 {
	if m == nil {
		return mean
	}
	return m.Factor*mean + m.Shift
}

// MedianOf returns how the medians of a formula follow from its means, nil for a formula that the record does not have.
func (r Record) MedianOf(formula string) *Median {
	for _, b := range r.Baseline {
		if b.Name == formula {
			return b.Median
		}
	}
	return nil
}

// Of returns the scores on a part.
func (b BaselineScores) Of(part dataset.Part) metrics.Score {
	return [...]metrics.Score{b.Train, b.Valid, b.Test}[part]
}

// BestFormula returns the formula that a model is compared with: the one with the least
// squared error on the validation rows, or on rows held out of the training set if there
// are none. It is false for a record without formulas.
func (r Record) BestFormula() (BaselineScores, bool) {
	if len(r.Baseline) == 0 {
		return BaselineScores{}, false
	}
	best := r.Baseline[0]
	for _, b := range r.Baseline {
		if b.Best {
			return b, true
		}
	}
	// A model file of an early version has the scores of two formulas and no choice.
	part := dataset.Train
	if r.Valid.N > 0 {
		part = dataset.Valid
	}
	for _, b := range r.Baseline {
		if b.Of(part).R2 > best.Of(part).R2 {
			best = b
		}
	}
	return best, true
}

// Judged returns the part that a model is judged by and its scores: test, else valid,
// else train.
func (r Record) Judged() (dataset.Part, metrics.Score) {
	switch {
	case r.Test.N > 0:
		return dataset.Test, r.Test
	case r.Valid.N > 0:
		return dataset.Valid, r.Valid
	}
	return dataset.Train, r.Train
}

// AgainstFormulas returns the part that a model is judged by and its scores on the rows of it that
// formulas were measured on.
func (r Record) AgainstFormulas() (dataset.Part, metrics.Score) {
	part, score := r.Judged()
	if r.Compared != nil {
		score = *r.Compared
	}
	return part, score
}

// BehindFormula returns a warning if the model is behind the best formula in R2 or in
// MAE, or in the scores of probabilities, on the part that it is judged by, else "".
func (r Record) BehindFormula() string {
	best, ok := r.BestFormula()
	part, ours := r.AgainstFormulas()
	theirs := best.Of(part)
	if !ok || theirs.N == 0 {
		return ""
	}
	const alike = 5e-5 // differences that do not show in four digits
	var behind []string
	if a, b := ours.Binary, theirs.Binary; a != nil && b != nil {
		for _, m := range []struct {
			name         string
			ours, theirs metrics.Number
		}{{"log loss", a.LogLoss, b.LogLoss}, {"Brier score", a.Brier, b.Brier}} {
			if m.ours > m.theirs+alike {
				behind = append(behind, fmt.Sprintf("%s %.4f against %.4f", m.name, m.ours, m.theirs))
			}
		}
		theirs.R2, theirs.MAE = math.Inf(-1), math.Inf(1) // the scores of probabilities count
	}
	if ours.R2 < theirs.R2-alike {
		behind = append(behind, fmt.Sprintf("R2 %.4f against %.4f", ours.R2, theirs.R2))
	}
	if a, b := fmt.Sprintf("%.4g", ours.MAE), fmt.Sprintf("%.4g", theirs.MAE); ours.MAE > theirs.MAE && a != b {
		behind = append(behind, fmt.Sprintf("MAE %s against %s", a, b))
	}
	if len(behind) == 0 {
		return ""
	}
	return fmt.Sprintf("the model is behind the best formula, %q, on %s: %s", best.Name, part, strings.Join(behind, ", "))
}
