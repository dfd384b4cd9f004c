package automatic

import (
	"os"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
)

var salesModes = []string{"store", "item", "time=year+month"}

// syntheticSpec writes a small synthetic table and returns a filled specification of it.
func syntheticSpec(t *testing.T) spec.Spec {
	t.Helper()
	s := spec.Spec{Data: spec.Data{Files: []string{testtable.WriteSynthetic(t)}, Target: "units", Modes: salesModes}, Transform: "log1p",
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
