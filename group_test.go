package kft_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// A layer by the ids of a mode gives each its own intervals, where the model itself
// knows one noise only; without it the quiet shop's would be as wide as the loud
// one's.
func TestLayerByEntity(t *testing.T) {
	rng := randstream.New(9, "shops")
	var b strings.Builder
	b.WriteString("shop,good,y\n")
	for i := range 4000 {
		shop, sd := "quiet", 0.2
		if i%2 == 1 {
			shop, sd = "loud", 2.0
		}
		fmt.Fprintf(&b, "%s,%d,%g\n", shop, i/2, 5+sd*rng.NormFloat64())
	}
	table := filepath.Join(t.TempDir(), "shops.csv")
	if err := os.WriteFile(table, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	width := map[string]map[string]float64{}
	for _, conformal := range []string{"none", "group:shop"} {
		spec := kft.Spec{Terms: []string{"shop"}}
		spec.Data.Files, spec.Data.Target, spec.Data.Modes = []string{table}, "y", []string{"shop", "good"}
		spec.Split = "random:40/40/20"
		spec.Uncertainty.Inference, spec.Uncertainty.Conformal = "mean-field", conformal
		m, r := fitSales(t, spec, kft.Options{})
		p, err := m.Predict(context.Background(), []kft.Cell{{"shop": "quiet", "good": "0"}, {"shop": "loud", "good": "0"}})
		if err != nil {
			t.Fatal(err)
		}
		width[conformal] = map[string]float64{}
		for i, shop := range []string{"quiet", "loud"} {
			d := p[i].Distribution()
			width[conformal][shop] = d.Quantile(0.95) - d.Quantile(0.05)
		}
		if conformal == "none" {
			continue
		}
		for _, mode := range r.Test.Calibration.CoverageByMode {
			if gap := float64(mode.Gap); mode.Mode == "shop" && (mode.Entities != 2 || gap > 0.04) {
				t.Errorf("%d shops, off by %.3f", mode.Entities, gap)
			}
		}
	}
	for shop, sd := range map[string]float64{"quiet": 0.2, "loud": 2} {
		if want := 2 * 1.645 * sd; math.Abs(math.Log(width["group:shop"][shop]/want)) > 0.2 {
			t.Errorf("%s: width %.3g, %.3g is right", shop, width["group:shop"][shop], want)
		}
	}
	if w := width["none"]; math.Abs(w["quiet"]/w["loud"]-1) > 0.05 {
		t.Errorf("without a layer the widths are %v", w)
	}
}
