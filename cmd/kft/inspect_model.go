package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kernel-fried-tensor/kft"
)

type modeReport struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	IDs    int    `json:"ids"`
}

type modelReport struct {
	Kind     string         `json:"kind"`
	File     string         `json:"file"`
	Bytes    int64          `json:"bytes"`
	Weights  int            `json:"weights"`
	Modes    []modeReport   `json:"modes"`
	Terms    []kft.TermInfo `json:"terms"`
	Training kft.Record     `json:"training"`
	Spec     kft.Spec       `json:"spec"`

	Uncertainty kft.UncertaintyInfo `json:"uncertainty"`
}

func (c *inspectCommand) model(e *env) error {
	m, err := kft.Load(c.File)
	if err != nil {
		return err
	}
	r := modelReport{Kind: "model", File: c.File, Weights: m.Weights(), Terms: m.Terms(), Training: m.Record(), Spec: m.Spec(), Uncertainty: m.Uncertainty()}
	for i, mode := range m.Modes() {
		r.Modes = append(r.Modes, modeReport{Name: mode.Name, Source: mode.String(), IDs: len(m.IDs(i))})
	}
	if info, err := os.Stat(c.File); err == nil {
		r.Bytes = info.Size()
	}
	if c.JSON {
		return writeJSON(e.stdout, r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: model of %s, %s, %s\n", c.File, r.Spec.Data.Target, bytesText(r.Bytes), plural(r.Weights, "weight"))
	writeData(&b, m)
	fmt.Fprintf(&b, "      sha256 %s, split %s, seed %d\n", r.Training.DataHash, r.Training.Split, r.Training.Seed)
	writeSide(&b, r.Training.Side, r.Spec)
	fmt.Fprintf(&b, "Uncertainty: %s\n\n", uncertaintyText(r.Uncertainty, r.Spec.Transform))
	writeTerms(&b, r.Terms)
	part, score := lastPart(r.Training.Train, r.Training.Valid, r.Training.Test)
	writeScores(&b, r.Training, r.Spec.Transform, part)
	writeCalibration(&b, " on "+part.String(), score)
	writeHistory(&b, r)
	for _, warning := range r.Training.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	b.WriteString("\n")
	b.Write(r.Spec.YAML())
	_, err = io.WriteString(e.stdout, b.String())
	return err
}

func writeTerms(b *strings.Builder, terms []kft.TermInfo) {
	t := textTable{header: []string{"term", "core", "variant", "entities", "matrix"}, left: 3}
	for _, term := range terms {
		name := term.Name
		for _, core := range term.Cores {
			t.rows = append(t.rows, []string{name, core.Name, core.Variant, count(core.Entities), fmt.Sprintf("%d x %d", core.Left, core.Right)})
			name = ""
		}
	}
	t.write(b)
	b.WriteString("\n")
}

// writeHistory writes the mean squared errors after each sweep, on the modelling scale,
// on which the training targets have variance 1.
func writeHistory(b *strings.Builder, r modelReport) {
	record := r.Training
	fmt.Fprintf(b, "\nStopped: %s%s\n", stopText(record.Stop, r.Spec, record.Valid.N > 0), penaltyText(r.Spec, record.Ridge))
	if len(record.History) == 0 {
		return
	}
	t := textTable{header: []string{sweepNoun(r.Spec), "training loss", "validation loss"}}
	for _, p := range record.History {
		valid := "-"
		if record.Valid.N > 0 {
			valid = fmt.Sprintf("%.4f", p.Valid)
		}
		t.rows = append(t.rows, []string{fmt.Sprint(p.Sweep + 1), fmt.Sprintf("%.4f", p.Train), valid})
	}
	t.write(b)
}
