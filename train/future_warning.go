package train

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// futureWarning warns if the model cannot tell the periods apart that a split by time
// holds out, so that it forecasts the same number for all of them.
func (r *run) futureWarning() []string {
	if !strings.HasPrefix(r.split.Spec, "time:") || r.model.UsesLags() {
		return nil
	}
	warnings := r.onePeriodWarning()
	for mode := range r.data.Table().Modes {
		if !r.model.UsesMode(mode) {
			continue
		}
		rows, unknown := 0, 0
		for _, part := range []dataset.Part{dataset.Valid, dataset.Test} {
			for _, code := range r.part(part).Codes[mode] {
				if rows++; code == entity.Unknown { // an id that is known by its groups has another negative code
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

// onePeriodWarning warns if all training rows of a split by time have the same period, from
// which no change over time can be learned, and fewer periods can be held out.
func (r *run) onePeriodWarning() []string {
	mode := r.data.LaterMode()
	if mode < 0 {
		return nil
	}
	// The table may be released: its parts and dictionaries are not.
	codes, periods := r.part(dataset.Train).Codes[mode], r.data.Table().Dicts[mode].Len()
	if len(codes) == 0 || slices.ContainsFunc(codes, func(c int32) bool { return c != codes[0] }) || periods <= 3 {
		return nil
	}
	return []string{fmt.Sprintf("the training rows have a single period of %s, from which no change over time can be learned; set split to fewer of the %d periods, as in time:last=1; a model may forecast more periods than were held out",
		r.data.Table().Modes[mode], periods)}
}
