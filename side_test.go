package kft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/solver"
)

// Every variant in every space trains, and its model file predicts what the model
// did, bit for bit: known ids, new ids with a side row and new ids without.
func TestSideForms(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	s.write(t, "new_stores.csv", "store,region,size\nn0,south,0.3\nn1,nowhere,\n")
	table := s.write(t, "new.csv", s.read(t, "sales.csv")+"n0,i3,2,1\nn1,i4,2,1\nn2,i4,2,1\nclosed,i4,2,1\n")
	for _, variant := range []string{"plain", "side", "wlr", "ls", "additive"} {
		for _, space := range []string{"primal", "primal-rff", "dual", "dual-rff", "dual-unwhitened"} {
			t.Run(variant+" "+space, func(t *testing.T) {
				spec := s.spec(variant, space)
				m, r := fitSales(t, spec, kft.Options{})
				if v := r.Test.R2Scale; !(v > 0.3 && v <= 1) {
					t.Errorf("R2 on test rows %g", v)
				}
				text := saved(t, m)
				again := loaded(t, text)
				if !bytes.Equal(saved(t, again), text) {
					t.Error("a loaded model saves to other bytes")
				}
				if predicted(t, again, table) != predicted(t, m, table) {
					t.Error("a loaded model predicts otherwise")
				}
				if variant == "plain" {
					return // WithSide refuses it
				}
				stores := "store=" + s.path("new_stores.csv")
				grown, grownAgain := predicted(t, withSide(t, m, stores), table), predicted(t, withSide(t, again, stores), table)
				if grown != grownAgain {
					t.Error("with new side rows a loaded model predicts otherwise")
				}
				checkGrown(t, predicted(t, m, table), grown)
			})
		}
	}
}

// checkGrown expects side rows of n0 and n1 to change their predictions alone.
func checkGrown(t *testing.T, before, after string) {
	t.Helper()
	a, b := strings.Split(strings.TrimSpace(before), "\n"), strings.Split(strings.TrimSpace(after), "\n")
	if len(a) != len(b) {
		t.Fatalf("%d and %d lines", len(a), len(b))
	}
	for i := range a {
		new := strings.HasPrefix(a[i], "n0,") || strings.HasPrefix(a[i], "n1,")
		switch {
		case strings.Contains(b[i], "NaN"):
			t.Errorf("%s", b[i])
		case new && (a[i] == b[i] || !strings.HasSuffix(b[i], ",store:side") || !strings.HasSuffix(a[i], ",store")):
			t.Errorf("a new side row turns %q to %q", a[i], b[i])
		case !new && a[i] != b[i]:
			t.Errorf("side rows of other stores turn %q to %q", a[i], b[i])
		}
	}
}

// A fit with side information that is stopped and resumed ends in the same file;
// a checkpoint of other side information is refused.
func TestSideCheckpoint(t *testing.T) {
	s := newShop(t, 12, 14, nil)
	for method, pause := range map[string]int{"als": 61, "adam": 4} { // blocks before a stop
		spec := s.spec("wlr", "dual")
		spec.Terms = []string{"store,item,month:3", "store*item,month:1@additive", "store,item:2@ls:1:2"}
		spec.Fit = kft.FitSpec{Solver: method, Sweeps: 5, Epochs: 3}
		whole, _ := fitSales(t, spec, kft.Options{})
		want := saved(t, whole)
		opt := kft.Options{Checkpoint: t.TempDir(), Resume: true}
		var m *kft.Model
		stops := 0
		for stopped := true; stopped; stops++ {
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
			stopped = r.Stop == solver.Interrupted
		}
		if stops < 3 {
			t.Errorf("%s: stopped %d times only", method, stops-1)
		}
		if !bytes.Equal(saved(t, m), want) {
			t.Errorf("%s: the resumed fit ends in another file", method)
		}
		old := s.read(t, "stores.csv")
		s.write(t, "stores.csv", strings.Replace(old, "s1,south", "s1,north", 1))
		if _, _, err := kft.Fit(t.Context(), spec, kft.Source{}, opt); err == nil || !strings.Contains(err.Error(), "the side information differs") {
			t.Errorf("%s: a checkpoint of another side table was taken: %v", method, err)
		}
		s.write(t, "stores.csv", old)
	}
}

// Neither the number of threads nor the order of a side table's rows changes a
// bit of the model file.
func TestSideThreadsAndRowOrder(t *testing.T) {
	s := newShop(t, 30, 40, nil)
	s.write(t, "stores.csv", s.read(t, "stores.csv")+"shut,south,0.1\nnever,west,0.2\n")
	spec := s.spec("wlr", "dual")
	spec.Terms = append(spec.Terms, "store*item,month:1")
	var want []byte
	for _, threads := range []int{1, 2, 8} {
		m, _ := fitSales(t, spec, kft.Options{Threads: threads})
		if want == nil {
			want = saved(t, m)
		}
		if !bytes.Equal(saved(t, m), want) {
			t.Errorf("%d threads give another file than 1", threads)
		}
	}
	for _, name := range []string{"stores.csv", "items.csv"} {
		lines := strings.Split(strings.TrimSpace(s.read(t, name)), "\n")
		slices.Reverse(lines[1:])
		s.write(t, name, strings.Join(lines, "\n")+"\n")
	}
	m, _ := fitSales(t, spec, kft.Options{})
	if !bytes.Equal(saved(t, m), want) {
		t.Error("side tables in another order give another file")
	}
}

// Side information that says something does not harm, nor does what says
// nothing, in the forms that are built for that.
func TestSideDoesNotHarm(t *testing.T) {
	s := newShop(t, 24, 30, nil)
	tuned := func(spec kft.Spec) kft.Score {
		spec.Fit = kft.FitSpec{Sweeps: 15}
		_, r := fitSales(t, spec, kft.Options{})
		return r.Test
	}
	plain := tuned(s.plain()).R2Scale
	for _, variant := range []string{"wlr", "additive"} {
		for _, replace := range []string{"", "constant", "noise"} {
			spec := s.spec(variant, "dual")
			spec.Side.Placebo = replace
			r2 := tuned(spec).R2Scale
			t.Logf("%s, replaced by %q: R2 %.3f, plain %.3f", variant, replace, r2, plain)
			if r2 < plain-0.03 {
				t.Errorf("%s, replaced by %q: R2 %.3f, plain has %.3f", variant, replace, r2, plain)
			}
		}
	}
}

// With constant side information a core of the variant side is the same for all
// ids; with rows that differ, in dual space, it can be anything, as plain can.
func TestSideOfConstantAndOfAll(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	spec := s.spec("side", "primal")
	spec.Side.Placebo = "constant:store"
	m, _ := fitSales(t, spec, kft.Options{})
	for _, store := range s.stores {
		if a, b := medianOf(t, m, store, "i3", "2"), medianOf(t, m, "s0", "i3", "2"); a != b {
			t.Errorf("store %s is predicted %g, s0 %g, on constant side information", store, a, b)
		}
	}
	s.write(t, "stores.csv", s.read(t, "stores.csv")+"s15,west,0.77\n")
	train := func(spec kft.Spec) float64 {
		spec.Fit.Lambda, spec.Fit.Sweeps = kft.LambdaOf(1e-3), 40
		_, r := fitSales(t, spec, kft.Options{})
		return r.Train.R2Scale
	}
	plain := train(s.plain())
	if all := train(s.spec("side", "dual")); math.Abs(all-plain) > 0.01 {
		t.Errorf("side with a row of its own for each id: R2 of training rows %.4f, plain %.4f", all, plain)
	}
	for _, variant := range []string{"wlr", "additive", "ls"} {
		spec := s.spec(variant, "primal")
		spec.Side.Placebo = "constant"
		if constant := train(spec); constant < plain-0.01 {
			t.Errorf("%s on constant side information: R2 of training rows %.4f, plain %.4f", variant, constant, plain)
		}
	}
}

// The dual form of the paper is badly conditioned: it ends in a model of finite
// numbers, or in words.
func TestDualPaperNeverNaN(t *testing.T) {
	unreadable := regexp.MustCompile(`NaN|Inf|[0-9]{5}| 1 times`)
	s := newShop(t, 16, 20, nil)
	for _, rate := range []float64{0.03, 1, 50} {
		for _, variant := range []string{"side", "wlr"} {
			spec := s.spec(variant, "dual-unwhitened")
			spec.Fit = kft.FitSpec{Solver: "adam", LearningRate: rate, Epochs: 4, Ridge: "uniform", Lambda: kft.LambdaOf(1e-6)}
			m, r, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
			if err != nil {
				var diverged *solver.DivergedError
				if !errors.As(err, &diverged) || !strings.Contains(err.Error(), "fit.learning-rate") || !strings.Contains(err.Error(), "epoch") || unreadable.MatchString(err.Error()) {
					t.Errorf("%s, rate %g: %v", variant, rate, err)
				}
				continue
			}
			if text := strings.Join(r.Warnings, "\n"); unreadable.MatchString(text) {
				t.Errorf("%s, rate %g: %s", variant, rate, text)
			}
			if math.IsNaN(r.Train.R2) || math.IsNaN(r.Test.MAE) || strings.Contains(predicted(t, m, s.path("sales.csv")), "NaN") {
				t.Errorf("%s, rate %g: %+v", variant, rate, r.Test)
			}
		}
	}
}

// Each term may have its own variant, and latent scaling its own ranks.
func TestSideTermVariants(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	spec := s.spec("additive", "dual")
	spec.Terms = []string{"store,item,month:4@ls:2:3", "store,item:2", "month@wlr", "store,month:2@plain", "item@side"}
	m, r := fitSales(t, spec, kft.Options{})
	var got []string
	for _, term := range m.Terms() {
		text := ""
		for _, c := range term.Cores {
			text += fmt.Sprintf("%s %s %d;", c.Name, c.Variant, c.Right)
		}
		got = append(got, text)
	}
	want := []string{
		"store plain 2;item plain 2;month plain 1;", "store side 4;item side 4;month plain 1;", "store plain 3;item plain 3;month plain 1;",
		"store additive 2;item additive 1;", "month plain 1;", "store plain 2;month plain 1;", "item side 1;",
	}
	if !slices.Equal(got, want) {
		t.Errorf("terms %q, want %q", got, want)
	}
	if !(r.Test.R2Scale > 0.8) {
		t.Errorf("R2 %g", r.Test.R2Scale)
	}
	if predicted(t, loaded(t, saved(t, m)), s.path("sales.csv")) != predicted(t, m, s.path("sales.csv")) {
		t.Error("a loaded model predicts otherwise")
	}
}

// What the report says of the tables.
func TestSideReport(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	s.write(t, "items.csv", strings.ReplaceAll(s.read(t, "items.csv"), "\n", ",x\n"))
	m, r := fitSales(t, s.spec("wlr", "dual"), kft.Options{})
	if len(r.Side) != 2 || len(m.Record().Side) != 2 {
		t.Fatalf("%+v", r.Side)
	}
	stores, items := r.Side[0], r.Side[1]
	if stores.Mode != "store" || stores.Table.Matched != 15 || stores.Table.Unmatched != 1 || stores.Table.ExtraRows != 1 || stores.Kernel != "matern32" || stores.Columns < 2 {
		t.Errorf("%+v", stores)
	}
	if len(items.Table.Columns) != 3 || !items.Table.Columns[2].Constant || items.Table.Columns[0].Type != "cat" || !items.Table.Columns[1].Guessed {
		t.Errorf("%+v", items)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `side information of item: column "x" is left out: all values are equal`) {
		t.Errorf("warnings %q", r.Warnings)
	}
}
