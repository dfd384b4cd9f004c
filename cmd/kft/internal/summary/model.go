package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/spec"
)

// WriteTerms writes the table of terms with their cores, or their number of series.
func WriteTerms(b *strings.Builder, terms []kft.TermInfo) {
	t := textformat.Table{Header: []string{"term", "core", "variant", "entities", "matrix"}, Left: 3}
	for _, term := range terms {
		name := spec.ReadableTerms(term.Name)
		if term.Series > 0 {
			t.Rows = append(t.Rows, []string{name, "along time", "series", textformat.Count(term.Series), "-"})
		}
		for _, core := range term.Cores {
			t.Rows = append(t.Rows, []string{name, core.Name, core.Variant, textformat.Count(core.Entities), fmt.Sprintf("%d x %d", core.Left, core.Right)})
			name = ""
		}
	}
	t.Write(b)
	b.WriteString("\n")
}

// WriteHistory writes the mean squared errors after each sweep, on the modelling scale,
// on which the training targets have variance 1.
func WriteHistory(b *strings.Builder, record kft.Record, spec kft.Spec) {
	fmt.Fprintf(b, "\nStopped: %s%s\n", stopText(record.Stop, spec, record.Valid.N > 0), penaltyText(spec, record.Ridge))
	if len(record.History) == 0 {
		return
	}
	t := textformat.Table{Header: []string{sweepNoun(spec), "training loss", "validation loss"}}
	for _, p := range record.History {
		valid := "-"
		if record.Valid.N > 0 {
			valid = fmt.Sprintf("%.4f", p.Valid)
		}
		t.Rows = append(t.Rows, []string{fmt.Sprint(p.Sweep + 1), fmt.Sprintf("%.4f", p.Train), valid})
	}
	t.Write(b)
}
