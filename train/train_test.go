package train

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
)

func salesSpec(file string) spec.Spec {
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}, Transform: "log1p",
		Terms: []string{"store,item,time:3", "store*item,time:1"}, Fit: spec.Fit{Sweeps: 6}}
	s.Fill()
	return s
}

// ReadAndFit gives the same model as Read followed by Fit, which leaves the data
// unchanged for other fits.
func TestFitSharedData(t *testing.T) {
	t.Parallel()
	s := salesSpec(testtable.WriteSales(t, 1500))
	opt := Options{Threads: 2}
	_, want, err := ReadAndFit(t.Context(), s, tableio.Source{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if want.Train.N != 900 || want.Valid.N != 300 || want.Test.N != 300 {
		t.Errorf("got parts of %d, %d and %d rows; want 900, 300 and 300", want.Train.N, want.Valid.N, want.Test.N)
	}
	for _, b := range want.Baseline {
		if want.Test.R2Scale <= b.Test.R2Scale {
			t.Errorf("got R2 %v on the test set, want more than %v of %s", want.Test.R2Scale, b.Test.R2Scale, b.Name)
		}
	}
	data, err := Read(t.Context(), s, tableio.Source{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, got, err := Fit(t.Context(), s, data, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := recordText(t, got), recordText(t, want); got != want {
			t.Errorf("got record %s\nwant %s", got, want)
		}
	}
}

func recordText(t *testing.T, r *Report) string {
	t.Helper()
	text, err := json.Marshal(r.Record)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestErrorsNameFields(t *testing.T) {
	t.Parallel()
	file := testtable.WriteSales(t, 400)
	for _, c := range []struct {
		change func(*spec.Spec)
		want   string // path of the field
	}{
		{func(s *spec.Spec) { s.Split = "randm:60/20/20" }, "split"},
		{func(s *spec.Spec) { s.Data.Modes = []string{"store", "note"}; s.Terms = []string{"store"} }, "data.modes"},
		{func(s *spec.Spec) { s.Data.Delimiter = "coma" }, "data.delimiter"},
		{func(s *spec.Spec) { s.Data.Header = "maybe" }, "data.header"},
		{func(s *spec.Spec) { s.Side.Tables = []string{"store=none.csv"} }, "side.tables"},
		{func(s *spec.Spec) { s.Data.Target, s.Data.Modes = "note", []string{"store", "item"} }, "data.target"},
		{func(s *spec.Spec) { s.Data.Weight = "note" }, "data.weight"},
		{func(s *spec.Spec) { s.Data.Modes = []string{"store", "item", "month(item)"} }, "data.modes"},
		{func(s *spec.Spec) { s.Uncertainty.Conformal, s.Split = "split", "random:98/1/1" }, "uncertainty.conformal"},
		{func(s *spec.Spec) { s.Uncertainty.Conformal = "horizon" }, "split"},
		{func(s *spec.Spec) { s.Uncertainty.Conformal, s.Split = "horizon", "entity:store=20%" }, "split"},
	} {
		s := salesSpec(file)
		s.Data.Duplicates = "last"
		c.change(&s)
		_, _, err := ReadAndFit(t.Context(), s, tableio.Source{}, Options{Threads: 2})
		if got := fielderr.Path(err); got != c.want {
			t.Errorf("got error %v of field %q, want one of field %q", err, got, c.want)
		}
	}
}

// The scores of many training rows are those of a sample, which counts for all of them.
func TestManyTrainingRows(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("a,b,units\n")
	for i := range 100_000 {
		fmt.Fprintf(&table, "%d,%d,%d\n", i/400, i%400, i%7)
	}
	file := filepath.Join(t.TempDir(), "counts.csv")
	if err := os.WriteFile(file, []byte(table.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"a", "b"}}, Terms: []string{"a"},
		Uncertainty: spec.Uncertainty{Inference: "mean-field", Likelihood: "poisson"}, Fit: spec.Fit{Sweeps: 1}}
	s.Fill()
	_, r, err := ReadAndFit(t.Context(), s, tableio.Source{}, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Train.N != 60_000 || r.Train.N <= maxCountRows || !(r.Train.MAE > 0) {
		t.Errorf("got %d training rows with MAE %v, want 60000", r.Train.N, r.Train.MAE)
	}
}
