package automatic_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/search/automatic"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// The automatic choice offers days of the month, here to one series.
func TestMonthDaysAreOffered(t *testing.T) {
	t.Parallel()
	effect := func(t time.Time) float64 {
		if automatic.IsLastWorkday(t) {
			return 1
		}
		return 0
	}
	file := automatic.WriteDays(t, 1, 1, effect, "time:last=28", "day.weekday")
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "sales", Modes: []string{"day"}}, Split: "time:last=28"}, train.Options{Threads: 2})
	if !slices.Contains(r.Spec.Terms, "day.workday") {
		t.Errorf("got the terms %q without workdays of the month", r.Spec.Terms)
	}
}
