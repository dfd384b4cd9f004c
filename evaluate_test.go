package kft_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestEvaluatePart checks that the score of a part equals that of the report, and that
// another table is rejected.
func TestEvaluatePart(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 1000)
	m, r := fit(t, salesSpec(table), kft.Options{})
	for part, want := range map[kft.Part]kft.Score{kft.Train: r.Train, kft.Test: r.Test} {
		got, sum, err := m.EvaluatePart(t.Context(), kft.Files(table), part, kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.R2 != want.R2 || got.MAE != want.MAE || got.R2Scale != want.R2Scale {
			t.Errorf("%v: got score %+v, want that of the report, %+v", part, got, want)
		}
		if part == kft.Test && (got.Calibration.Xi != want.Calibration.Xi || got.Calibration.CRPS != want.Calibration.CRPS) {
			t.Errorf("%v: got calibration %+v, want that of the report, %+v", part, got.Calibration, want.Calibration)
		}
		if sum.Rows != want.N || len(sum.Unseen) != len(m.Modes()) {
			t.Errorf("%v: got summary %+v, want %d rows and %d modes", part, sum, want.N, len(m.Modes()))
		}
	}
	changed := strings.Replace(readFile(t, table), "s1,", "s2,", 1)
	if err := os.WriteFile(table, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	_, _, err := m.EvaluatePart(t.Context(), kft.Files(table), kft.Test, kft.TableOptions{})
	checkErrorText(t, err, "not the table")
	var other *kft.NotFittedError
	if !errors.As(err, &other) {
		t.Errorf("changed table: got error of type %T, want a *kft.NotFittedError", err)
	}
}
