package backendtest

import (
	"fmt"
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
)

// comparePass compares passes of all backends, for all numbers of threads, with
// the expected result.
func comparePass(t *testing.T, name string, backends []Open, plan *backend.Plan, cores []backend.Slices, job func() *backend.Job, want *backend.Job, wantLoss float64) {
	t.Helper()
	for _, open := range backends {
		name := open(1).Name() + ": " + name
		var first *backend.Job
		var firstLoss float64
		for _, threads := range threadCounts {
			got := job()
			b := open(threads)
			loss := b.Pass(plan, cores, got)
			if first != nil {
				if loss != firstLoss || !equalJobs(got, first) {
					t.Errorf("%s: %d threads give different bits than 1", name, threads)
				}
				continue
			}
			first, firstLoss = got, loss
			// A second pass on the same backend finds used scratch memory.
			again := job()
			if l := b.Pass(plan, cores, again); l != loss || !equalJobs(again, got) {
				t.Errorf("%s: the second pass differs from the first", name)
			}
			if !got.GradientsOnly {
				near(t, name+" loss", []float32{float32(loss)}, []float32{float32(wantLoss)})
			}
			near(t, name+" mean", got.Mean, want.Mean)
			near(t, name+" variance", got.Var, want.Var)
			for i := range got.Grad {
				near(t, fmt.Sprintf("%s gradient of core %d", name, i), got.Grad[i].Mean, want.Grad[i].Mean)
				near(t, fmt.Sprintf("%s gradient of core %d's variances", name, i), got.Grad[i].Var, want.Grad[i].Var)
				near(t, fmt.Sprintf("%s gradient of core %d's covariances", name, i), got.Grad[i].Cov, want.Grad[i].Cov)
			}
		}
	}
}

func equalJobs(a, b *backend.Job) bool {
	if !equal(a.Mean, b.Mean) || !equal(a.Var, b.Var) {
		return false
	}
	for i := range a.Grad {
		x, y := a.Grad[i], b.Grad[i]
		if !equal(x.Mean, y.Mean) || !equal(x.Var, y.Var) || !equal(x.Cov, y.Cov) {
			return false
		}
	}
	return true
}

func equal(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// near compares with a tolerance relative to the largest entry, since entries
// are sums of terms of that size, and to 1, the size of the factors.
func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d entries, want %d", what, len(got), len(want))
		return
	}
	scale := 0.0
	for _, w := range want {
		scale = max(scale, math.Abs(float64(w)))
	}
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= 2e-5*scale+2e-6) {
			t.Errorf("%s: entry %d is %g, want %g (scale %g)", what, i, got[i], want[i], scale)
			return
		}
	}
}
