package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/spec"
)

// WriteDecisions writes what a fit with automatic terms decided, and on what grounds.
func WriteDecisions(b *strings.Builder, r kft.Record, s kft.Spec) {
	if len(r.Decisions) == 0 {
		return
	}
	t := textformat.Table{Header: []string{"chosen", "", "CRPS", "instead of"}, Left: 4}
	for _, d := range r.Decisions {
		row := []string{d.Subject, "", "", ""}
		var others []string
		highest := takenEvidence(d)
		for _, o := range d.Options {
			score := "not possible"
			switch {
			case o.CRPS != nil:
				score = textformat.Amount(*o.CRPS)
			case o.Evidence != nil && o.Taken:
				score = ""
			case o.Evidence != nil:
				score = fmt.Sprintf("(log evidence %+.1f)", *o.Evidence-highest)
			}
			value := spec.ReadableTerms(o.Value)
			if o.Taken {
				row[1], row[2] = value, score
				if len(d.Options) == 1 {
					row[2] = ""
				}
				continue
			}
			others = append(others, value+" "+score)
		}
		row[3] = strings.Join(others, ", ")
		if d.Subject == "scale" && r.Power != nil {
			others = append(others, fmt.Sprintf("power estimated from %s", textformat.Plural(r.Power.Rows, "training row")))
			row[3] = strings.Join(others, ", ")
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows, []string{"noise", s.Uncertainty.Noise, "", ""})
	t.Write(b)
	b.WriteString("(CRPS of short fits on the validation set; lower is better)\n")
}

// takenEvidence returns the evidence of what was taken, 0 if it has none.
func takenEvidence(d kft.Decision) float64 {
	for _, o := range d.Options {
		if o.Taken && o.Evidence != nil {
			return *o.Evidence
		}
	}
	return 0
}

// writeSpecification writes the specification that an automatic fit arrived at.
func writeSpecification(b *strings.Builder, r *kft.Report) {
	if len(r.Decisions) == 0 {
		return
	}
	b.WriteString("\nSpecification, to edit and fit again with kft fit --spec FILE:\n\n")
	for line := range strings.Lines(string(r.Spec.BriefYAML())) {
		text, _, _ := strings.Cut(line, " # ")
		if text = strings.TrimRight(text, " \n"); text != "" {
			b.WriteString("  " + text + "\n")
		}
	}
}
