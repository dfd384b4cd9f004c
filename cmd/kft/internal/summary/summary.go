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
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// WriteFit writes the result of a fit: data, model, scores beside those of formulas,
// warnings, and the next command. The output is the model file. nameFlags adds the flags of
// the command line to a warning.
func WriteFit(w io.Writer, m *kft.Model, r *kft.Report, output string, nameFlags func(string) string) error {
	var b strings.Builder
	WriteData(&b, m)
	WriteCovariates(&b, m)
	fmt.Fprintf(&b, "Model: %s; scale %s; %s%s\n", spec.ReadableTerms(strings.Join(r.Spec.Terms, " + ")), scaleText(r), textformat.Plural(r.Weights, "weight"), penaltyText(r.Spec, r.Ridge))
	writeTerms(&b, r.Terms)
	WriteSide(&b, r.Side, r.Spec)
	WriteDecisions(&b, r.Record, r.Spec)
	fmt.Fprintf(&b, "Training: %s (%s), %s\n", textformat.Plural(len(r.History), sweepNoun(r.Spec)), stopText(r.Stop, r.Spec, r.Valid.N > 0), textformat.Plural(r.Passes, "pass"))
	WriteRefit(&b, r.Refit, r.Spec)
	fmt.Fprintf(&b, "Uncertainty: %s\n\n", Uncertainty(m.Uncertainty(), r.Spec.Transform))
	if !WriteTargets(&b, r.Record) {
		writeFitScores(&b, m, r)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "Note: %s\n", nameFlags(note))
	}
	for _, warning := range r.Warnings {
		if warning == r.BehindFormula() {
			continue // the comparison says it
		}
		fmt.Fprintf(&b, "warning: %s\n", nameFlags(warning))
	}
	writeSpecification(&b, r)
	size := ""
	if info, err := os.Stat(output); err == nil {
		size = " (" + textformat.Bytes(info.Size()) + ")"
	}
	fmt.Fprintf(&b, "\nWrote %s%s in %.1f s, %s of memory at most.\n", output, size, r.Seconds["total"], textformat.Bytes(r.PeakRSS))
	if horizon := split.LastPeriods(r.Spec.Split); horizon > 0 && r.Refit.Saw(dataset.Test) {
		fmt.Fprintf(&b, "Next: kft forecast %s", textformat.Quote(output))
		if len(r.Targets) > 0 {
			fmt.Fprintf(&b, " --target %s", textformat.Quote(r.Targets[0].Name))
		}
		if columns := futureColumns(r.Spec); len(columns) > 0 {
			fmt.Fprintf(&b, " --future FILE, a table of the next cells with %s\n", strings.Join(columns, ", "))
		} else {
			fmt.Fprintf(&b, " --horizon %d\n", horizon)
		}
	} else {
		fmt.Fprintf(&b, "Next: kft predict %s %s -o predictions.csv\n", textformat.Quote(output), textformat.Quote(exampleTable(r.Spec.Data.Files)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// futureColumns returns the columns of the covariates that terms use, whose future values a forecast needs.
func futureColumns(s kft.Spec) (columns []string) {
	for _, text := range s.UsedCovariates(s.Data.Modes) {
		if m, err := dataset.ParseMode(text); err == nil && m.Covariate() && !m.Derived() {
			columns = append(columns, m.Columns...)
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}

// writeFitScores writes what was measured of a model of one target.
func writeFitScores(b *strings.Builder, m *kft.Model, r *kft.Report) {
	part, score := r.Judged()
	WriteScores(b, m.Record(), r.Spec.Transform, part)
	WriteReliability(b, " on "+part.String(), score)
	WriteBias(b, " on "+part.String(), score, m.Uncertainty().Means)
	if len(r.Decisions) == 0 {
		writePower(b, r.Power)
	}
	writeChoices(b, r.Choices)
	writeOrders(b, r.Orders)
	WriteCalibration(b, " on "+part.String(), score)
	if !writeComparison(b, r.Record) {
		fmt.Fprintf(b, "Try %s.\n", improvements(r))
	}
	writeGapNote(b, m, r.Record)
}

// scaleText names the scale, or those of several targets.
func scaleText(r *kft.Report) string {
	if len(r.Targets) == 0 {
		return r.Spec.Transform
	}
	var scales []string
	for _, t := range r.Targets {
		scales = append(scales, t.Scale.Transform.Name()+" of "+t.Name)
	}
	return strings.Join(scales, ", ")
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
		if !mode.Covariate() {
			sizes = append(sizes, fmt.Sprintf("%s %s", textformat.Count(len(m.IDs(i))), mode.Name))
		}
	}
	cells := ""
	if len(sizes) > 0 {
		cells = ", " + strings.Join(sizes, " x ")
	}
	fmt.Fprintf(b, "Data: %s%s; %s train, %s valid, %s test\n", textformat.Plural(record.Rows.Rows, "row"), cells,
		textformat.Count(record.Train.N), textformat.Count(record.Valid.N), textformat.Count(record.Test.N))
	for _, left := range []struct {
		n    int
		what string
	}{
		{record.Rows.Missing, "left out: no target"},
		{record.Rows.NoID, "left out: an id is empty"},
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
	if n := record.Rows.Zeros; n > 0 {
		fmt.Fprintf(b, "      %s without a row, within the life of a series, count as 0\n", textformat.Plural(n, "cell"))
	}
}

// unused counts the observations that are in no part.
func unused(record kft.Record) int {
	r := record.Rows
	return r.Rows + r.Zeros - r.Missing - r.NoID - r.ZeroWeight - r.Merged - record.Train.N - record.Valid.N - record.Test.N
}

// WriteScores writes the table of scores: the model on every part, the best formulas on
// the part that the model is judged by, the best first.
func WriteScores(b *strings.Builder, record kft.Record, transform string, judged dataset.Part) {
	if _, score := record.Judged(); score.Binary != nil {
		writeBinaryScores(b, record, judged)
		return
	}
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
	writeTable(b, &t, record, judged, add)
}

// writeTable adds the scores of the model by part and those of the best formulas to a table
// and writes it.
func writeTable(b *strings.Builder, t *textformat.Table, record kft.Record, judged dataset.Part, add func(name string, part dataset.Part, s kft.Score)) {
	add("model", dataset.Train, record.Train)
	add("model", dataset.Valid, record.Valid)
	add("model", dataset.Test, record.Test)
	formulas := listed(record)
	if record.Compared != nil {
		add("model, rows of the formulas", judged, *record.Compared)
	}
	for _, f := range formulas {
		add(f.Name, judged, f.Of(judged))
	}
	t.Write(b)
	writeMore(b, len(record.Baseline)-len(formulas))
}

// writeMore writes that there are more formulas than a table lists.
func writeMore(b *strings.Builder, more int) {
	switch {
	case more == 1:
		b.WriteString("1 more formula is worse on the rows that it was chosen on; --json lists all\n")
	case more > 1:
		fmt.Fprintf(b, "%d more formulas are worse on the rows that they were chosen on; --json lists all\n", more)
	}
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

// WriteRefit writes that a model was trained again on more rows.
func WriteRefit(b *strings.Builder, r *kft.Refit, s kft.Spec) {
	if r == nil {
		return
	}
	rows, sweeps := textformat.Plural(r.Rows, "row"), textformat.Plural(r.Sweeps, sweepNoun(s))
	noise := ""
	if r.Noise {
		noise = "; the noise was learned again, because it is much larger now"
	}
	switch {
	case r.KeepsTest:
		fmt.Fprintf(b, "Refit: trained again on the %s of the training and validation set, %s; the scores on test are those of this model%s\n", rows, sweeps, noise)
	case r.Measured > 0:
		fmt.Fprintf(b, "Refit: trained again on the %s of the training and validation set, measured on test, then trained on all %s, %s%s\n", textformat.Plural(r.Measured, "row"), rows, sweeps, noise)
	default:
		kept := "scores, noise and corrections"
		if r.Noise {
			kept = "scores and corrections"
		}
		fmt.Fprintf(b, "Refit: trained again on all %s, %s; %s are those measured before%s\n", rows, sweeps, kept, noise)
	}
}

// writePower writes how a power was estimated.
func writePower(b *strings.Builder, p *kft.PowerEstimate) {
	if p == nil {
		return
	}
	fmt.Fprintf(b, "Scale estimated from %s: power %.2f in units of %s\n", textformat.Plural(p.Rows, "training row"), p.Power, textformat.Amount(p.Unit))
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

// writeGapNote writes what scores on random rows say about a table with a time.
func writeGapNote(b *strings.Builder, m *kft.Model, r kft.Record) {
	if !strings.HasPrefix(r.Split, "random:") {
		return
	}
	mode := timeline.ModeOf(m.Modes(), m.IDs)
	if mode < 0 {
		return
	}
	if last := min(3, (len(m.IDs(mode))-1)/2); last > 0 {
		fmt.Fprintf(b, "The rows were split at random, so the scores are those of gaps between known periods; for those of the future, split by %s: --split time:last=%d.\n", m.Modes()[mode].Name, last)
	}
}
