package kft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// TestConformalCorrectionByEntity fits a model with one noise variance to two shops with
// different noise. Only a correction by shop gives each its own interval width.
func TestConformalCorrectionByEntity(t *testing.T) {
	t.Parallel()
	rng := randstream.New(9, "shops")
	sds := map[string]float64{"quiet": 0.2, "loud": 2}
	var b strings.Builder
	b.WriteString("shop,good,y\n")
	for i := range 4000 {
		shop := "quiet"
		if i%2 == 1 {
			shop = "loud"
		}
		fmt.Fprintf(&b, "%s,%d,%g\n", shop, i/2, 5+sds[shop]*rng.NormFloat64())
	}
	table := writeFile(t, "shops.csv", b.String())
	// widths returns the report of a fit and the width of the 90 % interval of each shop.
	widths := func(conformal string) (*kft.Report, map[string]float64) {
		m, r := fit(t, kft.Spec{
			Data:        kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"shop", "good"}},
			Terms:       []string{"shop"},
			Split:       "random:40/40/20",
			Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: conformal},
		}, kft.Options{})
		width := map[string]float64{}
		for shop := range sds {
			low, high := predictCells(t, m, kft.Cell{"shop": shop, "good": "0"})[0].Interval(0.9)
			width[shop] = high - low
		}
		return r, width
	}
	r, byShop := widths("group:shop")
	for shop, sd := range sds {
		if got, want := byShop[shop], 2*1.645*sd; math.Abs(math.Log(got/want)) > 0.2 {
			t.Errorf("shop %s: got an interval of width %.3g, want %.3g up to a factor of exp(0.2)", shop, got, want)
		}
	}
	found := false
	for _, mode := range r.Test.Calibration.CoverageByMode {
		if mode.Mode != "shop" {
			continue
		}
		found = true
		if gap := float64(mode.Gap); mode.Entities != 2 || gap > 0.04 {
			t.Errorf("coverage by shop: got %d shops and a gap of %.3f, want 2 and at most 0.04", mode.Entities, gap)
		}
	}
	if !found {
		t.Error("coverage by mode: got no entry for shop, want one")
	}
	_, pooled := widths("none")
	if ratio := pooled["quiet"] / pooled["loud"]; math.Abs(ratio-1) > 0.05 {
		t.Errorf("without a correction: got widths %v, want equal ones up to 5 %%", pooled)
	}
}
