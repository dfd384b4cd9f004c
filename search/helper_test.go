package search

import (
	"os"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

var salesModes = []string{"store", "item", "time=year+month"}

// salesSpec returns a specification of a table that testtable.WriteSales wrote.
func salesSpec(table string) spec.Spec {
	return spec.Spec{
		Data:      spec.Data{Files: []string{table}, Target: "units", Modes: salesModes},
		Transform: "log1p",
		Terms:     []string{"store,item,time:4", "store*item,time:1"},
		Fit:       spec.Fit{Sweeps: 12},
	}
}

func mustFit(t *testing.T, s spec.Spec, opt train.Options) (*model.Model, *train.Report) {
	t.Helper()
	m, r, err := Fit(t.Context(), s, tableio.Source{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
