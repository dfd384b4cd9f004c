package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/summary"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
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
	Taken       int                 `json:"taken,omitempty"` // rows since the fit
}

func (c *inspectCommand) model(e *env) error {
	m, err := kft.Load(c.File)
	if err != nil {
		return err
	}
	r := modelReport{Kind: "model", File: c.File, Weights: m.Weights(), Terms: m.Terms(), Training: m.Record(), Spec: m.Spec(), Uncertainty: m.Uncertainty(), Taken: m.Taken()}
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
	fmt.Fprintf(&b, "%s: model of %s, %s, %s\n", c.File, r.Spec.Data.Target, textformat.Bytes(r.Bytes), textformat.Plural(r.Weights, "weight"))
	summary.WriteData(&b, m)
	fmt.Fprintf(&b, "      sha256 %s, split %s, seed %d\n", r.Training.DataHash, r.Training.Split, r.Training.Seed)
	summary.WriteCovariates(&b, m)
	summary.WriteSide(&b, r.Training.Side, r.Spec)
	summary.WriteRefit(&b, r.Training.Refit, r.Spec)
	if r.Taken > 0 {
		fmt.Fprintf(&b, "Updates: %s added or removed since the fit\n", textformat.Plural(r.Taken, "row"))
	}
	fmt.Fprintf(&b, "Uncertainty: %s\n\n", summary.Uncertainty(r.Uncertainty, r.Spec.Transform))
	summary.WriteTerms(&b, r.Terms)
	part, score := r.Training.Judged()
	if !summary.WriteTargets(&b, r.Training) {
		summary.WriteScores(&b, r.Training, r.Spec.Transform, part)
		summary.WriteReliability(&b, " on "+part.String(), score)
		summary.WriteBias(&b, " on "+part.String(), score, r.Uncertainty.Means)
		summary.WriteCalibration(&b, " on "+part.String(), score)
	}
	summary.WriteHistory(&b, r.Training, r.Spec)
	for _, warning := range r.Training.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", nameFlags(warning, e.hasFlag))
	}
	b.WriteString("\n")
	b.Write(r.Spec.YAML())
	_, err = io.WriteString(e.stdout, b.String())
	return err
}
