package kft_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestPredictTableKeepsRowsAndColumns checks that PredictTable only appends columns.
func TestPredictTableKeepsRowsAndColumns(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 2000)
	m, _ := fit(t, salesSpec(table), kft.Options{})
	lines := linesOf(readFile(t, table))
	var out strings.Builder
	sum, err := m.PredictTable(t.Context(), kft.Files(table), &out, kft.TableOptions{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Rows != 2000 {
		t.Errorf("got %d rows in the summary, want 2000", sum.Rows)
	}
	got := linesOf(out.String())
	if len(got) != len(lines) {
		t.Fatalf("got %d lines, want %d", len(got), len(lines))
	}
	if want := lines[0] + ",prediction,median,sd,sd_model,sd_noise,unseen"; got[0] != want {
		t.Fatalf("got header %q, want %q", got[0], want)
	}
	for i := range got {
		if !strings.HasPrefix(got[i], lines[i]+",") {
			t.Fatalf("line %d: got %q, want it to start with %q", i+1, got[i], lines[i])
		}
	}
	// The predictive distribution is log-normal, so its mean is above its median.
	p := predictCells(t, m, kft.Cell{"store": "s3", "item": "i4", "time": "2015-2"})[0]
	if len(p.Unseen) != 0 || !(p.Mean > p.Median) {
		t.Errorf("got mean %g, median %g and unseen modes %q, want mean > median and no unseen mode", p.Mean, p.Median, p.Unseen)
	}
	// Most rows of the table are training rows, so their score is above that of the test set.
	score, _, err := m.Evaluate(t.Context(), kft.Files(table), kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if test := m.Record().Test.R2Scale; score.N != 2000 || !(score.R2Scale > test) {
		t.Errorf("got R2 %g of %d rows, want more than %g (the test set) of 2000", score.R2Scale, score.N, test)
	}
}

func TestUnseenIDs(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, salesSpec(testtable.WriteSales(t, 1500)), kft.Options{})
	table := writeFile(t, "new.csv", "item,store,year,month\ni1,s1,2015,1\nnew,s1,2017,1\n")
	var out strings.Builder
	sum, err := m.PredictTable(t.Context(), kft.Files(table), &out, kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), ",item+time\n") {
		t.Errorf("got\n%swant the last row to end with item+time", out.String())
	}
	if want := []int{0, 1, 1}; !slices.Equal(sum.Unseen, want) {
		t.Errorf("got unseen ids by mode %v, want %v", sum.Unseen, want)
	}
	var unseen *kft.UnseenError
	_, err = m.PredictTable(t.Context(), kft.Files(table), io.Discard, kft.TableOptions{Strict: true})
	if want := (kft.UnseenError{Row: 2, Mode: "item", ID: "new"}); !errors.As(err, &unseen) || *unseen != want {
		t.Errorf("strict: got error %v, want %v", err, &want)
	}
}

// TestHeldOutIDsAreUnseen checks that ids that occur only in the validation and test
// set of the fitted table have no weights.
func TestHeldOutIDsAreUnseen(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 2000)
	spec := salesSpec(table)
	spec.Split = "entity:store=10%"
	m, r := fit(t, spec, kft.Options{})
	sum, err := m.PredictTable(t.Context(), kft.Files(table), io.Discard, kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := sum.Unseen[0], r.Valid.N+r.Test.N; got != want {
		t.Errorf("got %d rows of unseen stores, want %d, the held-out rows", got, want)
	}
	if _, err := m.PredictTable(t.Context(), kft.Files(table), io.Discard, kft.TableOptions{Strict: true}); !errors.Is(err, kft.ErrUnseenID) {
		t.Errorf("strict: got error %v, want ErrUnseenID", err)
	}
}

// TestCancelledContext checks that every method of a model that takes a context returns
// its error.
func TestCancelledContext(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 600)
	m, _ := fit(t, salesSpec(table), kft.Options{})
	s := newShop(t, 12, 16, nil)
	informed, _ := fit(t, s.spec("wlr", "primal"), kft.Options{})
	cells := []kft.Cell{{"store": "s3", "item": "i4", "time": "2015-2"}}
	source := kft.Files(table)
	for name, call := range map[string]func(context.Context) error{
		"Fit": func(ctx context.Context) error {
			_, _, err := kft.Fit(ctx, salesSpec(table), kft.Source{}, kft.Options{})
			return err
		},
		"Predict":       func(ctx context.Context) error { _, err := m.Predict(ctx, cells); return err },
		"PredictStrict": func(ctx context.Context) error { _, err := m.PredictStrict(ctx, cells); return err },
		"Samples":       func(ctx context.Context) error { _, err := m.Samples(ctx, cells, 3); return err },
		"PredictTable": func(ctx context.Context) error {
			_, err := m.PredictTable(ctx, source, io.Discard, kft.TableOptions{})
			return err
		},
		"Evaluate": func(ctx context.Context) error {
			_, _, err := m.Evaluate(ctx, source, kft.TableOptions{})
			return err
		},
		"EvaluatePart": func(ctx context.Context) error {
			_, _, err := m.EvaluatePart(ctx, source, kft.Test, kft.TableOptions{})
			return err
		},
		"Map": func(ctx context.Context) error {
			_, err := m.Map(ctx, source, kft.MapOptions{Rows: "store", Part: kft.Unused})
			return err
		},
		"Recalibrate": func(ctx context.Context) error {
			_, _, err := m.Recalibrate(ctx, source, "split", kft.TableOptions{})
			return err
		},
		"WithSide": func(ctx context.Context) error {
			_, err := informed.WithSide(ctx, []string{"store=" + s.path("stores.csv")}, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			if err := call(ctx); err != nil {
				t.Errorf("before cancelling: got error %v, want none", err)
			}
			cancel()
			if err := call(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("after cancelling: got error %v, want context.Canceled", err)
			}
		})
	}
}

// cancellingWriter cancels a context at the first write and counts bytes.
type cancellingWriter struct {
	cancel context.CancelFunc
	n      int
}

func (w *cancellingWriter) Write(p []byte) (int, error) {
	w.cancel()
	w.n += len(p)
	return len(p), nil
}

// TestPredictTableStopsWhenCancelled cancels the context while a long table is
// predicted.
func TestPredictTableStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, salesSpec(testtable.WriteSales(t, 600)), kft.Options{})
	table := "year,month,store,item,note\n" + strings.Repeat("2015,1,s1,i1,"+strings.Repeat("-", 1000)+"\n", 40_000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &cancellingWriter{cancel: cancel}
	_, err := m.PredictTable(ctx, kft.Reader("long table", strings.NewReader(table)), w, kft.TableOptions{Threads: 2})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	if w.n >= len(table) {
		t.Errorf("got %d bytes after cancelling at the first write, want fewer than the %d of the table", w.n, len(table))
	}
}

// comparablePrediction returns what a prediction states about its cell.
func comparablePrediction(p kft.Prediction) string {
	low, high := p.Interval(0.9)
	return fmt.Sprint(p.Mean, p.Median, p.SD, p.SDModel, p.SDNoise, low, high, p.Unseen, p.FromSide)
}

// TestConcurrentPredict uses one model in 8 goroutines at the same time. The results
// equal those of sequential calls, also for new ids whose side information follows from
// the id.
func TestConcurrentPredict(t *testing.T) {
	t.Parallel()
	const goroutines = 8
	m := fitUncertain(t, testtable.WriteSales(t, 1500), kft.UncertaintySpec{Inference: "multivariate", Conformal: "split"}, nil)
	var cells []kft.Cell
	for i := range 60 {
		cells = append(cells, kft.Cell{"store": fmt.Sprintf("s%d", i%22), "item": fmt.Sprintf("i%d", i%31), "time": fmt.Sprintf("%d-%d", 2015+i%4, i%12+1)})
	}
	table := writeFile(t, "cells.csv", "year,month,store,item\n2015,1,s1,i1\n2019,7,s2,i2\n2016,2,new,i4\n")
	type results struct {
		predictions []string
		samples     [][]float64
		table       string
	}
	run := func(cells []kft.Cell) (r results, err error) {
		predictions, err := m.Predict(t.Context(), cells)
		if err != nil {
			return r, err
		}
		for _, p := range predictions {
			r.predictions = append(r.predictions, comparablePrediction(p))
		}
		if r.samples, err = m.Samples(t.Context(), cells, 3); err != nil {
			return r, err
		}
		var out strings.Builder
		_, err = m.PredictTable(t.Context(), kft.Files(table), &out, kft.TableOptions{Samples: 2, Quantiles: threeLevels()})
		r.table = out.String()
		return r, err
	}
	// Each goroutine starts at another cell, so they meet new ids in another order.
	rotated := func(g int) []kft.Cell { return slices.Concat(cells[7*g:], cells[:7*g]) }
	var want, got [goroutines]results
	var errs [goroutines]error
	for g := range want {
		if want[g], errs[g] = run(rotated(g)); errs[g] != nil {
			t.Fatal(errs[g])
		}
	}
	var group sync.WaitGroup
	for g := range got {
		group.Go(func() { got[g], errs[g] = run(rotated(g)) })
	}
	group.Wait()
	for g := range got {
		if errs[g] != nil {
			t.Errorf("goroutine %d: got error %v, want none", g, errs[g])
		} else if !reflect.DeepEqual(got[g], want[g]) {
			t.Errorf("goroutine %d: got %+v, want the sequential results %+v", g, got[g], want[g])
		}
	}
}
