package publicdata

import (
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
)

// The ledger has tables of many kinds, each with valid specifications, and is the same
// for the same seed.
func TestLedger(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	report, err := Ledger{Seed: 1}.Write(t.Context(), Folder{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	again := t.TempDir()
	if _, err := (Ledger{Seed: 1}).Write(t.Context(), Folder{Path: again}); err != nil {
		t.Fatal(err)
	}
	few, negative := 0, 0
	for _, name := range files(t, dir) {
		text := read(t, dir+"/"+name)
		base, isTable := strings.CutSuffix(name, ".csv")
		if !isTable {
			continue
		}
		if text != read(t, again+"/"+name) {
			t.Errorf("%s differs between two runs with the same seed", name)
		}
		header, rows := table(t, text)
		if len(rows) < 500 {
			few++
		}
		seen, below := map[string]bool{}, false
		for _, row := range rows {
			y, err := strconv.ParseFloat(row[len(row)-1], 64)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			below = below || y < 0
			cell := strings.Join(row[:len(row)-1], ",")
			if seen[cell] {
				t.Fatalf("%s: the cell %s occurs twice", name, cell)
			}
			seen[cell] = true
		}
		if below {
			negative++
		}
		for _, file := range []string{base + ".yaml", base + "-former.yaml"} {
			s, _, err := spec.Parse([]byte(read(t, dir+"/"+file)), file)
			if err != nil {
				t.Fatal(err)
			}
			s.Fill()
			if err := s.Validate(); err != nil || s.Data.Target != header[len(header)-1] || s.Automatic() == strings.HasSuffix(file, "-former.yaml") {
				t.Errorf("%s: got %+v, %v", file, s, err)
			}
		}
	}
	if len(report.Written) < 11 || few < 2 || negative < 2 {
		t.Errorf("got %d files, %d tables of few rows, %d with negative values", len(report.Written), few, negative)
	}
}
