package tuning

import (
	"os"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

var salesModes = []string{"store", "item", "time=year+month"}

// ledgerSpec writes a table of the ledger and returns a specification of it that leaves
// everything to be chosen.
func ledgerSpec(t *testing.T, name string) spec.Spec {
	t.Helper()
	file, table := testtable.WriteLedger(t, name)
	return spec.Spec{Data: spec.Data{Files: []string{file}, Target: table.Target, Modes: table.Modes}}
}

// syntheticSpec writes a small synthetic table and returns a filled specification of it.
func syntheticSpec(t *testing.T) spec.Spec {
	t.Helper()
	s := spec.Spec{Data: spec.Data{Files: []string{testtable.WriteSynthetic(t)}, Target: "units", Modes: salesModes}, Transform: "log1p",
		Terms: []string{"store,item,time:3", "store"}, Fit: spec.Fit{Sweeps: 9}}
	s.Fill()
	return s
}

// filledSpec returns a filled specification over the modes a, b and c of a table that
// does not exist, with a change applied before filling.
func filledSpec(change func(*spec.Spec)) spec.Spec {
	s := spec.Spec{Data: spec.Data{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b", "c"}}, Terms: []string{"a,b,c:8", "a", "a,b,c:2,5@plain"}}
	change(&s)
	s.Fill()
	return s
}

func mustFit(t *testing.T, s spec.Spec, opt train.Options) (*model.Model, *train.Report) {
	t.Helper()
	m, r, err := search.Fit(t.Context(), s, tableio.Source{}, opt)
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
