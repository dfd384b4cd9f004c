package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

type cellReport struct {
	Cell kft.Cell `json:"cell"`
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
	cells := make([]kft.Cell, len(c.Cell))
	for i, text := range c.Cell {
		cell, err := parseCell(text)
		if err != nil {
			return err
		}
		if cells[i], err = m.CellFromColumns(cell); err != nil {
			return usagef("--cell %s: %v", text, err)
		}
	}
	predict := m.Predict
	if c.Strict {
		predict = m.PredictStrict
	}
	predictions, err := predict(e.ctx, cells)
	var unseen *kft.UnseenError
	var wrong *kft.CellError
	switch {
	case errors.As(err, &unseen):
		return fmt.Errorf("--cell %s: mode %s: the id %q is not in the training data%s; leave out --strict to predict it by the prior",
			c.Cell[unseen.Row-1], unseen.Mode, unseen.ID, nearID(m, unseen.Mode, unseen.ID))
	case errors.As(err, &wrong):
		return usagef("--cell: %v", err)
	case err != nil:
		return err
	}
	var b strings.Builder
	for i, p := range predictions {
		if !c.Quiet {
			for _, mode := range p.Unseen {
				id := cells[i][mode]
				fmt.Fprintf(e.stderr, "%s: the id %q is not in the training data%s; it is predicted by the prior\n", mode, id, nearID(m, mode, id))
			}
		}
		quantiles := make([]cellQuantile, len(levels))
		for k, level := range levels {
			quantiles[k] = cellQuantile{level, p.Distribution().Quantile(level)}
		}
		if c.JSON {
			p.Unseen = append([]string{}, p.Unseen...)
			text, err := json.Marshal(cellReport{cells[i], p, quantiles})
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s\n", text)
			continue
		}
		writeCell(&b, c.Cell[i], p, quantiles)
	}
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

// writeCell writes one line about a prediction.
func writeCell(b *strings.Builder, cell string, p kft.Prediction, quantiles []cellQuantile) {
	fmt.Fprintf(b, "%s: prediction %s, median %s, sd %s", cell, number(p.Mean), number(p.Median), number(p.SD))
	for _, q := range quantiles {
		fmt.Fprintf(b, ", q%g %s", q.Level, number(q.Value))
	}
	if len(p.Unseen) > 0 {
		fmt.Fprintf(b, "; unseen: %s", strings.Join(p.Unseen, ", "))
	}
	if len(p.FromSide) > 0 {
		fmt.Fprintf(b, "; from side information: %s", strings.Join(p.FromSide, ", "))
	}
	b.WriteString("\n")
}

// nearID suggests the nearest id of a mode.
func nearID(m *kft.Model, name, id string) string {
	for i, mode := range m.Modes() {
		if mode.Name == name {
			near := suggest.Nearest(id, m.IDs(i))
			if near != id {
				return suggest.Hint(id, m.IDs(i))
			}
		}
	}
	return ""
}

// parseCell parses store=2106,item=11776. A piece without = continues the id before it,
// which then contains a comma.
func parseCell(text string) (kft.Cell, error) {
	cell := kft.Cell{}
	last := ""
	for piece := range strings.SplitSeq(text, ",") {
		mode, id, ok := strings.Cut(piece, "=")
		mode = strings.TrimSpace(mode)
		switch _, again := cell[mode]; {
		case !ok && last == "":
			return nil, usagef("--cell: %q is not a cell; write it as in store=2106,item=11776,time=2016-12", text)
		case !ok:
			cell[last] += "," + piece
			continue
		case again:
			return nil, usagef("--cell: %q names %s twice", text, mode)
		}
		cell[mode] = id
		last = mode
	}
	return cell, nil
}

func number(v float64) string { return fmt.Sprintf("%.5g", v) }
