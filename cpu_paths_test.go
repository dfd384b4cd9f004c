package kft_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// Fits with kernel side tables agree on all CPU paths, including a cycle of months,
// whose kernel matrix has equal eigenvalues.
func TestFitsWithSideAgreeOnCPUPaths(t *testing.T) {
	folder := filepath.Join("docs", "concepts", "data")
	for _, variant := range []string{"additive", "wlr"} {
		for _, inference := range []string{"map", "mean-field"} {
			spec := kft.Spec{Version: 1, Transform: "log1p", Terms: []string{"store,item,time:4"},
				Data: kft.DataSpec{Files: []string{filepath.Join(folder, "sales.csv")}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}}
			spec.Side.Tables = []string{"store=" + filepath.Join(folder, "stores.csv"), "item=" + filepath.Join(folder, "items.csv"), "time=@year,@month:cycle12"}
			spec.Side.Variant, spec.Side.Space = variant, "dual"
			spec.Uncertainty.Inference = inference
			spec.Fit.Sweeps = 3
			cells := []kft.Cell{{"store": "S01", "item": "A06", "time": "2023-1"}, {"store": "S05", "item": "A11", "time": "2023-7"}, {"store": "S09", "item": "A20", "time": "2024-3"}}
			t.Setenv("KFT_CPU", "")
			fast, _ := fit(t, spec, kft.Options{})
			want := predictCells(t, fast, cells...)
			t.Setenv("KFT_CPU", "generic")
			generic, _ := fit(t, spec, kft.Options{})
			for i, got := range predictCells(t, generic, cells...) {
				if math.Abs(got.Mean-want[i].Mean) > 1e-3*want[i].Mean {
					t.Errorf("%s, %s, cell %d: got mean %g on the generic path, want %g as on the fastest", variant, inference, i, got.Mean, want[i].Mean)
				}
			}
		}
	}
}
