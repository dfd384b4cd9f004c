package kft_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
)

// The score of a part, measured again from the table, is the one of the fit;
// another table is refused.
func TestEvaluatePart(t *testing.T) {
	table := writeSales(t, 1000)
	m, r := fitSales(t, salesSpec(table), kft.Options{})
	for part, want := range map[dataset.Part]kft.Score{dataset.Train: r.Train, dataset.Test: r.Test} {
		got, sum, err := m.EvaluatePart(t.Context(), kft.Files(table), part, kft.TableOptions{})
		if err != nil || got.R2 != want.R2 || got.MAE != want.MAE || got.R2Scale != want.R2Scale {
			t.Errorf("%v: %+v, %v; the fit said %+v", part, got, err, want)
		}
		if part == dataset.Test && (got.Calibration.Xi != want.Calibration.Xi || got.Calibration.CRPS != want.Calibration.CRPS) {
			t.Errorf("calibration %+v; the fit said %+v", got.Calibration, want.Calibration)
		}
		if sum.Rows != want.N || len(sum.Unseen) != len(m.Modes()) {
			t.Errorf("%v: %+v", part, sum)
		}
	}
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, []byte(strings.Replace(string(text), "s1,", "s2,", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.EvaluatePart(t.Context(), kft.Files(table), dataset.Test, kft.TableOptions{}); err == nil || !strings.Contains(err.Error(), "not the table") {
		t.Errorf("a changed table gives %v", err)
	}
}
