package kft_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/solver"
)

// writeFile writes a file to a temporary folder and returns its path.
func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// readFile returns the content of a file.
func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// linesOf splits a text into lines without line ends.
func linesOf(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

// addColumn appends a column to a CSV table. The first data row has number 0.
func addColumn(table, name string, value func(row int, line string) string) string {
	lines := linesOf(table)
	for i, line := range lines {
		if i == 0 {
			lines[i] = line + "," + name
		} else {
			lines[i] = line + "," + value(i-1, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// fit trains a model on the files of the specification.
func fit(t testing.TB, spec kft.Spec, opt kft.Options) (*kft.Model, *kft.Report) {
	t.Helper()
	m, r, err := kft.Fit(t.Context(), spec, kft.Source{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// fitWithInterruptions stops a fit after every pause blocks and resumes it from its
// checkpoint until it ends. It returns the model and the number of runs.
func fitWithInterruptions(t testing.TB, spec kft.Spec, opt kft.Options, pause int) (m *kft.Model, runs int) {
	t.Helper()
	for stop := solver.Interrupted; stop == solver.Interrupted; runs++ {
		ctx, cancel := context.WithCancel(t.Context())
		blocks := 0
		opt.Progress = func(e kft.Event) {
			if e.Fit != nil && e.Fit.Point == nil {
				if blocks++; blocks == pause {
					cancel()
				}
			}
		}
		var r *kft.Report
		var err error
		m, r, err = kft.Fit(ctx, spec, kft.Source{}, opt)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		stop = r.Stop
	}
	return m, runs
}

// modelBytes returns the content of the model's file.
func modelBytes(t testing.TB, m *kft.Model) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return []byte(readFile(t, path))
}

// loadBytes loads a model from the content of its file.
func loadBytes(t testing.TB, file []byte) *kft.Model {
	t.Helper()
	m, err := kft.Load(writeFile(t, "m.kft", string(file)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reload saves a model and loads it again.
func reload(t testing.TB, m *kft.Model) *kft.Model {
	t.Helper()
	return loadBytes(t, modelBytes(t, m))
}

// predictFile returns the text that PredictTable writes for a file.
func predictFile(t testing.TB, m *kft.Model, path string, opt kft.TableOptions) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := m.PredictTable(t.Context(), kft.Files(path), &out, opt); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// predictCells returns the predictions of cells.
func predictCells(t testing.TB, m *kft.Model, cells ...kft.Cell) []kft.Prediction {
	t.Helper()
	p, err := m.Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// numberColumns reads a CSV table. Values that are not numbers become 0.
func numberColumns(t testing.TB, text string) map[string][]float64 {
	t.Helper()
	frame, err := tableio.ReadFrame(t.Context(), kft.Reader("predictions", strings.NewReader(text)), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]float64{}
	for c, name := range frame.Names {
		for _, cell := range frame.Columns[c] {
			v, _ := dataset.Number(cell)
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}

// jsonOf returns the JSON form of a value.
func jsonOf(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkErrorText fails the test unless err contains want.
func checkErrorText(t testing.TB, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("got no error, want one that contains %q", want)
	} else if !strings.Contains(err.Error(), want) {
		t.Errorf("got error %q, want one that contains %q", err, want)
	}
}

// sameAfterLoading checks that a loaded model predicts cells as the saved one does, and returns the
// predictions.
func sameAfterLoading(t *testing.T, saved, loaded *kft.Model, cells []kft.Cell) []kft.Prediction {
	t.Helper()
	want, err := saved.Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	got, err := loaded.Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if got[i].Mean != want[i].Mean || got[i].SD != want[i].SD {
			t.Errorf("cell %v: %g +- %g after loading, %g +- %g before", cells[i], got[i].Mean, got[i].SD, want[i].Mean, want[i].SD)
		}
	}
	return want
}
