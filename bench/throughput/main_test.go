package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestRun measures a small table and checks that every phase is listed for every number of
// cores.
func TestRun(t *testing.T) {
	table := testtable.WriteSales(t, 500)
	m, _, err := kft.Fit(t.Context(), kft.Spec{
		Data:      kft.DataSpec{Files: []string{table}, Target: "units", Modes: []string{"store", "item", "time=year+month"}},
		Transform: "log1p", Terms: []string{"store,item,time:2"}, Fit: kft.FitSpec{Sweeps: 2},
	}, kft.Source{}, kft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "model.kft")
	if err := m.Save(model); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), model, table, "1,2", "", 1, &out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out.String(), "\n"); lines != 3+2*len(phases(m, table, "")) {
		t.Errorf("got %d lines:\n%s", lines, out.String())
	}
	for _, c := range []struct{ model, cores string }{{"", "1"}, {model, "0"}, {model, "two"}, {table, "1"}} {
		if err := run(t.Context(), c.model, table, c.cores, "", 1, &out); err == nil {
			t.Errorf("model %q, cores %q: got no error", c.model, c.cores)
		}
	}
}
