package kft_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
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

// TestRowsWithoutID checks that evaluations, recalibrations and updates leave out rows of totals,
// whose ids are empty, as a fit does.
func TestRowsWithoutID(t *testing.T) {
	t.Parallel()
	w := newWorld(5, 10, 12, 8)
	old := w.rows(1, 0.6, func(int, int, int) bool { return true })
	m, _ := fit(t, worldSpec(t, tableOf(old), "shop", "item", "series(shop*item; month)"), kft.Options{Threads: 1})
	rows := tableOf(w.rows(2, 0.3, func(int, int, int) bool { return true }))
	totals := rows + "Total,,,99999\ns1,,2015-03,88888\n,,,\n"
	want, _, err := m.Evaluate(t.Context(), source(rows), kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, sum, err := m.Evaluate(t.Context(), source(totals), kft.TableOptions{})
	if err != nil || got.N != want.N || got.R2 != want.R2 || got.Calibration.CRPS != want.Calibration.CRPS {
		t.Errorf("got %d rows with R2 %v, %v; want %d with R2 %v", got.N, got.R2, err, want.N, want.R2)
	}
	warning := fmt.Sprintf("2 rows left out, because an id is empty; the first is data row %d, column item", len(linesOf(rows)))
	if sum.NoID != 2 || !slices.Contains(sum.Warnings, warning) || slices.Max(sum.Unseen) > 0 {
		t.Errorf("got summary %+v, want a warning %q and no unseen id", sum, warning)
	}
	calibrated, _, err := m.Recalibrate(t.Context(), source(rows), "split", kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if again, _, err := m.Recalibrate(t.Context(), source(totals), "split", kft.TableOptions{}); err != nil || string(modelBytes(t, again)) != string(modelBytes(t, calibrated)) {
		t.Errorf("a recalibration with totals is another one than without them: %v", err)
	}
	if _, report, err := m.Update(t.Context(), source("shop,item,month,units\ns1,i1,2015-09,12\nTotal,,,12\n"), kft.TableOptions{}, kft.UpdateOptions{}); err != nil || report.Rows != 1 || report.Skipped != 1 {
		t.Errorf("an update with a total: got %+v, %v", report, err)
	}
	_, _, err = m.Update(t.Context(), source("shop,item,month,units\nTotal,,,12\n"), kft.TableOptions{}, kft.UpdateOptions{})
	checkErrorText(t, err, "no row has both a target and all ids")
	_, _, err = m.Evaluate(t.Context(), source("shop,item,month,units\nTotal,,,12\n"), kft.TableOptions{AllowUnknown: true})
	checkErrorText(t, err, "each row with a value in column units has an empty id")
}
