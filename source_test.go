package kft_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// A memoryTable is a table as typed columns and as CSV.
type memoryTable struct {
	csv     string
	columns []kft.Column
}

// columnsSource returns the typed columns as a source.
func (m memoryTable) columnsSource(t testing.TB) kft.Source {
	t.Helper()
	source, err := kft.Columns(m.columns...)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// visitTable returns a table with strings, integers, floating-point numbers, dates and
// times in unix seconds.
func visitTable() memoryTable {
	var place, day []string
	var year, month []int
	var seconds []int64
	var value []float64
	csv := "place,year,month,day,seconds,value\n"
	for i := range 900 {
		place = append(place, "p"+strconv.Itoa(i%7))
		year, month = append(year, 2020+i%3), append(month, i/3%12+1)
		day = append(day, fmt.Sprintf("%d-%02d-%02d", year[i], month[i], i/36%28+1))
		seconds = append(seconds, 1_600_000_000+int64(i)*4567)
		value = append(value, float64(i%7)+0.5*float64(month[i]%5)-0.25*float64(i%3)+float64(i*i%11)/8)
		csv += fmt.Sprintf("%s,%d,%d,%s,%d,%g\n", place[i], year[i], month[i], day[i], seconds[i], value[i])
	}
	return memoryTable{csv, []kft.Column{
		kft.StringColumn("place", place), kft.IntColumn("year", year), kft.IntColumn("month", month),
		kft.StringColumn("day", day), kft.IntColumn("seconds", seconds), kft.FloatColumn("value", value),
	}}
}

// visitSpec has a mode made of two columns and calendar functions of a date and of unix
// seconds.
func visitSpec() kft.Spec {
	return kft.Spec{
		Data:        kft.DataSpec{Target: "value", Modes: []string{"place", "time=year+month", "weekday(day)", "hour(seconds)"}, Duplicates: "mean"},
		Terms:       []string{"place,time:2", "weekday", "hour"},
		Fit:         kft.FitSpec{Sweeps: 4},
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field"},
	}
}

// fileWithoutDataHash decodes the model's file and removes the data_hash of the record.
func fileWithoutDataHash(t testing.TB, m *kft.Model) *modelfile.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	var record map[string]any
	if err := json.Unmarshal([]byte(f.Meta["training"]), &record); err != nil {
		t.Fatal(err)
	}
	delete(record, "data_hash")
	f.Meta["training"] = jsonOf(t, record)
	return f
}

// TestSourcesGiveTheSameModel fits the same table from a file, from a reader and from
// columns in memory.
func TestSourcesGiveTheSameModel(t *testing.T) {
	t.Parallel()
	table := visitTable()
	path := writeFile(t, "visits.csv", table.csv)
	fitTo := func(source kft.Source) *kft.Model {
		t.Helper()
		m, _, err := kft.Fit(t.Context(), visitSpec(), source, kft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	fromFile, fromReader, fromColumns := fitTo(kft.Files(path)), fitTo(kft.Reader("visits", strings.NewReader(table.csv))), fitTo(table.columnsSource(t))
	if !bytes.Equal(modelBytes(t, fromReader), modelBytes(t, fromFile)) {
		t.Error("reader: got a model file that differs from that of the CSV file, want equal bytes")
	}
	// The hash of the data also depends on the format of the source.
	got, want := fileWithoutDataHash(t, fromColumns), fileWithoutDataHash(t, fromFile)
	for key := range want.Meta {
		if got.Meta[key] != want.Meta[key] {
			t.Errorf("columns, text %s: got %s, want %s as from the CSV file", key, got.Meta[key], want.Meta[key])
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("columns: got tensors that differ from those of the CSV file, want equal ones")
	}
}

// TestSourcesGiveTheSamePredictions predicts, measures and recalibrates with the same
// table from a file, from a reader and from columns in memory.
func TestSourcesGiveTheSamePredictions(t *testing.T) {
	t.Parallel()
	table := visitTable()
	m, _, err := kft.Fit(t.Context(), visitSpec(), table.columnsSource(t), kft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := writeFile(t, "visits.csv", table.csv)
	type results struct {
		columns map[string][]float64
		score   string
		model   *modelfile.File
	}
	run := func(name string, source func() kft.Source) results {
		t.Helper()
		var out strings.Builder
		if _, err := m.PredictTable(t.Context(), source(), &out, kft.TableOptions{Quantiles: threeLevels(), Samples: 2}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		score, _, err := m.Evaluate(t.Context(), source(), kft.TableOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		recalibrated, _, err := m.Recalibrate(t.Context(), source(), "split", kft.TableOptions{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return results{numberColumns(t, out.String()), jsonOf(t, score), fileWithoutDataHash(t, recalibrated)}
	}
	want := run("file", func() kft.Source { return kft.Files(path) })
	for name, source := range map[string]func() kft.Source{
		"reader":  func() kft.Source { return kft.Reader("visits", strings.NewReader(table.csv)) },
		"columns": func() kft.Source { return table.columnsSource(t) },
	} {
		got := run(name, source)
		if !reflect.DeepEqual(got.columns, want.columns) {
			t.Errorf("%s: got other predictions than from the file, want equal ones", name)
		}
		if got.score != want.score {
			t.Errorf("%s: got score %s, want %s as from the file", name, got.score, want.score)
		}
		if !reflect.DeepEqual(got.model, want.model) {
			t.Errorf("%s: got another recalibrated model than from the file, want equal ones", name)
		}
	}
	// EvaluatePart recognizes the fitted columns.
	if _, _, err := m.EvaluatePart(t.Context(), table.columnsSource(t), kft.Test, kft.TableOptions{}); err != nil {
		t.Errorf("EvaluatePart: got error %v for the fitted columns, want none", err)
	}
}

func TestColumnsRejectsInvalidTables(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string][]kft.Column{
		"different lengths": {kft.StringColumn("a", []string{"x", "y"}), kft.IntColumn("b", []int{1})},
		"duplicate names":   {kft.IntColumn("a", []int{1}), kft.FloatColumn("a", []float64{1})},
	} {
		if _, err := kft.Columns(columns...); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
}

// failingReader returns a part of a table and then an error.
type failingReader struct {
	text io.Reader
	err  error
}

func (r failingReader) Read(p []byte) (int, error) {
	if n, err := r.text.Read(p); err == nil {
		return n, nil
	}
	return 0, r.err
}

// TestErrorOfReaderIsReturned checks that the error of a reader can be found in the
// error of a fit, with the name of the source in its text.
func TestErrorOfReaderIsReturned(t *testing.T) {
	t.Parallel()
	want := errors.New("connection lost")
	source := kft.Reader("visits of the web shop", failingReader{strings.NewReader(visitTable().csv[:5000]), want})
	_, _, err := kft.Fit(t.Context(), visitSpec(), source, kft.Options{})
	if !errors.Is(err, want) {
		t.Errorf("got error %v, want one that wraps %v", err, want)
	}
	checkErrorText(t, err, "visits of the web shop")
}

// storeColumns returns a side table of the shop as columns in memory.
func storeColumns(t testing.TB, csv string) kft.Source {
	t.Helper()
	var id, region []string
	var size []float64
	for _, line := range linesOf(csv)[1:] {
		f := strings.Split(line, ",")
		v, err := strconv.ParseFloat(f[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		id, region, size = append(id, f[0]), append(region, f[1]), append(size, v)
	}
	return memoryTable{columns: []kft.Column{kft.StringColumn("store", id), kft.StringColumn("region", region), kft.FloatColumn("size", size)}}.columnsSource(t)
}

// TestSideTablesFromMemory fits with side tables from readers and from columns in memory,
// by Options.Tables. The models equal those from files.
func TestSideTablesFromMemory(t *testing.T) {
	t.Parallel()
	for _, space := range []string{"primal", "dual"} {
		t.Run(space, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 16, 20, nil)
			spec := s.spec("wlr", space)
			fromFiles, _ := fit(t, spec, kft.Options{})
			want := modelBytes(t, fromFiles)
			// The model file contains the names of the tables, so they stay the same.
			stores, items := s.path("stores.csv"), s.path("items.csv")
			storeText, itemText := s.read(t, "stores.csv"), s.read(t, "items.csv")
			s.write(t, "stores.csv", "must not be read")
			s.write(t, "items.csv", "must not be read")
			itemSource := func() kft.Source { return kft.Reader("items", strings.NewReader(itemText)) }
			for name, storeSource := range map[string]func() kft.Source{
				"reader":  func() kft.Source { return kft.Reader("stores", strings.NewReader(storeText)) },
				"columns": func() kft.Source { return storeColumns(t, storeText) },
			} {
				m, _ := fit(t, spec, kft.Options{Tables: map[string]kft.Source{stores: storeSource(), items: itemSource()}})
				if !bytes.Equal(modelBytes(t, m), want) {
					t.Errorf("%s: got a model file that differs from that with side tables from files, want equal bytes", name)
				}
				renamed := spec.Clone()
				renamed.Side.Tables = []string{"store=stores of 2024", "item=items"}
				m, _ = fit(t, renamed, kft.Options{Tables: map[string]kft.Source{"stores of 2024": storeSource(), "items": itemSource()}})
				if got, want := median(t, m, "closed", "i1", "2"), median(t, fromFiles, "closed", "i1", "2"); got != want {
					t.Errorf("%s, tables with other names: got median %g, want %g", name, got, want)
				}
			}
			// A name that is not in Tables is a file.
			spec.Side.Tables = []string{"store=stores of 2024"}
			_, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{Tables: map[string]kft.Source{"stores": itemSource()}})
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("unknown name: got error %v, want os.ErrNotExist", err)
			}
			checkErrorText(t, err, "stores of 2024")
		})
	}
}

// TestWithSideFromMemory gives WithSide a table from a reader and from columns in memory.
func TestWithSideFromMemory(t *testing.T) {
	t.Parallel()
	s := newShop(t, 12, 16, nil)
	m, _ := fit(t, s.spec("wlr", "dual"), kft.Options{})
	const text = "store,region,size\nn0,south,0.3\n"
	want := median(t, withSide(t, m, "store="+s.write(t, "n.csv", text)), "n0", "i1", "2")
	for name, source := range map[string]kft.Source{"reader": kft.Reader("new stores", strings.NewReader(text)), "columns": storeColumns(t, text)} {
		extended, err := m.WithSide(t.Context(), []string{"store=new"}, map[string]kft.Source{"new": source})
		if err != nil {
			t.Fatal(err)
		}
		if got := median(t, extended, "n0", "i1", "2"); got != want {
			t.Errorf("%s: got median %g, want %g as from a file", name, got, want)
		}
	}
}
