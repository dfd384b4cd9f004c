package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// cold measures a model on new ids of a mode.
func (c *evaluateCommand) cold(e *env, m *kft.Model, part kft.Part, opt kft.TableOptions) error {
	var only *kft.Part
	if c.Part != "" {
		only = &part
	}
	report, err := m.EvaluateCold(e.ctx, kft.Files(c.Tables...), c.Cold, only, opt)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.stdout, report)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s without training rows. Half of the rows of each are measured; the model is updated with some of the others.\n", textformat.Plural(report.IDs, c.Cold))
	scale := m.Spec().Transform
	t := textformat.Table{Header: []string{"rows added", c.Cold, "n", "R2", "R2 " + scale, "MAE", "inside 90 %", "width", "R2 " + scale + " before", "MAE before"}}
	for _, l := range report.Levels {
		taken := textformat.Count(l.Rows)
		if l.Rows < 0 {
			taken = "all"
		}
		t.Rows = append(t.Rows, []string{taken, textformat.Count(l.IDs), textformat.Count(l.Score.N), textformat.Ratio(l.Score.R2), textformat.Ratio(l.Score.R2Scale), textformat.Amount(l.Score.MAE),
			textformat.Ratio(float64(l.Score.Calibration.Coverage90)), textformat.Amount(float64(l.Score.Calibration.Width90)), textformat.Ratio(l.Before.R2Scale), textformat.Amount(l.Before.MAE)})
	}
	t.Write(&b)
	_, err = io.WriteString(e.stdout, b.String())
	return err
}
