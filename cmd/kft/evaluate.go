package main

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
)

// evaluateCommand measures a model on a table.
type evaluateCommand struct {
	Model  string   `arg:"" complete:"file" help:"The model file."`
	Tables []string `arg:"" name:"table" complete:"file" help:"A table with the target, plain or gzip; - is standard input. Several only with --part."`
	Part   string   `placeholder:"PART" values:"train,valid,test" help:"Only the rows that were train, valid or test in the fit; the table must be the one it was fitted to."`
	JSON   bool     `name:"json" help:"Print one JSON object."`
	tableFlags
}

// Help is shown by kft evaluate --help.
func (*evaluateCommand) Help() string {
	return `Predicts the rows that have a target and measures the errors: R2 and RMSE of the means, MAE of the medians; and the distributions: the share of values inside central intervals (Xi adds up how far five of them are off), CRPS and pinball loss (smaller is better, in the target's units), the width of the 90 % interval, and whether that holds for rows of ids with many training rows (warm, 10 or more), few or none (cold) alike. Rows that the model was trained on are measured too, unless --part leaves them out.

Example:

    kft evaluate model.kft next-month.csv
    kft evaluate model.kft sales.csv --part test --json`
}

// Run measures.
func (c *evaluateCommand) Run(e *env) error {
	part, err := parsePart(c.Part, c.Tables)
	if err != nil {
		return err
	}
	if _, err := c.inputs(c.Tables...); err != nil {
		return err
	}
	m, opt, err := c.open(e, c.Model)
	if err != nil {
		return err
	}
	var score kft.Score
	sum := kft.Summary{}
	if c.Part != "" {
		score, sum, err = m.EvaluatePart(e.ctx, kft.Files(c.Tables...), part, opt)
	} else {
		score, sum, err = m.Evaluate(e.ctx, kft.Files(c.Tables...), opt)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return writeEvaluation(e.stdout, m, score, sum)
	}
	var b strings.Builder
	header := []string{"n", "R2", "RMSE", "MAE"}
	row := []string{count(score.N), ratio(score.R2), amount(score.RMSE), amount(score.MAE)}
	if scale := m.Spec().Transform; scale != "identity" {
		header, row = append(header, "R2 "+scale), append(row, ratio(score.R2Scale))
	}
	t := textTable{header: header, rows: [][]string{row}}
	t.write(&b)
	writeCalibration(&b, "", score)
	writeSources(&b, m, sum, "")
	writeUnmatched(&b, m, sum, c.Side)
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// writeEvaluation prints the score's fields with, beside them, how many rows had
// an unknown id of each mode, and an id known by its side row alone.
func writeEvaluation(w io.Writer, m *kft.Model, score kft.Score, sum kft.Summary) error {
	text, err := json.Marshal(score)
	if err != nil {
		return err
	}
	fields := map[string]any{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	unknown, side := map[string]int{}, map[string]int{}
	for i, mode := range m.Modes() {
		unknown[mode.Name], side[mode.Name] = sum.Unseen[i], sum.Side[i]
	}
	fields["unknown"], fields["from_side"] = unknown, side
	return writeJSON(w, fields)
}
