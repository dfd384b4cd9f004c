package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/celltext"
	"github.com/kernel-fried-tensor/kft/internal/digits"
)

type cellReport struct {
	Target string   `json:"target,omitempty"` // one of several
	Cell   kft.Cell `json:"cell"`
	kft.Prediction
	Quantiles []cellQuantile `json:"quantiles"`
}

type cellQuantile struct {
	Level float64 `json:"level"`
	Value float64 `json:"value"`
}

// cells predicts the cells of --cell.
func (c *predictCommand) cells(e *env, m *kft.Model, levels []float64) error {
	if levels == nil {
		levels = []float64{.05, .95}
	}
	cells, err := celltext.ParseAll(m, "--cell", c.Cell)
	if err != nil {
		return err
	}
	predict := m.Predict
	if c.Strict {
		predict = m.PredictStrict
	}
	predictions, err := predict(e.ctx, cells)
	if err != nil {
		return celltext.Reword(m, "--cell", c.Cell, err)
	}
	target := ""
	if slices.ContainsFunc(m.Modes(), kft.Mode.Target) {
		target = m.Spec().Data.Target
	}
	var b strings.Builder
	for i, p := range predictions {
		if !c.Quiet {
			for _, mode := range p.Unseen {
				id := cells[i][mode]
				fmt.Fprintf(e.stderr, "%s: the id %q is not in the training data%s; it is predicted by the prior\n", mode, id, celltext.NearID(m, mode, id))
			}
		}
		if problem := m.PeriodProblem(cells[i]); problem != "" && len(p.Unseen) == 0 && len(p.FromSide) > 0 {
			fmt.Fprintf(e.stderr, "warning: %s\n", problem)
		}
		quantiles := make([]cellQuantile, len(levels))
		for k, level := range levels {
			quantiles[k] = cellQuantile{level, p.Distribution().Quantile(level)}
		}
		if c.JSON {
			p.Unseen = append([]string{}, p.Unseen...)
			text, err := json.Marshal(cellReport{target, cells[i], p, quantiles})
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s\n", text)
			continue
		}
		if target != "" {
			fmt.Fprintf(&b, "%s: ", target)
		}
		writeCell(&b, m, c.Cell[i], p, quantiles)
	}
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// writeCell writes one line about a prediction.
func writeCell(b *strings.Builder, m *kft.Model, cell string, p kft.Prediction, quantiles []cellQuantile) {
	fmt.Fprintf(b, "%s: prediction %s, median %s, sd %s", cell, number(p.Mean), number(p.Median), number(p.SD))
	for _, q := range quantiles {
		fmt.Fprintf(b, ", q%g %s", q.Level, number(q.Value))
	}
	if len(p.Unseen) > 0 {
		fmt.Fprintf(b, "; unseen: %s", strings.Join(p.Unseen, ", "))
	}
	var side, beyond []string
	for _, mode := range m.Modes() {
		switch {
		case !slices.Contains(p.FromSide, mode.Name):
		case mode.Smooth():
			beyond = append(beyond, mode.Name)
		default:
			side = append(side, mode.Name)
		}
	}
	if len(side) > 0 {
		fmt.Fprintf(b, "; from side information: %s", strings.Join(side, ", "))
	}
	if len(beyond) > 0 {
		fmt.Fprintf(b, "; beyond the range of the fit: %s", strings.Join(beyond, ", "))
	}
	b.WriteString("\n")
}

func number(v float64) string { return digits.Short(v, 5) }
