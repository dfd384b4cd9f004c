package train

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/tt"
)

// futureWarning warns if the model cannot tell the periods apart that a split by time
// holds out, so that it forecasts the same number for all of them.
func (r *run) futureWarning() []string {
	if !strings.HasPrefix(r.split.Spec, "time:") || r.model.UsesLags() {
		return nil
	}
	var warnings []string
	for mode := range r.data.table.Modes {
		if !r.model.UsesMode(mode) {
			continue
		}
		rows, unknown := 0, 0
		for _, part := range []dataset.Part{dataset.Valid, dataset.Test} {
			for _, code := range r.parts[part].Codes[mode] {
				if rows++; code == tt.Unknown { // an id that is known by its groups has another negative code
					unknown++
				}
			}
		}
		if rows > 0 && unknown == rows && r.model.IsTime(mode) {
			warnings = append(warnings, r.model.SameFuture(mode))
		}
	}
	return warnings
}
