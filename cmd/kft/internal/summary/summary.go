// Package summary describes fits and models as text: data, training, scores, uncertainty
// and side information.
package summary

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/solver"
)

// WriteFit writes the result of a fit: data, model, scores beside those of the baselines,
// warnings, and the next command. The output is the model file. nameFlags adds the flags of
// the command line to a warning.
func WriteFit(w io.Writer, m *kft.Model, r *kft.Report, output string, nameFlags func(string) string) error {
	var b strings.Builder
	WriteData(&b, m)
	fmt.Fprintf(&b, "Model: %s; scale %s; %s%s\n", strings.Join(r.Spec.Terms, " + "), r.Spec.Transform, textformat.Plural(r.Weights, "weight"), penaltyText(r.Spec, r.Ridge))
	writeTerms(&b, r.Terms)
	WriteSide(&b, r.Side, r.Spec)
	fmt.Fprintf(&b, "Training: %s (%s), %s\n", textformat.Plural(len(r.History), sweepNoun(r.Spec)), stopText(r.Stop, r.Spec, r.Valid.N > 0), textformat.Plural(r.Passes, "pass"))
	fmt.Fprintf(&b, "Uncertainty: %s\n\n", Uncertainty(m.Uncertainty(), r.Spec.Transform))
	part, score := LastPart(r.Train, r.Valid, r.Test)
	WriteScores(&b, m.Record(), r.Spec.Transform, part)
	WriteBias(&b, " on "+part.String(), score, m.Uncertainty().Means)
	writeChoices(&b, r.Choices)
	writeOrders(&b, r.Orders)
	WriteCalibration(&b, " on "+part.String(), score)
	if !writeComparison(&b, score, part, r.Baseline) {
		fmt.Fprintf(&b, "Try %s.\n", improvements(r, score))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", nameFlags(warning))
	}
	size := ""
	if info, err := os.Stat(output); err == nil {
		size = " (" + textformat.Bytes(info.Size()) + ")"
	}
	fmt.Fprintf(&b, "\nWrote %s%s in %.1f s, %s of memory at most.\n", output, size, r.Seconds["total"], textformat.Bytes(r.PeakRSS))
	fmt.Fprintf(&b, "Next: kft predict %s %s -o predictions.csv\n", textformat.Quote(output), textformat.Quote(exampleTable(r.Spec.Data.Files)))
	_, err := io.WriteString(w, b.String())
	return err
}

// penaltyText describes the penalty of a point estimate. A posterior has learned priors
// instead.
func penaltyText(spec kft.Spec, r solver.Ridge) string {
	if spec.Uncertainty.Bayesian() {
		return ""
	}
	return "; penalty " + r.String()
}

// WriteData writes how many rows were read and how they were split.
func WriteData(b *strings.Builder, m *kft.Model) {
	record := m.Record()
	var sizes []string
	for i, mode := range m.Modes() {
		sizes = append(sizes, fmt.Sprintf("%s %s", textformat.Count(len(m.IDs(i))), mode.Name))
	}
	fmt.Fprintf(b, "Data: %s, %s; %s train, %s valid, %s test\n", textformat.Plural(record.Rows.Rows, "row"), strings.Join(sizes, " x "),
		textformat.Count(record.Train.N), textformat.Count(record.Valid.N), textformat.Count(record.Test.N))
	for _, left := range []struct {
		n    int
		what string
	}{
		{record.Rows.Missing, "left out: no target"},
		{record.Rows.ZeroWeight, "left out: weight 0"},
		{record.Rows.Merged, "merged with an earlier row of the same cell"},
		{m.HeldOut(), "of the validation set held out for the conformal correction"},
		{unused(record) - m.HeldOut(), "marked unused by the split"},
	} {
		if left.n > 0 {
			fmt.Fprintf(b, "      %s %s\n", textformat.Plural(left.n, "row"), left.what)
		}
	}
	for _, part := range []string{"valid", "test"} {
		if periods := record.Periods[part]; periods != "" {
			fmt.Fprintf(b, "      %s: %s\n", part, periods)
		}
	}
}

// unused counts the observations that are in no part.
func unused(record kft.Record) int {
	r := record.Rows
	return r.Rows - r.Missing - r.ZeroWeight - r.Merged - record.Train.N - record.Valid.N - record.Test.N
}

// LastPart returns the part that a model is judged by: test, else valid, else train.
func LastPart(train, valid, test kft.Score) (dataset.Part, kft.Score) {
	switch {
	case test.N > 0:
		return dataset.Test, test
	case valid.N > 0:
		return dataset.Valid, valid
	}
	return dataset.Train, train
}

// WriteScores writes the table of scores: the model on every part, the baselines on the
// part that the model is judged by.
func WriteScores(b *strings.Builder, record kft.Record, transform string, judged dataset.Part) {
	header := []string{"", "part", "n", "R2", "RMSE", "MAE"}
	scaled := transform != "identity"
	if scaled {
		header = append(header, "R2 "+transform)
	}
	t := textformat.Table{Header: header, Left: 2}
	add := func(name string, part dataset.Part, s kft.Score) {
		if s.N == 0 {
			return
		}
		row := []string{name, part.String(), textformat.Count(s.N), textformat.Ratio(s.R2), textformat.Amount(s.RMSE), textformat.Amount(s.MAE)}
		if scaled {
			row = append(row, textformat.Ratio(s.R2Scale))
		}
		t.Rows = append(t.Rows, row)
	}
	add("model", dataset.Train, record.Train)
	add("model", dataset.Valid, record.Valid)
	add("model", dataset.Test, record.Test)
	for _, base := range distinct(record.Baseline) {
		add(base.Name, judged, scoreOf(base, judged))
	}
	t.Write(b)
}

func scoreOf(b kft.BaselineScores, part dataset.Part) kft.Score {
	return [...]kft.Score{b.Train, b.Valid, b.Test}[part]
}

// distinct removes a repeated baseline: with one mode, both are the means of its ids.
func distinct(baselines []kft.BaselineScores) []kft.BaselineScores {
	return slices.CompactFunc(slices.Clone(baselines), func(a, b kft.BaselineScores) bool { return a.Name == b.Name })
}

// writeComparison writes whether the model or a baseline is better. It returns whether
// the model is better by all measures. Scores that print alike count as equal.
func writeComparison(b *strings.Builder, model kft.Score, part dataset.Part, baselines []kft.BaselineScores) (won bool) {
	b.WriteString("\n")
	baselines = distinct(baselines)
	won = true
	var compared []string // the measures that are defined
	for _, measure := range []struct {
		name   string
		of     func(kft.Score) float64
		better func(a, b float64) bool
		text   func(float64) string
	}{
		{"R2", func(s kft.Score) float64 { return s.R2 }, func(a, b float64) bool { return a > b }, textformat.Ratio},
		{"MAE", func(s kft.Score) float64 { return s.MAE }, func(a, b float64) bool { return a < b }, textformat.Amount},
	} {
		best := 0
		score := func(i int) float64 { return measure.of(scoreOf(baselines[i], part)) }
		for i := range baselines {
			if measure.better(score(i), score(best)) {
				best = i
			}
		}
		theirs, ours := score(best), measure.of(model)
		if measure.text(theirs) == textformat.Undefined || measure.text(ours) == textformat.Undefined {
			continue
		}
		compared = append(compared, "in "+measure.name)
		switch name := baselines[best].Name; {
		case measure.text(theirs) == measure.text(ours):
			won = false
			fmt.Fprintf(b, "The model is no better than the baseline %q in %s on %s: both have %s.\n", name, measure.name, part, measure.text(ours))
		case measure.better(theirs, ours):
			won = false
			fmt.Fprintf(b, "The baseline %q beats the model in %s on %s: %s against %s.\n", name, measure.name, part, measure.text(theirs), measure.text(ours))
		}
	}
	if model.R2 < 0 {
		won = false
		fmt.Fprintf(b, "An R2 below 0 on %s means that the mean of the target predicts better.\n", part)
	}
	if won && len(compared) > 0 {
		names := "both baselines"
		if len(baselines) == 1 {
			names = "the baseline"
		}
		fmt.Fprintf(b, "The model beats %s on %s, %s.%s\n", names, part, strings.Join(compared, " and "), caveat(part))
	}
	return won
}

// caveat qualifies a comparison on rows that the fit has used.
func caveat(part dataset.Part) string {
	switch part {
	case dataset.Train:
		return " It was trained on these rows, so this says little; reserve a test set with --split."
	case dataset.Valid:
		return " Its penalty and its number of sweeps were chosen on these rows, so the scores are optimistic; reserve a test set with --split."
	}
	return ""
}

// improvements lists what can improve a model that is not good enough.
func improvements(r *kft.Report, score kft.Score) string {
	var try []string
	if r.Stop == solver.AllSweeps || r.Stop == solver.Budget {
		flag := "--sweeps"
		if r.Spec.Fit.Solver == "adam" {
			flag = "--epochs"
		}
		try = append(try, "more "+flag+" or time, because training had not converged")
	}
	if r.Train.R2 > 0 && r.Train.R2-score.R2 > 0.15 {
		try = append(try, regularization(r.Spec.Fit.Solver)+", because the model fits its training rows far better than other rows")
	} else {
		try = append(try, "a higher --rank, another --term")
	}
	return strings.Join(append(try, "another --transform"), "; ")
}

func sweepNoun(s kft.Spec) string {
	if s.Fit.Solver == "adam" {
		return "epoch"
	}
	return "sweep"
}

func stopText(s solver.Stop, spec kft.Spec, hasValid bool) string {
	switch s {
	case solver.AllSweeps:
		return "all " + sweepNoun(spec) + "s done"
	case solver.Converged:
		if !hasValid {
			return "no further gain on the training set"
		}
		return "no further gain on the validation set"
	case solver.Budget:
		return "time budget reached"
	}
	return string(s)
}

// exampleTable returns a table for an example of a command.
func exampleTable(files []string) string {
	if len(files) == 0 || files[0] == "-" {
		return "TABLE"
	}
	return files[0]
}

// regularization names the flags that reduce overfitting.
func regularization(solver string) string {
	if solver == "cavi" {
		return "a lower --rank" // its priors are learned
	}
	return "a lower --rank or a larger --lambda"
}

// writeChoices lists the scales and likelihoods that were tried, the chosen one first.
func writeChoices(b *strings.Builder, choices []kft.Choice) {
	if len(choices) == 0 {
		return
	}
	var chosen, others []string
	for _, c := range choices {
		text := c.Likelihood + " " + c.Transform + " not possible"
		if c.CRPS != nil {
			text = fmt.Sprintf("%s %s %s", c.Likelihood, c.Transform, textformat.Amount(*c.CRPS))
		}
		if c.Taken {
			chosen = append(chosen, text)
		} else {
			others = append(others, text)
		}
	}
	fmt.Fprintf(b, "Chosen by CRPS on the validation set: %s; others: %s\n", strings.Join(chosen, ""), strings.Join(others, ", "))
}
