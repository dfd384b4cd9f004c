package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
)

// evaluateCommand measures a model on a table.
type evaluateCommand struct {
	Model  string   `arg:"" complete:"file" help:"Model file."`
	Tables []string `arg:"" name:"table" complete:"file" help:"Table with the target: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input. Several tables require --part."`
	Part   string   `placeholder:"PART" values:"train,valid,test" help:"Only the rows that were in the training (train), validation (valid) or test set of the fit; the table must be the one of the fit (default: all rows)."`
	Cold   string   `placeholder:"MODE" help:"Only rows whose id of this mode has no training rows, as in --cold item: measures them as new ids, and again after an update with 1, 3, 10, 30 and all other rows of each (see kft update). Best with a fit that held out ids (--split entity:item=10%)."`
	JSON   bool     `name:"json" help:"Print one JSON object."`
	tableFlags
}

// Help is shown by kft evaluate --help.
func (*evaluateCommand) Help() string {
	return `Predicts the rows that have a target and measures errors: R2 and RMSE of the means, MAE of the medians. Measures the distributions as well: coverage of central intervals (Xi sums the deviations of five levels), CRPS and pinball loss (in units of the target, smaller is better), the width of 90 % intervals, and their coverage for rows whose rarest id has many training rows (warm, 10 or more), few, or none (cold). Without --part the training rows count too. A model of several targets is measured on each; --json prints one object per target.

Examples:

    kft evaluate model.kft next-month.csv
    kft evaluate model.kft sales.csv --part test --json
    kft evaluate model.kft sales.csv --part test --cold item`
}

// Run measures.
func (c *evaluateCommand) Run(e *env) error {
	part, err := parsePart(c.Part, c.Tables)
	if err != nil {
		return err
	}
	_, err = c.inputs(c.Tables...)
	if err := e.agree(err); err != nil {
		return err
	}
	all, opt, err := c.openAny(e, c.Model)
	if err := e.agree(err); err != nil {
		return err
	}
	if e.ranks != nil && c.Cold != "" {
		return usagef("--cold needs one process; leave out mpirun")
	}
	if opt.Output.Share, err = e.shareTable(all, c.Model, c.Tables); err != nil {
		return err
	}
	opt.Threads = e.threads(opt.Threads)
	models, err := modelsOf(all)
	if err != nil {
		return err
	}
	if c.Cold != "" {
		if len(models) > 1 {
			return usagef("--cold: it measures models of one target; fit a model of one of the targets")
		}
		return c.cold(e, models[0], part, opt)
	}
	if len(models) > 1 && slices.Contains(c.Tables, "-") {
		return usagef("a model of several targets reads its table once for each; save standard input to a file")
	}
	for i, m := range models {
		if len(models) > 1 && !c.JSON {
			fmt.Fprintf(e.stdout, "%sTarget %s\n", strings.Repeat("\n", min(i, 1)), m.Spec().Data.Target)
		}
		if err := c.measure(e, m, part, opt, len(models) > 1); err != nil {
			return err
		}
	}
	return nil
}

// measure measures and reports a model of one target, or that of one of several.
func (c *evaluateCommand) measure(e *env, m *kft.Model, part dataset.Part, opt kft.TableOptions, several bool) error {
	var err error
	var score kft.Score
	sum := kft.Summary{}
	if c.Part != "" {
		score, sum, err = m.EvaluatePart(e.together(), kft.Files(c.Tables...), part, opt)
	} else {
		score, sum, err = m.Evaluate(e.together(), kft.Files(c.Tables...), opt)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return writeEvaluation(e.stdout, m, score, sum, several)
	}
	var b strings.Builder
	header := []string{"n", "R2", "RMSE", "MAE"}
	row := []string{textformat.Count(score.N), textformat.Ratio(score.R2), textformat.Amount(score.RMSE), textformat.Amount(score.MAE)}
	if scale := m.Spec().Transform; scale != "identity" {
		header, row = append(header, "R2 "+scale), append(row, textformat.Ratio(score.R2Scale))
	}
	if m := score.Binary; m != nil {
		header = []string{"n", "log loss", "Brier", "AUC", "error rate"}
		row = append([]string{textformat.Count(score.N)}, summary.BinaryRow(m)...)
	}
	t := textformat.Table{Header: header, Rows: [][]string{row}}
	t.Write(&b)
	summary.WriteReliability(&b, "", score)
	summary.WriteBias(&b, "", score, m.Uncertainty().Means)
	summary.WriteCalibration(&b, "", score)
	summary.WriteUnseen(&b, m, sum, "")
	summary.WriteUnusedSide(&b, m, sum, c.Side)
	for _, warning := range sum.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", nameFlags(warning, e.hasFlag))
	}
	if sum.Fitted {
		b.WriteString("warning: the model was trained again on these rows, so the scores are optimistic for other rows; kft inspect shows those that were measured before\n")
	}
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// writeEvaluation prints the fields of the score and, by mode, how many rows had an
// unseen id and how many of these were predicted from side information; trained_on
// says that the model was trained on the rows.
func writeEvaluation(w io.Writer, m *kft.Model, score kft.Score, sum kft.Summary, several bool) error {
	text, err := json.Marshal(score)
	if err != nil {
		return err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	unseen, side := map[string]int{}, map[string]int{}
	for i, mode := range m.Modes() {
		unseen[mode.Name], side[mode.Name] = sum.Unseen[i], sum.Side[i]
	}
	fields["unseen"], fields["from_side"], fields["warnings"] = unseen, side, append([]string{}, sum.Warnings...)
	if sum.Fitted {
		fields["trained_on"] = true
	}
	if several {
		fields["target"] = m.Spec().Data.Target
	}
	return writeJSON(w, fields)
}
