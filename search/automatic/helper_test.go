package automatic

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/spec"
)

var salesModes = []string{"store", "item", "time=year+month"}

// syntheticSpec writes a small synthetic table and returns a filled specification of it.
func syntheticSpec(t *testing.T) spec.Spec {
	t.Helper()
	var text strings.Builder
	if err := synthetic.New(synthetic.Options{Stores: 20, Items: 30, Months: 12, Pairs: 300, Seed: 1}).WriteCSV(&text); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sales.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "units", Modes: salesModes}, Transform: "log1p",
		Terms: []string{"store,item,time:3", "store"}, Fit: spec.Fit{Sweeps: 9}}
	s.Fill()
	return s
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
