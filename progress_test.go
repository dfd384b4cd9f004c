package kft_test

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// The R2 that progress tells of the best sweep is that of the report.
func TestProgressTellsR2(t *testing.T) {
	best := math.Inf(-1)
	_, r := fitSales(t, salesSpec(writeSales(t, 1000)), kft.Options{Progress: func(e kft.Event) {
		if e.ValidR2 != nil {
			best = max(best, *e.ValidR2)
		}
	}})
	if math.Abs(best-r.Valid.R2Scale) > 1e-4 {
		t.Errorf("progress told at best %g, the report says %g", best, r.Valid.R2Scale)
	}
}
