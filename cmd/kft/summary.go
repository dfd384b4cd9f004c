package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/solver"
)

// writeSummary tells a person what came of a fit: the data, the model, its
// scores against the formulas, warnings, and what to type next.
func writeSummary(w io.Writer, m *kft.Model, r *kft.Report, output string) error {
	var b strings.Builder
	writeData(&b, m)
	fmt.Fprintf(&b, "Model: %s; scale %s; %s%s\n", strings.Join(r.Spec.Terms, " + "), r.Spec.Transform, plural(r.Weights, "weight"), penaltyWords(r.Spec, r.Ridge))
	writeSide(&b, r.Side, r.Spec)
	fmt.Fprintf(&b, "Training: %s (%s), %s\n", plural(len(r.History), sweepWord(r.Spec)), stopWords(r.Stop, r.Spec, r.Valid.N > 0), plural(r.Passes, "pass"))
	fmt.Fprintf(&b, "Uncertainty: %s\n\n", uncertaintyWords(m.Uncertainty(), r.Spec.Transform))
	part, judged := lastPart(r.Train, r.Valid, r.Test)
	writeScores(&b, m.Record(), r.Spec.Transform, part)
	writeChoices(&b, r.Choices)
	writeCalibration(&b, " on "+part.String(), judged)
	if !writeVerdict(&b, judged, part, r.Baseline) {
		fmt.Fprintf(&b, "Try %s.\n", advice(r, judged))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	size := ""
	if info, err := os.Stat(output); err == nil {
		size = " (" + bytesText(info.Size()) + ")"
	}
	fmt.Fprintf(&b, "\nWrote %s%s in %.1f s, %s of memory at most.\n", output, size, r.Seconds["total"], bytesText(r.PeakRSS))
	fmt.Fprintf(&b, "Next: kft predict %s %s -o predictions.csv\n", quote(output), quote(tableName(r.Spec.Data.Files)))
	_, err := io.WriteString(w, b.String())
	return err
}

// penaltyWords name the penalty of a point; a posterior has priors in its place,
// which it learns.
func penaltyWords(spec kft.Spec, r solver.Ridge) string {
	if spec.Uncertainty.Bayesian() {
		return ""
	}
	return "; penalty " + r.String()
}

// writeData says how much was read and how it was divided.
func writeData(b *strings.Builder, m *kft.Model) {
	about := m.Record()
	var sizes []string
	for i, mode := range m.Modes() {
		sizes = append(sizes, fmt.Sprintf("%s %s", count(len(m.IDs(i))), mode.Name))
	}
	fmt.Fprintf(b, "Data: %s, %s; %s train, %s valid, %s test\n", plural(about.Rows.Rows, "row"), strings.Join(sizes, " x "),
		count(about.Train.N), count(about.Valid.N), count(about.Test.N))
	for _, left := range []struct {
		n    int
		what string
	}{
		{about.Rows.Missing, "without a target left out"},
		{about.Rows.ZeroWeight, "of weight 0 left out"},
		{about.Rows.Merged, "merged into the cell of an earlier row"},
		{m.HeldOut(), "of the valid part kept for the conformal layer"},
		{unused(about) - m.HeldOut(), "marked unused by the split"},
	} {
		if left.n > 0 {
			fmt.Fprintf(b, "      %s %s\n", plural(left.n, "row"), left.what)
		}
	}
	for _, part := range []string{"valid", "test"} {
		if periods := about.Periods[part]; periods != "" {
			fmt.Fprintf(b, "      %s: %s\n", part, periods)
		}
	}
}

// unused counts the rows that are observations but in no part.
func unused(about kft.Record) int {
	r := about.Rows
	return r.Rows - r.Missing - r.ZeroWeight - r.Merged - about.Train.N - about.Valid.N - about.Test.N
}

// lastPart returns the part a model is judged on: test, else valid, else train.
func lastPart(train, valid, test kft.Score) (dataset.Part, kft.Score) {
	switch {
	case test.N > 0:
		return dataset.Test, test
	case valid.N > 0:
		return dataset.Valid, valid
	}
	return dataset.Train, train
}

// writeScores writes the table of scores: the model on every part, the
// formulas on the part it is judged on.
func writeScores(b *strings.Builder, about kft.Record, transform string, judged dataset.Part) {
	header := []string{"", "part", "n", "R2", "RMSE", "MAE"}
	scaled := transform != "identity"
	if scaled {
		header = append(header, "R2 "+transform)
	}
	t := textTable{header: header, left: 2}
	add := func(name string, part dataset.Part, s kft.Score) {
		if s.N == 0 {
			return
		}
		row := []string{name, part.String(), count(s.N), ratio(s.R2), amount(s.RMSE), amount(s.MAE)}
		if scaled {
			row = append(row, ratio(s.R2Scale))
		}
		t.rows = append(t.rows, row)
	}
	add("model", dataset.Train, about.Train)
	add("model", dataset.Valid, about.Valid)
	add("model", dataset.Test, about.Test)
	for _, base := range distinct(about.Baseline) {
		add(base.Name, judged, scoreOf(base, judged))
	}
	t.write(b)
}

func scoreOf(b kft.BaselineScores, part dataset.Part) kft.Score {
	return [...]kft.Score{b.Train, b.Valid, b.Test}[part]
}

// distinct leaves out a formula that is there already: of one mode, both are its
// means.
func distinct(baselines []kft.BaselineScores) []kft.BaselineScores {
	return slices.CompactFunc(slices.Clone(baselines), func(a, b kft.BaselineScores) bool { return a.Name == b.Name })
}

// writeVerdict says plainly which of model and formulas is better, and returns
// whether the model is in all that counts. What is printed alike is equal.
func writeVerdict(b *strings.Builder, model kft.Score, part dataset.Part, baselines []kft.BaselineScores) (won bool) {
	b.WriteString("\n")
	baselines = distinct(baselines)
	won = true
	var judged []string // the measures that are defined
	for _, measure := range []struct {
		name   string
		of     func(kft.Score) float64
		better func(a, b float64) bool
		text   func(float64) string
	}{
		{"R2", func(s kft.Score) float64 { return s.R2 }, func(a, b float64) bool { return a > b }, ratio},
		{"MAE", func(s kft.Score) float64 { return s.MAE }, func(a, b float64) bool { return a < b }, amount},
	} {
		best := 0
		score := func(i int) float64 { return measure.of(scoreOf(baselines[i], part)) }
		for i := range baselines {
			if measure.better(score(i), score(best)) {
				best = i
			}
		}
		theirs, ours := score(best), measure.of(model)
		if measure.text(theirs) == undefined || measure.text(ours) == undefined {
			continue
		}
		judged = append(judged, "in "+measure.name)
		switch name := baselines[best].Name; {
		case measure.text(theirs) == measure.text(ours):
			won = false
			fmt.Fprintf(b, "The model is no better than the formula %q in %s on %s: each has %s.\n", name, measure.name, part, measure.text(ours))
		case measure.better(theirs, ours):
			won = false
			fmt.Fprintf(b, "The formula %q beats the model in %s on %s: %s against %s.\n", name, measure.name, part, measure.text(theirs), measure.text(ours))
		}
	}
	if model.R2 < 0 {
		won = false
		fmt.Fprintf(b, "An R2 below 0 on %s means that the mean of the target predicts better.\n", part)
	}
	if won && len(judged) > 0 {
		formulas := "both formulas"
		if len(baselines) == 1 {
			formulas = "the formula"
		}
		fmt.Fprintf(b, "The model beats %s on %s, %s.%s\n", formulas, part, strings.Join(judged, " and "), caveat(part))
	}
	return won
}

// caveat says what a comparison on rows that had a part in the fit is worth.
func caveat(part dataset.Part) string {
	switch part {
	case dataset.Train:
		return " It was fitted to these very rows, so that says little: keep some for a test by --split."
	case dataset.Valid:
		return " Its penalty and its length were chosen on these rows, so that flatters it: keep some for a test by --split."
	}
	return ""
}

// advice lists what may help a model that is not good enough.
func advice(r *kft.Report, judged kft.Score) string {
	var try []string
	if r.Stop == solver.AllSweeps || r.Stop == solver.Budget {
		flag := "--sweeps"
		if r.Spec.Fit.Solver == "adam" {
			flag = "--epochs"
		}
		try = append(try, "more "+flag+" or time, for training was not over")
	}
	if r.Train.R2 > 0 && r.Train.R2-judged.R2 > 0.15 {
		try = append(try, lessFit(r.Spec.Fit.Solver)+", for the model fits its training rows far better than others")
	} else {
		try = append(try, "a higher --rank, another --term")
	}
	return strings.Join(append(try, "another --transform"), "; ")
}

func sweepWord(s kft.Spec) string {
	if s.Fit.Solver == "adam" {
		return "epoch"
	}
	return "sweep"
}

func stopWords(s solver.Stop, spec kft.Spec, hasValid bool) string {
	switch s {
	case solver.AllSweeps:
		return "all " + sweepWord(spec) + "s done"
	case solver.Converged:
		if !hasValid {
			return "no further gain on the train part"
		}
		return "no further gain on the valid part"
	case solver.Budget:
		return "the time budget ended it"
	}
	return string(s)
}

// tableName is a table to name in an example.
func tableName(files []string) string {
	if len(files) == 0 || files[0] == "-" {
		return "TABLE"
	}
	return files[0]
}

// lessFit says what holds a model back from its training rows.
func lessFit(solver string) string {
	if solver == "cavi" {
		return "a lower --rank" // its priors are learned
	}
	return "a lower --rank or a larger --lambda"
}

// writeChoices lists the scales and likelihoods that were tried, the one taken
// first.
func writeChoices(b *strings.Builder, choices []kft.Choice) {
	if len(choices) == 0 {
		return
	}
	var taken, others []string
	for _, c := range choices {
		text := c.Likelihood + " " + c.Transform + " not possible"
		if c.CRPS != nil {
			text = fmt.Sprintf("%s %s %s", c.Likelihood, c.Transform, amount(*c.CRPS))
		}
		if c.Taken {
			taken = append(taken, text)
		} else {
			others = append(others, text)
		}
	}
	fmt.Fprintf(b, "Chosen by CRPS on valid: %s; beside it %s\n", strings.Join(taken, ""), strings.Join(others, ", "))
}
