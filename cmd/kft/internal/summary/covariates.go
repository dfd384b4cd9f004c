package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
)

// WriteCovariates describes the covariates of the cells: bins of numbers, and levels.
func WriteCovariates(b *strings.Builder, m *kft.Model) {
	curves := map[string]kft.SideReport{}
	for _, r := range m.Record().Side {
		if r.Curve != nil {
			curves[r.Mode] = r
		}
	}
	label := "Covariates:"
	for i, mode := range m.Modes() {
		if !mode.Covariate() {
			continue
		}
		text := textformat.Plural(len(m.IDs(i)), "level")
		if r, numeric := curves[mode.Name]; numeric {
			bins, missing := 0, ""
			for _, id := range m.IDs(i) {
				if id != dataset.MissingID && id != dataset.NoRowID {
					bins++
				}
			}
			if r.Curve.Missing > 0 {
				missing = fmt.Sprintf(", missing in %s", textformat.Plural(r.Curve.Missing, "row"))
			}
			text = fmt.Sprintf("%s from %.4g to %.4g%s", textformat.Plural(bins, "bin"), r.Curve.Low, r.Curve.High, missing)
		}
		fmt.Fprintf(b, "%-11s %s: %s\n", label, mode.Name, text)
		label = ""
	}
}
