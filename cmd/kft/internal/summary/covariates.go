package summary

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/digits"
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
		numbers := 0
		for _, id := range m.IDs(i) {
			if id != dataset.MissingID && id != dataset.NoRowID {
				numbers++
			}
		}
		text := textformat.Plural(len(m.IDs(i)), "level")
		r, smooth := curves[mode.Name]
		switch {
		case mode.Joint():
			text = fmt.Sprintf("%s of %s", textformat.Plural(numbers, "point"), strings.Join(mode.Columns, ", "))
		case smooth:
			text = fmt.Sprintf("%s from %s to %s", textformat.Plural(numbers, "bin"), digits.Short(r.Curve.Low, 4), digits.Short(r.Curve.High, 4))
		}
		if smooth && r.Curve.Missing > 0 {
			text += fmt.Sprintf(", missing in %s", textformat.Plural(r.Curve.Missing, "row"))
		}
		fmt.Fprintf(b, "%-11s %s: %s\n", label, mode.Name, text)
		label = ""
	}
}
