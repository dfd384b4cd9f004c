package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
)

// maxListed is the number of formulas in the table of scores.
const maxListed = 5

// listed returns the formulas for the table of scores, the best first. A model file of
// an early version has two, which are the same if there is one mode.
func listed(record kft.Record) []kft.BaselineScores {
	best, ok := record.BestFormula()
	if !ok {
		return nil
	}
	formulas := []kft.BaselineScores{best}
	for _, f := range record.Baseline {
		if f.Name != best.Name && len(formulas) < maxListed {
			formulas = append(formulas, f)
		}
	}
	return formulas
}

// A measure is a score of the model, a, and of a formula, b.
type measure struct {
	name    string
	a, b    float64
	text    func(float64) string
	falling bool // less is better
}

// writeComparison writes whether the model is better than the best formula, and by how
// much. It returns whether the model is better by all measures. Scores that print alike
// count as equal.
func writeComparison(b *strings.Builder, record kft.Record) (won bool) {
	b.WriteString("\n")
	part, ours := record.AgainstFormulas()
	best, ok := record.BestFormula()
	var better, other []string
	measures := []measure{
		{"R2", ours.R2, best.Of(part).R2, textformat.Ratio, false},
		{"MAE", ours.MAE, best.Of(part).MAE, textformat.Amount, true},
	}
	if x, y := ours.Binary, best.Of(part).Binary; x != nil && y != nil {
		measures = []measure{
			{"log loss", float64(x.LogLoss), float64(y.LogLoss), textformat.Ratio, true},
			{"Brier score", float64(x.Brier), float64(y.Brier), textformat.Ratio, true},
		}
	}
	for _, m := range measures {
		if !ok || m.text(m.a) == textformat.Undefined || m.text(m.b) == textformat.Undefined {
			continue
		}
		text := fmt.Sprintf("%s %s against %s", m.name, m.text(m.a), m.text(m.b))
		switch {
		case m.text(m.a) == m.text(m.b):
			other = append(other, fmt.Sprintf("%s %s for both", m.name, m.text(m.a)))
			continue
		case m.falling && m.b > 0:
			text += fmt.Sprintf(" (%+.1f %%)", 100*(m.a/m.b-1))
		default:
			text += fmt.Sprintf(" (%+.4f)", m.a-m.b)
		}
		if (m.a > m.b) != m.falling {
			better = append(better, text)
		} else {
			other = append(other, text)
		}
	}
	name := fmt.Sprintf("the best formula, %q, on %s", best.Name, part)
	switch {
	case len(better)+len(other) == 0:
	case len(other) == 0:
		fmt.Fprintf(b, "The model beats %s: %s.%s\n", name, strings.Join(better, ", "), caveat(part))
	case len(better) == 0:
		fmt.Fprintf(b, "The model does not beat %s: %s.\n", name, strings.Join(other, ", "))
	default:
		fmt.Fprintf(b, "The model beats %s in one measure only: %s; but %s.%s\n", name, better[0], other[0], caveat(part))
	}
	if ours.R2 < 0 {
		fmt.Fprintf(b, "An R2 below 0 on %s means that the mean of the target predicts better.\n", part)
	}
	return len(other) == 0 && !(ours.R2 < 0)
}

// caveat qualifies a comparison on rows that the fit has used.
func caveat(part dataset.Part) string {
	switch part {
	case dataset.Train:
		return " It was trained on these rows, so the scores are optimistic; reserve a test set with --split."
	case dataset.Valid:
		return " Its penalty and its number of sweeps were chosen on these rows, so the scores are optimistic; reserve a test set with --split."
	}
	return ""
}
