package main

import (
	"fmt"
	"path/filepath"

	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/publicdata"
)

// dataLedger generates small tables of many kinds.
type dataLedger struct {
	Seed uint64 `from:"1" default:"1" placeholder:"N" help:"Seed, 1 or more (default: 1)."`
	dataOutput
}

// Help is shown by kft data ledger --help.
func (*dataLedger) Help() string {
	return `Generates small tables of many kinds (few rows, dense, two modes, five modes, hourly, weekly, ratings, counts, both signs, heavy tails, outliers, noise only) and an experiment that fits the default model to each. Its table compares the model with the best formula and with the default of earlier versions.

Example:

    kft data ledger -o ledger && kft experiment --spec ledger/ledger.yaml`
}

// Run writes the tables.
func (c *dataLedger) Run(e *env) error {
	folder, err := c.folder()
	if err != nil {
		return err
	}
	report, err := publicdata.Ledger{Seed: c.Seed}.Write(e.ctx, folder)
	if err != nil {
		return err
	}
	file := filepath.Join(c.Output, "ledger.yaml")
	_, err = fmt.Fprintf(e.stdout, "%s\nMeasure the default on them: kft experiment --spec %s\n", dataSummary(report), textformat.Quote(file))
	return err
}
