package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/celltext"
	"github.com/kernel-fried-tensor/kft/internal/atomicfile"
)

// explainCommand gives reasons for predictions.
type explainCommand struct {
	Model      string   `arg:"" complete:"file" help:"Model file."`
	Cell       []string `arg:"" optional:"" name:"cell" sep:"none" help:"Cells, as in store=2106,item=11776,time=2016-12. Without a cell the model as a whole is explained."`
	WhatIf     []string `name:"what-if" sep:"none" placeholder:"CHANGE" help:"Also predict with another value in a side table, as in item.price=12.5, or of a covariate, as in promo=1. May be repeated; all changes apply at once."`
	Neighbours int      `from:"0" default:"5" placeholder:"N" help:"Number of nearest ids to list for each mode; 0 for none (default: 5)."`
	Data       string   `placeholder:"TABLE" complete:"file" help:"Table of the fit: to measure the importance of modes and columns on its validation set, or to show its values at a cell and at the cells of neighbours."`
	Output     string   `endings:".svg" short:"o" placeholder:"FILE" complete:"file" help:"Write the waterfall of one cell as an SVG picture."`
	Strict     bool     `help:"Fail on ids that have neither training data nor side information."`
	JSON       bool     `name:"json" help:"Print one JSON object per cell."`
	tableFlags
}

// Help is shown by kft explain --help.
func (*explainCommand) Help() string {
	return `Divides the prediction of each cell among the terms of the model and among what is known of its ids: their own weights and their side information. On the modelling scale the parts add up exactly to the prediction. Lists the ids that are nearest by learned factors and by side information.

Without a cell, explains the model: the share of each term in the variance, and the learned curves of side columns and seasons. With --data also the importance of each mode and column: the fall of R2 if its values are exchanged at random.

Examples:

    kft explain model.kft store=S001,item=A0001,time=2024-12
    kft explain model.kft store=S001,item=A0001,time=2024-12 --what-if item.price=12.5
    kft explain model.kft store=S001,item=A0001,time=2024-12 -o why.svg
    kft explain model.kft --data sales.csv`
}

// Run explains.
func (c *explainCommand) Run(e *env) error {
	switch {
	case len(c.Cell) == 0 && len(c.WhatIf) > 0:
		return usagef("--what-if requires a cell, as in store=2106,item=11776")
	case c.Output != "" && len(c.Cell) != 1:
		return usagef("-o draws one cell; give one cell, or leave out -o")
	}
	inputs := []string{c.Model}
	if c.Data != "" {
		inputs = append(inputs, c.Data)
	}
	inputs, err := c.inputs(inputs...)
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := checkOutput(c.Output, inputs); err != nil {
			return err
		}
	}
	m, opt, err := c.open(e, c.Model)
	if err != nil {
		return err
	}
	if len(c.Cell) == 0 {
		return c.whole(e, m, opt)
	}
	return c.cells(e, m, opt)
}

func (c *explainCommand) cells(e *env, m *kft.Model, table kft.TableOptions) error {
	cells, err := celltext.ParseAll(m, "cell", c.Cell)
	if err != nil {
		return err
	}
	opt := kft.ExplainOptions{Neighbours: c.Neighbours, Strict: c.Strict}
	if c.Neighbours == 0 {
		opt.Neighbours = -1
	}
	for _, text := range c.WhatIf {
		change, err := m.ParseChange(text)
		if err != nil {
			return fmt.Errorf("--what-if %w", err)
		}
		opt.WhatIf = append(opt.WhatIf, change)
	}
	if c.Data != "" {
		if opt.Table, err = m.ReadFitted(e.ctx, kft.Files(c.Data), table); err != nil {
			return err
		}
	}
	explanations, err := m.Explain(e.ctx, cells, opt)
	var change *kft.ChangeError
	switch {
	case errors.As(err, &change):
		return fmt.Errorf("--what-if %w", err)
	case err != nil:
		return celltext.Reword(m, "cell", c.Cell, err)
	}
	for i := range explanations {
		if c.JSON {
			err = writeJSON(e.stdout, explanations[i])
		} else {
			err = explanations[i].WriteText(e.stdout)
		}
		if err != nil {
			return err
		}
	}
	if c.Output == "" {
		return nil
	}
	return atomicfile.Write(c.Output, func(w io.Writer) error {
		_, err := explanations[0].Waterfall().WriteTo(w)
		return err
	})
}

func (c *explainCommand) whole(e *env, m *kft.Model, opt kft.TableOptions) error {
	var source *kft.Source
	if c.Data != "" {
		s := kft.Files(c.Data)
		source = &s
	}
	summary, err := m.ExplainModel(e.ctx, source, opt)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(e.stdout, summary)
	}
	return summary.WriteText(e.stdout)
}
