package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestLoadAndSoak runs short versions of both with a small model: no valid request may
// fail, and the server must end in order.
func TestLoadAndSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program and runs for seconds")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "kft")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/kernel-fried-tensor/kft/cmd/kft").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	table := testtable.WriteSales(t, 2000)
	m, _, err := kft.Fit(t.Context(), kft.Spec{
		Data:      kft.DataSpec{Files: []string{table}, Target: "units", Modes: []string{"store", "item", "time=year+month"}},
		Transform: "log1p", Terms: []string{"store,item,time:2"}, Fit: kft.FitSpec{Sweeps: 3},
	}, kft.Source{}, kft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "model.kft")
	if err := m.Save(model); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		options
		want []string
	}{
		{options{table: table, seconds: 1, clients: 4, rows: 20_000}, []string{"start: ", "single predictions: ", "0 clients failed", "bulk, all columns", "memory: "}},
		{options{seconds: 3, clients: 4, rows: 20_000, soak: true}, []string{" 0 failed;", "end of the server: in order"}},
	} {
		tc.kft, tc.model = program, model
		var out strings.Builder
		err := run(t.Context(), tc.options, &out)
		t.Log(out.String())
		if err != nil {
			t.Errorf("soak %v: %v", tc.soak, err)
		}
		for _, want := range tc.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the output does not contain %q", want)
			}
		}
	}
	for _, wrong := range []options{{}, {model: model}, {model: model, seconds: 1}, {model: model, seconds: 1, clients: 1}, {model: "missing", seconds: 1, clients: 1, rows: 1}} {
		if err := run(t.Context(), wrong, &strings.Builder{}); err == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}
