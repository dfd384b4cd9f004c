package summary

import (
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Advice has evidence in the fit, and no advice is given for free.
func TestImprovements(t *testing.T) {
	t.Parallel()
	report := func(stop solver.Stop, scores ...float64) *kft.Report {
		r := &kft.Report{}
		r.Spec = spec.Default()
		r.Stop, r.Train.R2, r.Valid.N = stop, 0.9, 100
		for _, s := range scores {
			r.History = append(r.History, solver.Point{Score: s})
		}
		return r
	}
	falling, flat := report(solver.AllSweeps, 0.5, 0.4), report(solver.AllSweeps, 0.5, 0.49999)
	given := report(solver.Converged, 0.5, 0.4)
	given.Spec.Fit.Lambda = spec.LambdaOf(0.1)
	for _, c := range []struct {
		r    *kft.Report
		says string
	}{
		{falling, "more --sweeps or time, because the last sweep still reduced the error by 20 %; kft tune"},
		{flat, "kft tune"},
		{given, "--lambda auto, which chooses the penalty on the validation set; kft tune"},
	} {
		if got := improvements(c.r); !strings.HasPrefix(got, c.says) || strings.Contains(got, "higher") || strings.Contains(got, "--rank") {
			t.Errorf("got %q, want %q", got, c.says)
		}
	}
}
