package kft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// halves writes the rows of a table to two, one row after the other.
func halves(t testing.TB, table string) (one, other string) {
	t.Helper()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	parts := [2]strings.Builder{}
	for i := range parts {
		parts[i].WriteString(lines[0])
	}
	for i, line := range lines[1:] {
		parts[i%2].WriteString(line)
	}
	dir := t.TempDir()
	paths := [2]string{filepath.Join(dir, "one.csv"), filepath.Join(dir, "other.csv")}
	for i, path := range paths {
		if err := os.WriteFile(path, []byte(parts[i].String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return paths[0], paths[1]
}

// A layer made of new rows mends a model that is far too sure of itself, and is
// kept with the model; the model it was made for stays as it was.
func TestCalibrate(t *testing.T) {
	table := writeSales(t, 6000)
	fitted, rest := halves(t, table)
	held, test := halves(t, rest)
	m := fitUncertain(t, fitted, kft.UncertaintySpec{Conformal: "none"}, func(s *kft.Spec) { s.Split = "random:90/10" })
	score := func(m *kft.Model) *metrics.Calibration {
		t.Helper()
		s, _, err := m.Evaluate(context.Background(), kft.Files(test), kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s.Calibration
	}
	before := score(m)
	for _, kind := range []string{"split", "group:mean", "group:store", "group:time"} {
		better, sum, err := m.Recalibrate(context.Background(), kft.Files(held), kind, kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Fitted || sum.Rows != 1500 {
			t.Errorf("%s: %+v", kind, sum)
		}
		if c := better.Uncertainty().Conformal; c == nil || c.Kind != kind || c.Rows != 1500 || better.Spec().Uncertainty.Conformal != kind {
			t.Errorf("%s: layer %+v, specification %s", kind, c, better.Spec().Uncertainty.Conformal)
		}
		after := score(better)
		// 1,500 rows to learn from and as many to measure: Xi is chance.
		if after.Xi > 0.1 || math.Abs(float64(after.Coverage90)-0.9) > 0.03 {
			t.Errorf("%s: Xi %.3f, was %.3f; coverage %.3f", kind, after.Xi, before.Xi, after.Coverage90)
		}
		file := filepath.Join(t.TempDir(), "m.kft")
		if err := better.Save(file); err != nil {
			t.Fatal(err)
		}
		loaded, err := kft.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		opt := kft.TableOptions{Quantiles: threeLevels}
		if predictText(t, better, held, opt) != predictText(t, loaded, held, opt) {
			t.Errorf("%s: other predictions from the file", kind)
		}
	}
	if m.Uncertainty().Conformal != nil || m.Spec().Uncertainty.Conformal != "none" {
		t.Error("the model itself was changed")
	}
	if _, sum, err := m.Recalibrate(context.Background(), kft.Files(fitted), "split", kft.TableOptions{}); err != nil || !sum.Fitted {
		t.Errorf("the fitted table was not known again: %+v, %v", sum, err)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	fitted := writeSales(t, 600)
	m := fitUncertain(t, fitted, kft.UncertaintySpec{Inference: "mean-field", Likelihood: "poisson", Conformal: "none"}, nil)
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte("year,month,store,item,units\n"+text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	few := strings.Repeat("2015,1,s1,i1,4\n", 18)
	var tooFew *conformal.TooFewRowsError
	_, _, err := m.Recalibrate(context.Background(), kft.Files(write(few)), "split", kft.TableOptions{})
	if !errors.As(err, &tooFew) || tooFew.Needed != 19 || !strings.Contains(err.Error(), "18 calibration rows") {
		t.Errorf("18 rows: %v", err)
	}
	if _, _, err := m.Recalibrate(context.Background(), kft.Files(write(few+"2015,1,s1,i1,0\n")), "split", kft.TableOptions{}); err != nil {
		t.Errorf("19 rows: %v", err)
	}
	for name, c := range map[string]struct{ text, kind, want string }{
		"no target":  {"2015,1,s1,i1,\n", "split", "no row has a value in column units"},
		"negative":   {few + "2015,1,s1,i1,-2\n", "split", "data row 19, column units: the target -2 is not a count"},
		"fractional": {few + "2015,1,s1,i1,1.5\n", "split", "data row 19, column units: the target 1.5 is not a count"},
		"no mode":    {few, "group:stor", `did you mean "store"?`},
		"no kind":    {few, "groups", "groups"},
		"none":       {few, "none", "split, group:mean or group:MODE"},
	} {
		if _, _, err := m.Recalibrate(context.Background(), kft.Files(write(c.text)), c.kind, kft.TableOptions{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", name, err, c.want)
		}
	}
	bad := write(few + "2015,1,s1,i1,1.5\n")
	if _, _, err := m.Evaluate(context.Background(), kft.Files(bad), kft.TableOptions{}); err == nil || !strings.Contains(err.Error(), "data row 19, column units") {
		t.Errorf("evaluate: %v", err)
	}
	if _, err := m.Map(context.Background(), kft.Files(bad), kft.MapOptions{Rows: "store", Part: dataset.Unused}); err == nil || !strings.Contains(err.Error(), "data row 19, column units") {
		t.Errorf("heat: %v", err)
	}
}

// Heat maps count each value once, in the place of its entities, times in order.
func TestHeat(t *testing.T) {
	table := writeSales(t, 2000)
	m := fitUncertain(t, table, kft.UncertaintySpec{}, func(s *kft.Spec) { s.Split = "time:last=2" })
	all, err := m.Map(context.Background(), kft.Files(table), kft.MapOptions{Rows: "store", Part: dataset.Unused})
	if err != nil {
		t.Fatal(err)
	}
	if want := "2015-1 2015-2 2015-3 2015-4 2015-5 2015-6 2016-1 2016-2 2016-3 2016-4 2016-5 2016-6"; strings.Join(all.Labels.Columns, " ") != want {
		t.Errorf("columns %v", all.Labels.Columns)
	}
	if all.N != 2000 || all.Labels.Rows[9] != "s9" || all.Labels.Rows[10] != "s10" {
		t.Errorf("%d values, rows %v", all.N, all.Labels.Rows)
	}
	frame, err := tableio.ReadFrame(context.Background(), tableio.Files(table), tableio.Format{})
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i := range frame.Len() {
		if frame.Columns[0][i] == "2016" && frame.Columns[1][i] == "6" && frame.Columns[2][i] == "s7" {
			want++
		}
	}
	if got := all.Count(7, 11); got != want || want == 0 {
		t.Errorf("%d values of s7 in 2016-6, not %d", got, want)
	}
	// The test part is the last two months, which had no training rows.
	test, err := m.Map(context.Background(), kft.Files(table), kft.MapOptions{Rows: "item", Columns: "time", Part: dataset.Test})
	if err != nil {
		t.Fatal(err)
	}
	inLast := 0
	for row := range test.Labels.Rows {
		inLast += test.Count(row, 10) + test.Count(row, 11)
	}
	if test.N != m.Record().Test.N || inLast != test.N {
		t.Errorf("%d of %d values in the last months, of %d test rows", inLast, test.N, m.Record().Test.N)
	}
	score, _, err := m.EvaluatePart(context.Background(), kft.Files(table), dataset.Test, kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for level, share := range score.Calibration.XiByLevel {
		hits := 0
		for row := range test.Labels.Rows {
			hits += test.Hits(level, row, 10) + test.Hits(level, row, 11)
		}
		if got := float64(hits) / float64(test.N); math.Abs(got-float64(share.Share)) > 1e-9 {
			t.Errorf("level %g: %g inside, evaluate has %g", share.Level, got, share.Share)
		}
	}
	var wrong *kft.ModeError
	for _, opt := range []kft.MapOptions{{Rows: "stor"}, {Rows: "store", Columns: "month"}, {Rows: "time"}} {
		if _, err := m.Map(context.Background(), kft.Files(table), opt); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	var picture bytes.Buffer
	if err := all.WritePNG(&picture, 0, all.Labels); err != nil || !bytes.HasPrefix(picture.Bytes(), []byte("\x89PNG")) {
		t.Errorf("%v", err)
	}
}

// A model file whose uncertainty does not fit together is refused, not used.
func TestDamagedUncertainty(t *testing.T) {
	table := writeSales(t, 600)
	m := fitUncertain(t, table, kft.UncertaintySpec{Inference: "entity-covariance", Conformal: "split"}, nil)
	file := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, change func(f *modelfile.File)) {
		t.Helper()
		f, err := modelfile.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		damaged := filepath.Join(t.TempDir(), "damaged.kft")
		if err := modelfile.Write(damaged, f); err != nil {
			t.Fatal(err)
		}
		var format *modelfile.FormatError
		if _, err := kft.Load(damaged); !errors.As(err, &format) {
			t.Errorf("%s: %v", what, err)
		}
	}
	f, err := modelfile.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, tensor := range f.Tensors {
		name := tensor.Name
		if !strings.HasPrefix(name, "conformal/") && !strings.HasPrefix(name, "seen/") && !strings.HasSuffix(name, "variance") {
			continue
		}
		refused(name+" lost", func(f *modelfile.File) { f.Tensors = slices.Delete(f.Tensors, i, i+1) })
		if tensor.DType() == "F32" {
			refused(name+" too short", func(f *modelfile.File) { f.Tensors[i] = modelfile.NewTensor(name, []float32{1}, 1) })
		}
	}
	for key, texts := range map[string][]string{
		"uncertainty": {"", "{}", "[]", `{"constant":{"variance":"large"}}`},
		"conformal":   {"splits"},
	} {
		for _, text := range texts {
			refused(key+" "+text, func(f *modelfile.File) { f.Meta[key] = text })
		}
	}
	for _, knots := range [][]float64{{math.NaN()}, {2, 1}, {}} {
		refused(fmt.Sprint("knots ", knots), func(f *modelfile.File) {
			for i, tensor := range f.Tensors {
				if tensor.Name == "conformal/knots" {
					f.Tensors[i] = modelfile.NewTensor(tensor.Name, knots, len(knots))
				}
			}
		})
	}
}
