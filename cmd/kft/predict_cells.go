package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
	cells, err := parseCells(m, "--cell", c.Cell)
	if err != nil {
		return err
	}
	predict := m.Predict
	if c.Strict {
		predict = m.PredictStrict
	}
	predictions, err := predict(e.ctx, cells)
	if err != nil {
		return cellError(m, "--cell", c.Cell, err)
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

// parseCells parses cells, which may give the columns of modes. where is the argument in
// messages.
func parseCells(m *kft.Model, where string, texts []string) ([]kft.Cell, error) {
	cells := make([]kft.Cell, len(texts))
	for i, text := range texts {
		cell, err := parseCell(where, text)
		if err != nil {
			return nil, err
		}
		if cells[i], err = cellFromColumns(m, cell); err != nil {
			return nil, usagef("%s %s: %v", where, text, err)
		}
	}
	return cells, nil
}

// cellError words an error about one of some cells.
func cellError(m *kft.Model, where string, texts []string, err error) error {
	var unseen *kft.UnseenError
	var wrong *kft.CellError
	switch {
	case errors.As(err, &unseen):
		return fmt.Errorf("%s %s: mode %s: the id %q is not in the training data%s; leave out --strict to predict it by the prior",
			where, texts[unseen.Row-1], unseen.Mode, unseen.ID, nearID(m, unseen.Mode, unseen.ID))
	case errors.As(err, &wrong):
		return usagef("%s: %v", where, err)
	}
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

// cellFromColumns adds the ids of modes that the cell gives by their columns, as in
// year=2016,month=1 for time=year+month.
func cellFromColumns(m *kft.Model, cell kft.Cell) (kft.Cell, error) {
	whole := maps.Clone(cell)
	var used []string
	for _, mode := range m.Modes() {
		if _, named := cell[mode.Name]; named {
			continue
		}
		id, ok, err := mode.ID(cell)
		if err != nil {
			return nil, err
		}
		if ok {
			whole[mode.Name] = id
			used = append(used, mode.Columns...)
		}
	}
	for _, column := range used {
		isMode := false
		for _, mode := range m.Modes() {
			isMode = isMode || mode.Name == column
		}
		if !isMode {
			delete(whole, column)
		}
	}
	return whole, nil
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
func parseCell(where, text string) (kft.Cell, error) {
	cell := kft.Cell{}
	last := ""
	for piece := range strings.SplitSeq(text, ",") {
		mode, id, ok := strings.Cut(piece, "=")
		mode = strings.TrimSpace(mode)
		switch _, again := cell[mode]; {
		case !ok && last == "":
			return nil, usagef("%s: %q is not a cell; write it as in store=2106,item=11776,time=2016-12", where, text)
		case !ok:
			cell[last] += "," + piece
			continue
		case again:
			return nil, usagef("%s: %q names %s twice", where, text, mode)
		}
		cell[mode] = id
		last = mode
	}
	return cell, nil
}

func number(v float64) string { return fmt.Sprintf("%.5g", v) }
