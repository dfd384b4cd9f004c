package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
)

// WriteTargets writes the scores of several targets, each in its own units, with those of
// the best formula of the target. It reports whether there are several.
func WriteTargets(b *strings.Builder, record kft.Record) bool {
	if len(record.Targets) == 0 {
		return false
	}
	t := textformat.Table{Header: []string{"target", "", "part", "n", "R2", "RMSE", "MAE", "CRPS", "90 % interval"}, Left: 3}
	for _, target := range record.Targets {
		one := target.Record(record)
		part, score := one.Judged()
		row := func(name string, s kft.Score) {
			crps, inside := "", ""
			if c := s.Calibration; c != nil {
				crps, inside = textformat.Amount(float64(c.CRPS)), fmt.Sprintf("%.1f %% inside", 100*float64(c.Coverage90))
			}
			t.Rows = append(t.Rows, []string{target.Name, name, part.String(), textformat.Count(s.N), textformat.Ratio(s.R2), textformat.Amount(s.RMSE), textformat.Amount(s.MAE), crps, inside})
		}
		row("model, scale "+target.Scale.Transform.Name(), score)
		if best, ok := one.BestFormula(); ok {
			row(best.Name, best.Of(part))
		}
	}
	t.Write(b)
	_, all := record.Judged()
	fmt.Fprintf(b, "All targets, each standardised on its scale: R2 %s, MAE %s\n", textformat.Ratio(all.R2), textformat.Amount(all.MAE))
	return true
}
