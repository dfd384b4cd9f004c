package evaluate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/synthetic"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// sales returns a table in memory and the same rows as CSV.
func sales(t *testing.T, seed uint64) (tableio.Source, string) {
	t.Helper()
	return table(t, synthetic.Options{Stores: 12, Items: 15, Months: 12, Pairs: 130, Seed: seed})
}

func table(t *testing.T, opt synthetic.Options) (tableio.Source, string) {
	t.Helper()
	rows := synthetic.New(opt)
	var stores, items []string
	var months []int
	var units []float64
	var text strings.Builder
	text.WriteString("store,item,month,units\n")
	for i := range rows.Len() {
		stores, items = append(stores, fmt.Sprintf("s%d", rows.Store[i])), append(items, fmt.Sprintf("i%d", rows.Item[i]))
		months, units = append(months, int(rows.Month[i])+1), append(units, float64(rows.Units[i]))
		fmt.Fprintf(&text, "%s,%s,%d,%d\n", stores[i], items[i], months[i], rows.Units[i])
	}
	columns, err := dataset.NewColumns(dataset.StringColumn("store", stores), dataset.StringColumn("item", items),
		dataset.IntColumn("month", months), dataset.FloatColumn("units", units))
	if err != nil {
		t.Fatal(err)
	}
	return tableio.Columns(columns), text.String()
}

func fit(t *testing.T, source tableio.Source) *model.Model {
	t.Helper()
	s := spec.Default()
	s.Data.Target, s.Data.Modes = "units", []string{"store", "item", "month"}
	s.Transform = "log1p"
	s.Terms = []string{"store,item,month:3", "store", "item"}
	s.Uncertainty.Inference, s.Uncertainty.Conformal = "mean-field", "none"
	s.Fit = spec.Fit{Sweeps: 4}
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, source, train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// text returns a value as JSON, in which NaN equals itself.
func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A table in memory has the same score as the same rows in CSV, on any number of
// threads.
func TestTable(t *testing.T) {
	t.Parallel()
	memory, csv := sales(t, 1)
	m := fit(t, memory)
	want, summary, err := evaluate.Table(t.Context(), m, memory, model.TableOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if want.N == 0 || summary.Rows != want.N || want.Calibration == nil {
		t.Fatalf("got score %+v of %d rows, want a score of all rows with calibration", want, summary.Rows)
	}
	for _, threads := range []int{1, 3} {
		got, gotSummary, err := evaluate.Table(t.Context(), m, tableio.Reader("sales.csv", strings.NewReader(csv)), model.TableOptions{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if g, w := text(t, got), text(t, want); g != w {
			t.Errorf("CSV, %d threads: got score %s, want %s", threads, g, w)
		}
		if g, w := text(t, gotSummary), text(t, summary); g != w {
			t.Errorf("CSV, %d threads: got summary %s, want %s", threads, g, w)
		}
	}
}

// The period of a forecast is new in each row, so that it does not count as an unknown id, whether or not intervals depend on the horizon.
func TestSeenOfForecasts(t *testing.T) {
	t.Parallel()
	var known, later strings.Builder
	known.WriteString("item,month,y\n")
	later.WriteString("item,month,y\n")
	for m := range 24 {
		for i := range 8 {
			b := &known
			if m >= 20 {
				b = &later
			}
			fmt.Fprintf(b, "i%d,%d-%02d,%d\n", i, 2020+m/12, m%12+1, 10+i+(m*7+i*5)%4)
		}
	}
	s := spec.Default()
	s.Data.Target, s.Data.Modes, s.Split = "y", []string{"item", "month"}, "time:last=4"
	s.Terms = []string{"item", "series(item; month)"}
	s.Uncertainty.Inference, s.Uncertainty.Conformal, s.Fit = "mean-field", "none", spec.Fit{Sweeps: 4}
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Reader("known.csv", strings.NewReader(known.String())), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	score, _, err := evaluate.Table(t.Context(), m, tableio.Reader("later.csv", strings.NewReader(later.String())), model.TableOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if seen := score.Calibration.CoverageBySeen; seen[2].Name != "warm" || seen[2].N != 32 {
		t.Errorf("got %+v, want 32 warm rows", seen)
	}
}

func TestTableWithoutTargets(t *testing.T) {
	t.Parallel()
	memory, _ := sales(t, 1)
	m := fit(t, memory)
	_, _, err := evaluate.Table(t.Context(), m, tableio.Reader("empty.csv", strings.NewReader("store,item,month,units\ns1,i1,1,\n")), model.TableOptions{})
	var field interface{ FieldPath() string }
	if !errors.As(err, &field) || field.FieldPath() != "data.target" || !strings.Contains(err.Error(), "empty.csv") {
		t.Errorf("got error %v, want one about data.target of empty.csv", err)
	}
}

// The score of a part equals the one in the record of the fit, if the source has the
// fitted table.
func TestPart(t *testing.T) {
	t.Parallel()
	memory, _ := sales(t, 1)
	m := fit(t, memory)
	record := m.Record()
	for part, want := range map[dataset.Part]struct {
		n  int
		r2 float64
	}{dataset.Valid: {record.Valid.N, record.Valid.R2}, dataset.Test: {record.Test.N, record.Test.R2}} {
		got, summary, err := evaluate.Part(t.Context(), m, memory, part, model.TableOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got.N != want.n || got.R2 != want.r2 || summary.Rows != want.n {
			t.Errorf("%v: got R2 %v on %d of %d rows, want %v on %d", part, got.R2, got.N, summary.Rows, want.r2, want.n)
		}
	}
	other, _ := sales(t, 2)
	_, _, err := evaluate.Part(t.Context(), m, other, dataset.Test, model.TableOptions{})
	var notFitted *evaluate.NotFittedError
	if !errors.As(err, &notFitted) {
		t.Errorf("another table: got error %v, want a NotFittedError", err)
	}
}

// Intervals that are too wide are no news on rows that a model was trained again on, which do not calibrate it
// either. On others the reason is the refit only if those of the first training were not too wide.
func TestPartAfterRefit(t *testing.T) {
	t.Parallel()
	memory, _ := table(t, synthetic.Options{Stores: 20, Items: 40, Months: 12, Pairs: 800, Seed: 1})
	m := fit(t, memory)
	noise, wide := m.Noise(), *m.Noise().Constant
	wide.Variance *= 9
	noise.Constant = &wide
	m = m.WithNoise(noise)
	_, sum, err := evaluate.Part(t.Context(), m, memory, dataset.Valid, model.TableOptions{Threads: 1})
	if err != nil || len(sum.Warnings) != 1 || !strings.Contains(sum.Warnings[0], "too wide") || strings.Contains(sum.Warnings[0], "fit.refit") {
		t.Fatalf("without a refit: got the warnings %q on %d rows, %v", sum.Warnings, sum.Rows, err)
	}
	record := m.Record()
	record.Refit = &model.Refit{Rows: record.Train.N + record.Valid.N, KeepsTest: true}
	m = m.WithRecord(record)
	if _, sum, err := evaluate.Part(t.Context(), m, memory, dataset.Valid, model.TableOptions{Threads: 1}); err != nil || !sum.Fitted || len(sum.Warnings) > 0 {
		t.Errorf("rows of the refit: got %+v, %v", sum, err)
	}
	test, sum, err := evaluate.Part(t.Context(), m, memory, dataset.Test, model.TableOptions{Threads: 1})
	if err != nil || sum.Fitted || len(sum.Warnings) != 1 || !strings.Contains(sum.Warnings[0], "fit.refit") {
		t.Errorf("other rows: got %+v, %v", sum, err)
	}
	record.Valid = test // as wide before the refit
	if got := evaluate.CoverageWarnings(m.WithRecord(record), test, "the test set"); len(got) != 1 || strings.Contains(got[0], "fit.refit") {
		t.Errorf("as wide before the refit: got %q", got)
	}
	_, _, err = evaluate.RecalibratePart(t.Context(), m, memory, dataset.Valid, "split", model.TableOptions{})
	if err == nil || !strings.Contains(err.Error(), "a fit with fit.refit set to none") {
		t.Errorf("got error %v", err)
	}
}

// Recalibrate returns another model with a correction from the rows of a table in
// memory, and leaves the first one unchanged.
func TestRecalibrate(t *testing.T) {
	t.Parallel()
	memory, _ := sales(t, 1)
	m := fit(t, memory)
	before := encode(t, m)
	other, _ := sales(t, 2)
	for _, kind := range []string{"split", "group:mean", "group:store"} {
		corrected, summary, err := evaluate.Recalibrate(t.Context(), m, other, kind, model.TableOptions{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		info := corrected.Uncertainty().Conformal
		if info == nil || info.Kind != kind || info.Rows != summary.Rows || summary.Fitted {
			t.Errorf("%s: got correction %+v and summary %+v, want all rows of a table that is not the fitted one", kind, info, summary)
		}
		r := corrected.Record()
		if r.Valid.Calibration != nil || r.Test.Calibration != nil {
			t.Errorf("%s: the record has calibration measures of the model without the correction", kind)
		}
		// The 90 % interval covers the rows that the correction was computed from.
		if score, _, err := evaluate.Table(t.Context(), corrected, other, model.TableOptions{}); err != nil || float64(score.Calibration.Coverage90) < 0.88 {
			t.Errorf("%s: got coverage %v of the 90 %% interval, %v", kind, score.Calibration.Coverage90, err)
		}
	}
	if !bytes.Equal(encode(t, m), before) || m.Record().Test.Calibration == nil {
		t.Error("Recalibrate changed the model that it was given")
	}
	if _, summary, err := evaluate.Recalibrate(t.Context(), m, memory, "split", model.TableOptions{}); err != nil || !summary.Fitted {
		t.Errorf("fitted table: got summary %+v, %v, want it to be recognised", summary, err)
	}
	for _, kind := range []string{"auto", "none", "", "splitt"} {
		_, _, err := evaluate.Recalibrate(t.Context(), m, other, kind, model.TableOptions{})
		if want := fmt.Sprintf("%q is not a correction that can be computed from data; use split, group:mean, group:MODE or horizon", kind); err == nil || err.Error() != want {
			t.Errorf("kind %q: got error %v, want %s", kind, err, want)
		}
	}
	few := tableio.Reader("few.csv", strings.NewReader("store,item,month,units\ns1,i1,1,3\n"))
	_, _, err := evaluate.Recalibrate(t.Context(), m, few, "split", model.TableOptions{})
	var tooFew *conformal.TooFewRowsError
	if !errors.As(err, &tooFew) {
		t.Errorf("one row: got error %v, want a TooFewRowsError", err)
	}
}

func encode(t *testing.T, m *model.Model) []byte {
	t.Helper()
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// A coverage map counts every row of the table, or of a part, once.
func TestMap(t *testing.T) {
	t.Parallel()
	memory, _ := sales(t, 1)
	m := fit(t, memory)
	for part, want := range map[dataset.Part]int{dataset.Unused: m.FittedRows(), dataset.Test: m.Record().Test.N} {
		got, err := evaluate.Map(t.Context(), m, memory, evaluate.MapOptions{Rows: "store", Columns: "item", Part: part})
		if err != nil {
			t.Fatal(err)
		}
		if got.N != want || got.Labels.RowMode != "store" || len(got.Labels.Columns) != len(m.IDs(1)) {
			t.Errorf("%v: got %d rows, labels %+v, want %d rows by all stores and items", part, got.N, got.Labels, want)
		}
	}
	for _, mode := range []string{"stor", "item"} {
		_, err := evaluate.Map(t.Context(), m, memory, evaluate.MapOptions{Rows: mode, Columns: "item", Part: dataset.Unused})
		var modeErr *evaluate.ModeError
		if !errors.As(err, &modeErr) || modeErr.Mode != mode {
			t.Errorf("rows by %s: got error %v, want a ModeError", mode, err)
		}
	}
}
