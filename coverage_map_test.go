package kft_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestCoverageMap checks that a map counts each value once, at the place of its
// entities, with times in order.
func TestCoverageMap(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 2000)
	m := fitUncertain(t, table, kft.UncertaintySpec{}, func(s *kft.Spec) { s.Split = "time:last=2" })
	all, err := m.Map(t.Context(), kft.Files(table), kft.MapOptions{Rows: "store", Part: kft.Unused})
	if err != nil {
		t.Fatal(err)
	}
	months := []string{"2015-1", "2015-2", "2015-3", "2015-4", "2015-5", "2015-6", "2016-1", "2016-2", "2016-3", "2016-4", "2016-5", "2016-6"}
	if !slices.Equal(all.Labels.Columns, months) {
		t.Errorf("got columns %v, want %v", all.Labels.Columns, months)
	}
	if all.N != 2000 || all.Labels.Rows[9] != "s9" || all.Labels.Rows[10] != "s10" {
		t.Errorf("got %d values and rows %v, want 2000 values and rows in numeric order", all.N, all.Labels.Rows)
	}
	frame, err := tableio.ReadFrame(t.Context(), tableio.Files(table), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i := range frame.Len() {
		if frame.Columns[0][i] == "2016" && frame.Columns[1][i] == "6" && frame.Columns[2][i] == "s7" {
			want++
		}
	}
	if got := all.Count(7, 11); got != want || want == 0 {
		t.Errorf("values of store s7 in 2016-6: got %d, want %d (more than 0)", got, want)
	}
	var picture bytes.Buffer
	if err := all.WriteSVG(&picture, 0, all.Labels); err != nil {
		t.Errorf("WriteSVG: %v", err)
	}
	if signature := []byte("<svg "); !bytes.HasPrefix(picture.Bytes(), signature) {
		t.Errorf("WriteSVG: got %.4q as the first bytes, want %q", picture.Bytes(), signature)
	}
	checkTestMap(t, m, table)
	for _, opt := range []kft.MapOptions{{Rows: "stor"}, {Rows: "store", Columns: "month"}, {Rows: "time"}} {
		var unknown *kft.ModeError
		if _, err := m.Map(t.Context(), kft.Files(table), opt); !errors.As(err, &unknown) {
			t.Errorf("%+v: got error %v, want a *kft.ModeError", opt, err)
		}
	}
}

// checkTestMap compares the map of the test set, which is the last two months, with
// EvaluatePart.
func checkTestMap(t *testing.T, m *kft.Model, table string) {
	t.Helper()
	test, err := m.Map(t.Context(), kft.Files(table), kft.MapOptions{Rows: "item", Columns: "time", Part: kft.Test})
	if err != nil {
		t.Fatal(err)
	}
	inLastMonths := 0
	for row := range test.Labels.Rows {
		inLastMonths += test.Count(row, 10) + test.Count(row, 11)
	}
	if want := m.Record().Test.N; test.N != want || inLastMonths != want {
		t.Errorf("test set: got %d values, %d of them in the last two months, want %d in both cases", test.N, inLastMonths, want)
	}
	score, _, err := m.EvaluatePart(t.Context(), kft.Files(table), kft.Test, kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for level, share := range score.Calibration.XiByLevel {
		hits := 0
		for row := range test.Labels.Rows {
			hits += test.Hits(level, row, 10) + test.Hits(level, row, 11)
		}
		if got, want := float64(hits)/float64(test.N), float64(share.Share); math.Abs(got-want) > 1e-9 {
			t.Errorf("level %g: got a share of %g inside the interval, want %g as from EvaluatePart", share.Level, got, want)
		}
	}
}
