package kft_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// writeSales makes a table of stores x items x months whose logarithm is a sum
// of effects and a store-item interaction, with noise.
func writeSales(t testing.TB, rows int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	const stores, items, months = 20, 30, 12
	taste := make([]float64, stores*items)
	for i := range taste {
		taste[i] = 0.6 * rng.NormFloat64()
	}
	var b strings.Builder
	b.WriteString("year,month,store,item,units,note\n")
	seen := map[[3]int]bool{}
	for len(seen) < rows {
		s, i, m := rng.IntN(stores), rng.IntN(items), rng.IntN(months)
		if seen[[3]int{s, i, m}] {
			continue
		}
		seen[[3]int{s, i, m}] = true
		level := 2 + 0.05*float64(s) + 0.03*float64(i) + taste[s*items+i] + 0.4*math.Sin(float64(m)*2*math.Pi/12)
		units := math.Floor(math.Exp(level + 0.2*rng.NormFloat64()))
		fmt.Fprintf(&b, "%d,%d,s%d,i%d,%g,\"a, b\"\n", 2015+m/6, m%6+1, s, i, units)
	}
	path := filepath.Join(t.TempDir(), "sales.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func salesSpec(table string) kft.Spec {
	return kft.Spec{
		Version:   1,
		Data:      kft.DataSpec{Files: []string{table}, Target: "units", Modes: []string{"store", "item", "time=year+month"}},
		Transform: "log1p",
		Terms:     []string{"store,item,time:4", "store*item,time:1"},
		Fit:       kft.FitSpec{Sweeps: 12},
	}
}

func fitSales(t testing.TB, spec kft.Spec, opt kft.Options) (*kft.Model, *kft.Report) {
	t.Helper()
	m, r, err := kft.Fit(context.Background(), spec, kft.Source{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func TestFitBeatsTheBaselines(t *testing.T) {
	_, r := fitSales(t, salesSpec(writeSales(t, 5000)), kft.Options{})
	if r.Train.N != 3000 || r.Valid.N != 1000 || r.Test.N != 1000 {
		t.Errorf("parts of %d, %d, %d", r.Train.N, r.Valid.N, r.Test.N)
	}
	for _, b := range r.Baseline {
		if r.Test.R2Scale <= b.Test.R2Scale || r.Test.MAE >= b.Test.MAE {
			t.Errorf("test %+v is no better than %q, %+v", r.Test, b.Name, b.Test)
		}
	}
	if len(r.Baseline) != 2 || r.Passes == 0 || r.Seconds["total"] <= 0 || r.Spec.Seed != 1 {
		t.Errorf("report %+v", r)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// A model that went through its file predicts the same, bit for bit, and saves
// to the same bytes.
func TestSaveAndLoad(t *testing.T) {
	table := writeSales(t, 2000)
	m, _ := fitSales(t, salesSpec(table), kft.Options{})
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.kft"), filepath.Join(dir, "b.kft")
	if err := m.Save(first); err != nil {
		t.Fatal(err)
	}
	loaded, err := kft.Load(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Save(second); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(first)
	b, _ := os.ReadFile(second)
	if !bytes.Equal(a, b) {
		t.Error("a loaded model saves to other bytes")
	}
	var one, two bytes.Buffer
	for buffer, m := range map[*bytes.Buffer]*kft.Model{&one: m, &two: loaded} {
		if _, err := m.PredictTable(context.Background(), kft.Files(table), buffer, kft.TableOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("a loaded model predicts otherwise")
	}
}

// The recorded test score is what Evaluate finds on the rows of the test part,
// and predictions keep order and columns.
func TestPredictFileAndEvaluate(t *testing.T) {
	table := writeSales(t, 2000)
	spec := salesSpec(table)
	m, _ := fitSales(t, spec, kft.Options{})
	text, _ := os.ReadFile(table)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	var out bytes.Buffer
	sum, err := m.PredictTable(context.Background(), kft.Files(table), &out, kft.TableOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got) != len(lines) || got[0] != lines[0]+",prediction,median,sd,sd_model,sd_noise,unseen" || sum.Rows != 2000 {
		t.Fatalf("%d lines of %d, header %q, %+v", len(got), len(lines), got[0], sum)
	}
	for i := range got {
		if !strings.HasPrefix(got[i], lines[i]+",") {
			t.Fatalf("line %d is %q, the table has %q", i, got[i], lines[i])
		}
	}
	cell := kft.Cell{"store": "s3", "item": "i4", "time": "2015-2"}
	single, err := m.Predict(context.Background(), []kft.Cell{cell})
	if err != nil || len(single[0].Unseen) != 0 || !(single[0].Mean > single[0].Median) {
		t.Errorf("%+v, %v: the mean of a log-normal is above its median", single, err)
	}
	score, _, err := m.Evaluate(context.Background(), kft.Files(table), kft.TableOptions{})
	if err != nil || score.N != 2000 || !(score.R2Scale > m.Record().Test.R2Scale) {
		t.Errorf("%+v, %v", score, err)
	}
}

func TestUnknownIDs(t *testing.T) {
	m, _ := fitSales(t, salesSpec(writeSales(t, 1500)), kft.Options{})
	new := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(new, []byte("item,store,year,month\ni1,s1,2015,1\nnew,s1,2017,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sum, err := m.PredictTable(context.Background(), kft.Files(new), &out, kft.TableOptions{})
	if err != nil || !strings.HasSuffix(out.String(), ",item+time\n") || sum.Unseen[0] != 0 || sum.Unseen[1] != 1 || sum.Unseen[2] != 1 {
		t.Errorf("%q, %+v, %v", out.String(), sum, err)
	}
	var unknown *kft.UnseenError
	if _, err := m.PredictTable(context.Background(), kft.Files(new), &out, kft.TableOptions{Strict: true}); !errors.As(err, &unknown) || unknown.Row != 2 || unknown.ID != "new" {
		t.Errorf("strict: %v", err)
	}
	for _, bad := range []kft.Cell{{"store": "s1"}, {"store": "s1", "item": "i1", "tme": "2015-1"}} {
		if _, err := m.Predict(context.Background(), []kft.Cell{bad}); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

// An id that only other parts of the fitted table hold has no weights: it is
// unknown like any other.
func TestHeldOutIDsAreUnknown(t *testing.T) {
	table := writeSales(t, 2000)
	spec := salesSpec(table)
	spec.Split = "entity:store=10%"
	m, r := fitSales(t, spec, kft.Options{})
	sum, err := m.PredictTable(context.Background(), kft.Files(table), io.Discard, kft.TableOptions{})
	if err != nil || sum.Unseen[0] != r.Valid.N+r.Test.N {
		t.Errorf("%d unknown stores, %d rows held out, %v", sum.Unseen[0], r.Valid.N+r.Test.N, err)
	}
	if _, err := m.PredictTable(context.Background(), kft.Files(table), io.Discard, kft.TableOptions{Strict: true}); err == nil {
		t.Error("strict took held-out ids")
	}
}

// What the rows of the test part hold, ids or targets, does not touch the
// weights nor the choice of the penalty.
func TestTestRowsDoNotMatter(t *testing.T) {
	table := writeSales(t, 2000)
	text, _ := os.ReadFile(table)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	parts := []string{"part"}
	changed := []string{lines[0]}
	for i, line := range lines[1:] {
		part := [...]string{"train", "train", "train", "valid", "test"}[i%5]
		parts = append(parts, part)
		if part == "test" {
			f := strings.Split(line, ",")
			f[2], f[4] = "other"+f[2], "77"
			line = strings.Join(f, ",")
		}
		changed = append(changed, line)
	}
	dir := t.TempDir()
	write := func(name string, lines []string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	split := write("split.csv", parts)
	var ridges []any
	var valid []kft.Score
	for _, file := range []string{table, write("changed.csv", changed)} {
		spec := salesSpec(file)
		spec.Split = "file:" + split
		_, r := fitSales(t, spec, kft.Options{})
		ridges, valid = append(ridges, r.Ridge), append(valid, r.Valid)
	}
	if ridges[0] != ridges[1] || asJSON(t, valid[0]) != asJSON(t, valid[1]) {
		t.Errorf("other test rows: %v and %v, %v and %v", ridges[0], ridges[1], valid[0], valid[1])
	}
}

// asJSON returns the JSON form of a value.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestThreadsGiveTheSameFile(t *testing.T) {
	table := writeSales(t, 7000)
	var want []byte
	for _, threads := range []int{1, 2, 8} {
		m, _ := fitSales(t, salesSpec(table), kft.Options{Threads: threads})
		path := filepath.Join(t.TempDir(), "m.kft")
		if err := m.Save(path); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(path)
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d threads give another file than 1", threads)
		}
	}
}

// Paths differ by rounding: predictions agree to 1e-4 of their spread.
func TestPathsAgree(t *testing.T) {
	table := writeSales(t, 3000)
	spec := salesSpec(table)
	spec.Fit.Ridge, spec.Fit.Lambda, spec.Fit.Sweeps = "uniform", kft.LambdaOf(3), 3
	m, _ := fitSales(t, spec, kft.Options{})
	cell := []kft.Cell{{"store": "s3", "item": "i4", "time": "2015-2"}, {"store": "s9", "item": "i14", "time": "2016-5"}}
	want, err := m.Predict(context.Background(), cell)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KFT_CPU", "generic")
	generic, err := kft.Load(file) // a model keeps the path that it was made with
	if err != nil {
		t.Fatal(err)
	}
	got, err := generic.Predict(context.Background(), cell)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(got[i].Median-want[i].Median) > 1e-4*want[i].Median {
			t.Errorf("cell %d: %g on generic, %g on the fastest path", i, got[i].Median, want[i].Median)
		}
	}
	t.Setenv("KFT_CPU", "avx1024")
	if _, err := kft.Load(file); err == nil {
		t.Error("Load accepted an unknown CPU path, want an error")
	}
}

// A fit that is stopped and resumed ends in the same file.
func TestCheckpoint(t *testing.T) {
	table := writeSales(t, 3000)
	for _, solver := range []string{"als", "adam"} {
		spec := salesSpec(table)
		spec.Fit.Solver, spec.Fit.Epochs = solver, 6
		whole, _ := fitSales(t, spec, kft.Options{})
		dir := t.TempDir()
		want := filepath.Join(dir, "want.kft")
		if err := whole.Save(want); err != nil {
			t.Fatal(err)
		}
		opt := kft.Options{Checkpoint: filepath.Join(dir, "state"), Resume: true}
		var m *kft.Model
		for stopped := true; stopped; {
			ctx, cancel := context.WithCancel(context.Background())
			blocks := 0
			opt.Progress = func(e kft.Event) {
				if e.Fit != nil && e.Fit.Point == nil {
					if blocks++; blocks == 37 {
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
			stopped = r.Stop == "interrupted"
		}
		got := filepath.Join(dir, "got.kft")
		if err := m.Save(got); err != nil {
			t.Fatal(err)
		}
		a, _ := os.ReadFile(want)
		b, _ := os.ReadFile(got)
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the resumed fit ends in another file", solver)
		}
		spec.Seed = 2
		if _, _, err := kft.Fit(context.Background(), spec, kft.Source{}, opt); err == nil || !strings.Contains(err.Error(), "another fit") {
			t.Errorf("%s: a checkpoint of another specification was taken: %v", solver, err)
		}
	}
}

func TestCheckpointOfAnotherSplit(t *testing.T) {
	table := writeSales(t, 600)
	split := filepath.Join(t.TempDir(), "split.csv")
	spec := salesSpec(table)
	spec.Split = "file:" + split
	opt := kft.Options{Checkpoint: t.TempDir(), Resume: true}
	for i, order := range [][]string{{"train", "train", "valid", "test"}, {"test", "train", "train", "valid"}} {
		text := "part\n"
		for row := range 600 {
			text += order[row%4] + "\n"
		}
		if err := os.WriteFile(split, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, err := kft.Fit(context.Background(), spec, kft.Source{}, opt)
		if i == 0 && err != nil {
			t.Fatal(err)
		}
		if i == 1 && (err == nil || !strings.Contains(err.Error(), "the split differs")) {
			t.Errorf("a checkpoint of another split was taken: %v", err)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	table := writeSales(t, 300)
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, tc := range map[string]struct {
		set  func(*kft.Spec)
		want string
	}{
		"constant target": {func(s *kft.Spec) {
			s.Data.Files = []string{write("store,item,year,month,units\na,x,1,1,3\nb,y,1,2,3\na,y,1,2,3\nb,x,1,1,3\na,x,1,2,3\n")}
		}, "nothing to learn"},
		"one id": {func(s *kft.Spec) {
			s.Data.Files = []string{write("store,item,year,month,units\na,x,1,1,3\na,y,1,2,4\na,x,1,2,5\na,y,1,1,5\na,z,1,1,5\n")}
		}, `mode "store" has only one id, "a"`},
		"negative": {func(s *kft.Spec) {
			s.Data.Files = []string{write("store,item,year,month,units\na,x,1,1,3\nb,y,1,2,-4\nb,x,1,2,5\na,y,1,1,5\na,z,1,1,5\n")}
		}, "data row 2, column units"},
		"negative, test": {func(s *kft.Spec) {
			s.Data.Files = []string{write("store,item,year,month,units,part\na,x,1,1,3,train\nb,y,1,2,4,train\nb,x,1,2,5,valid\na,y,1,1,-5,test\na,z,1,1,5,train\n")}
			s.Split = "column:part"
		}, "data row 4, column units: the target -5"},
		"mode":      {func(s *kft.Spec) { s.Terms = []string{"store,itme:3"} }, `did you mean "item"?`},
		"transform": {func(s *kft.Spec) { s.Transform = "log" }, "log1p"},
		"column":    {func(s *kft.Spec) { s.Data.Target = "unit" }, `"units"`},
	} {
		spec := salesSpec(table)
		tc.set(&spec)
		if _, _, err := kft.Fit(context.Background(), spec, kft.Source{}, kft.Options{}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want something with %q", name, err, tc.want)
		}
	}
}

// Effects, long trains, weights and other solvers go through the whole product.
func TestForms(t *testing.T) {
	table := writeSales(t, 4000)
	for name, set := range map[string]func(*kft.Spec){
		"effects": func(s *kft.Spec) { s.Terms = []string{"store", "item", "store*item"} },
		"default": func(s *kft.Spec) { s.Terms = nil },
		"four cores": func(s *kft.Spec) {
			s.Data.Modes = []string{"store", "item", "year", "month"}
			s.Terms = []string{"store,item,year,month:3,3,2"}
		},
		"joint inner":   func(s *kft.Spec) { s.Terms = []string{"store,item*time:3"} },
		"sqrt":          func(s *kft.Spec) { s.Transform = "sqrt" },
		"cbrt1p":        func(s *kft.Spec) { s.Transform = "cbrt1p" },
		"identity":      func(s *kft.Spec) { s.Transform = "identity" },
		"weight":        func(s *kft.Spec) { s.Data.Weight = "month" },
		"adam":          func(s *kft.Spec) { s.Fit.Solver, s.Fit.LearningRate = "adam", 0.03 },
		"adam block":    func(s *kft.Spec) { s.Fit.Solver, s.Fit.Schedule, s.Fit.LearningRate = "adam", "block", 0.03 },
		"time split":    func(s *kft.Spec) { s.Split = "time:last=2" },
		"no validation": func(s *kft.Spec) { s.Split = "random:80/0/20" },
		"no test":       func(s *kft.Spec) { s.Split = "random:80/20/0" },
	} {
		t.Run(name, func(t *testing.T) {
			spec := salesSpec(table)
			spec.Fit.Sweeps, spec.Fit.Epochs = 4, 25
			set(&spec)
			m, r := fitSales(t, spec, kft.Options{})
			if v := r.Train.R2Scale; !(v > 0 && v <= 1) {
				t.Errorf("R2 on training data %g", v)
			}
			path := filepath.Join(t.TempDir(), "m.kft")
			if err := m.Save(path); err != nil {
				t.Fatal(err)
			}
			if _, err := kft.Load(path); err != nil {
				t.Error(err)
			}
		})
	}
}
