package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// models are two model files of the same table, fitted once for all tests.
var (
	fitModels sync.Once
	models    [2][]byte
)

// fixture returns a model file.
func fixture(t testing.TB, number int) []byte {
	t.Helper()
	fitModels.Do(func() {
		table := writeTable(t)
		for i := range models {
			spec := kft.Spec{
				Data:      kft.DataSpec{Files: []string{table}, Target: "units", Modes: []string{"store", "item", "time=year+month"}},
				Transform: "log1p", Terms: []string{"store,item,time:2", "store", "item"}, Seed: uint64(i + 1),
				Uncertainty: kft.UncertaintySpec{Inference: "mean-field"}, Fit: kft.FitSpec{Sweeps: 5},
			}
			m, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := m.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			models[i] = b.Bytes()
		}
	})
	if models[number] == nil {
		t.Fatal("the models could not be fitted")
	}
	return models[number]
}

// writeTable writes the table of the models and returns its path.
func writeTable(t testing.TB) string { return testtable.WriteSales(t, 2000) }

// writeModel writes a model file and returns its path.
func writeModel(t testing.TB, number int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sales.kft")
	replace(t, path, fixture(t, number))
	return path
}

// replace writes a file as programs do that keep readers in mind: beside it, then renamed.
func replace(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// newServer returns a server of one model, sales.
func newServer(t testing.TB, change func(*Options)) *Server {
	t.Helper()
	opt := Options{Models: []ModelFile{{Name: "sales", Path: writeModel(t, 0)}}}
	if change != nil {
		change(&opt)
	}
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ask sends a request to the handler. A body that starts with { or [ is JSON.
func ask(t testing.TB, h http.Handler, method, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", jsonType)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answer sends a request and decodes the response, which must have the status 200.
func answer[T any](t testing.TB, h http.Handler, method, path, body string, header ...string) (value T) {
	t.Helper()
	w := ask(t, h, method, path, body, header...)
	if w.Code != http.StatusOK {
		t.Fatalf("%s %s: status %d: %s", method, path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &value); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, w.Body)
	}
	return value
}

// failure returns the code and the field of an error.
func failure(t testing.TB, w *httptest.ResponseRecorder) problem {
	t.Helper()
	var p struct{ Error problem }
	if err := json.NewDecoder(io.Reader(w.Body)).Decode(&p); err != nil {
		t.Fatalf("the error is not JSON: %v", err)
	}
	return p.Error
}

type predictAnswer struct {
	Model, Version string
	Predictions    []struct {
		Mean, Median, SD float64
		Quantiles        []struct{ Level, Value float64 }
		Unseen           []string
		Histogram        *struct{ Edges, Probabilities []float64 }
		Reasons          any
	}
}

const oneCell = `{"cells":[{"store":"s3","item":"i4","time":"2015-2"}]}`

// observedValues returns the values of a store and an item in the table, by period.
func observedValues(t testing.TB, store, item string) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(writeTable(t))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		f := strings.Split(line, ",")
		if len(f) > 4 && f[2] == store && f[3] == item {
			var v float64
			fmt.Sscan(f[4], &v)
			values[f[0]+"-"+f[1]] = v
		}
	}
	return values
}

// testLog returns a logger that writes text without times.
func testLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}
