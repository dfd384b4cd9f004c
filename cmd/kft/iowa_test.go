package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/cmd/kft/internal/textformat"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
)

// fit and predict work on the full Iowa table if it is available, else on a synthetic table
// with the same columns.
func TestIowa(t *testing.T) {
	data := os.Getenv("KFT_DATA")
	if data == "" {
		data = filepath.Join(sourceFolder, "..", "..", "..", "shared", "data")
	}
	table, split := filepath.Join(data, "iowa-liquor", "sales_2015_2016.csv.gz"), filepath.Join(data, "iowa-liquor", "split.csv.gz")
	_, err := os.Stat(table)
	available := err == nil
	inEmptyFolder(t)
	if !available {
		var text strings.Builder
		if err := synthetic.New(mediumSales).WriteCSV(&text); err != nil {
			t.Fatal(err)
		}
		table, split = "sales.csv", "split.csv"
		write(t, table, strings.Replace(text.String(), "units", "bottles", 1))
		must(t, "split", table, "-o", split)
	}
	r := must(t, "fit", table, "--target", "bottles", "--modes", "store,item,time=year+month", "--split", "file:"+split,
		"--transform", "log1p", "--term", "store,item,time:4", "--term", "store*item", "--ridge", "frequency", "--lambda", "0.02", "--sweeps", "2", "--json", "--quiet")
	var report kft.Report
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
		t.Fatal(err)
	}
	if available && (report.Train.N != 1_816_846 || report.Valid.N != 605_615 || report.Test.N != 605_615) {
		t.Errorf("parts of %d, %d, %d rows", report.Train.N, report.Valid.N, report.Test.N)
	}
	if report.PeakRSS >= 1<<30 {
		t.Errorf("%s of memory", textformat.Bytes(report.PeakRSS))
	}
	for _, base := range report.Baseline {
		if available && report.Test.R2Scale <= base.Test.R2Scale { // two sweeps of the synthetic table are too few
			t.Errorf("R2 on the logarithmic scale is %.4f, that of %q is %.4f", report.Test.R2Scale, base.Name, base.Test.R2Scale)
		}
	}
	if r := must(t, "predict", "model.kft", table, "-o", "predictions.csv"); available && !strings.Contains(r.stderr, "3,028,076 rows predicted") {
		t.Errorf("got %q", r.stderr)
	}
}
