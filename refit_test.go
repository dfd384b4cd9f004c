package kft_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// refitSpec returns a specification of a table whose store s3 only has rows in the test
// set.
func refitSpec(t *testing.T, inference string) kft.Spec {
	t.Helper()
	text := addColumn(readFile(t, testtable.WriteSales(t, 2400)), "part", func(row int, line string) string {
		switch {
		case strings.Contains(line, ",s3,") || row%5 == 0:
			return "test"
		case row%5 == 1:
			return "valid"
		}
		return "train"
	})
	s := salesSpec(writeFile(t, "sales.csv", text))
	s.Split = "column:part"
	s.Terms = []string{"store,item,time:3", "store", "store*item"}
	s.Uncertainty.Inference, s.Uncertainty.Conformal = inference, "split"
	return s
}

// TestRefit compares a model that was trained again on all rows with the one before.
func TestRefit(t *testing.T) {
	t.Parallel()
	for _, inference := range []string{"map", "mean-field"} {
		t.Run(inference, func(t *testing.T) {
			t.Parallel()
			spec := refitSpec(t, inference)
			before, first := fit(t, spec, kft.Options{})
			spec.Fit.Refit = "valid"
			_, measured := fit(t, spec, kft.Options{})
			spec.Fit.Refit = "all"
			after, second := fit(t, spec, kft.Options{})
			if r := second.Refit; r == nil || r.Rows != 2400 || r.Measured != measured.Refit.Rows || r.KeepsTest || r.Sweeps != first.Best+1 || len(second.Warnings) != len(first.Warnings) {
				t.Fatalf("got refit %+v with warnings %q, want 2,400 rows and %d sweeps", r, second.Warnings, first.Best+1)
			}

			// The scores of the test set are those of a training that has not seen it, and the others those of
			// the first one, also after saving and loading.
			file := filepath.Join(t.TempDir(), "m.kft")
			if err := after.Save(file); err != nil {
				t.Fatal(err)
			}
			loaded, err := kft.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			record := loaded.Record()
			if record.Refit == nil {
				t.Fatal("the file does not say that the model was refitted")
			}
			record.Refit = nil
			want := before.Record()
			want.Test, want.Baseline, want.Warnings = measured.Test, measured.Baseline, measured.Warnings
			a, _ := json.Marshal(want)
			b, _ := json.Marshal(record)
			if !bytes.Equal(a, b) {
				t.Errorf("got the record %s, want %s", b, a)
			}
			if loaded.Spec().Fit.Sweeps != before.Spec().Fit.Sweeps || !reflect.DeepEqual(loaded.Uncertainty().Conformal, before.Uncertainty().Conformal) {
				t.Errorf("got %+v with %+v, want the specification and the correction of the first training", loaded.Spec(), loaded.Uncertainty())
			}

			// The test set is still measured as before it was used, the validation set is not.
			table := kft.Files(spec.Data.Files...)
			held, sum, err := loaded.EvaluatePart(t.Context(), table, dataset.Test, kft.TableOptions{})
			if err != nil || sum.Fitted || math.Abs(held.RMSE-measured.Test.RMSE) > 1e-6*held.RMSE {
				t.Errorf("%v, RMSE %g on test, rows of the training: %v; want %g as before", err, held.RMSE, sum.Fitted, measured.Test.RMSE)
			}
			if _, sum, err := loaded.EvaluatePart(t.Context(), table, dataset.Valid, kft.TableOptions{}); err != nil || !sum.Fitted {
				t.Errorf("%v, rows of the training: %v, want true for the validation set", err, sum.Fitted)
			}
			for part, refused := range map[dataset.Part]bool{dataset.Valid: true, dataset.Test: false} {
				if _, _, err := loaded.RecalibratePart(t.Context(), table, part, "split", kft.TableOptions{}); refused != (err != nil) {
					t.Errorf("calibration with %v: %v", part, err)
				}
			}

			// All rows together are predicted better, and the store of the test set is known.
			old, _, err := before.Evaluate(t.Context(), table, kft.TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			now, sum, err := loaded.Evaluate(t.Context(), table, kft.TableOptions{})
			if err != nil || !sum.Fitted || !(now.RMSE < old.RMSE) {
				t.Errorf("%v, RMSE %g before, %g after the refit, rows of the training: %v", err, old.RMSE, now.RMSE, sum.Fitted)
			}
			other := writeFile(t, "other.csv", strings.Join(linesOf(readFile(t, spec.Data.Files[0]))[:200], "\n"))
			if _, sum, err := loaded.Evaluate(t.Context(), kft.Files(other), kft.TableOptions{}); err != nil || sum.Fitted {
				t.Errorf("%v, rows of the training: %v, want false for another table", err, sum.Fitted)
			}

			// What a model says of its test rows changes with rows that it takes in.
			if inference == "mean-field" {
				updated, _, err := loaded.Update(t.Context(), kft.Files(other), kft.TableOptions{}, kft.UpdateOptions{Late: true})
				if err != nil {
					t.Fatal(err)
				}
				if score, sum, err := updated.EvaluatePart(t.Context(), table, dataset.Test, kft.TableOptions{}); err != nil || !sum.Fitted || score.RMSE == held.RMSE {
					t.Errorf("%v, RMSE %g on test after an update, %g before, rows of the training: %v", err, score.RMSE, held.RMSE, sum.Fitted)
				}
			}
			cell := []kft.Cell{{"store": "s3", "item": "i4", "time": "2015-3"}}
			for m, unseen := range map[*kft.Model]int{before: 1, loaded: 0} {
				p, err := m.Predict(t.Context(), cell)
				if err != nil || len(p[0].Unseen) != unseen {
					t.Errorf("%v, unseen %v, want %d modes", err, p[0].Unseen, unseen)
				}
			}

			again, _ := fit(t, spec, kft.Options{Threads: 1})
			if !bytes.Equal(modelBytes(t, again), modelBytes(t, after)) {
				t.Error("a second fit gives other bytes")
			}
		})
	}
}

// TestRefitKeepsTest checks a model that was trained again on the training and the validation set.
func TestRefitKeepsTest(t *testing.T) {
	t.Parallel()
	spec := refitSpec(t, "mean-field")
	_, first := fit(t, spec, kft.Options{})
	spec.Fit.Refit = "valid"
	m, r := fit(t, spec, kft.Options{})
	rows := first.Train.N + first.Valid.N
	if held := r.Refit; held == nil || !held.KeepsTest || held.Measured != held.Rows || held.Rows < rows || held.Rows+first.Test.N != 2400 {
		t.Fatalf("got refit %+v, want one on all but the %d test rows", r.Refit, first.Test.N)
	}
	if !(r.Test.RMSE < first.Test.RMSE) || r.Train.RMSE != first.Train.RMSE || r.Valid.RMSE != first.Valid.RMSE {
		t.Errorf("RMSE %g, %g and %g before, %g, %g and %g after; want a lower one on test alone", first.Train.RMSE, first.Valid.RMSE, first.Test.RMSE, r.Train.RMSE, r.Valid.RMSE, r.Test.RMSE)
	}
	if a, b := first.Baseline[0], r.Baseline[0]; a.Name != b.Name || a.Valid.RMSE != b.Valid.RMSE || a.Test.RMSE == b.Test.RMSE {
		t.Errorf("formula %q has RMSE %g and %g, after the refit %q has %g and %g; want another one on test, where it knows more rows too", a.Name, a.Valid.RMSE, a.Test.RMSE, b.Name, b.Valid.RMSE, b.Test.RMSE)
	}
	table := kft.Files(spec.Data.Files...)
	for part, seen := range map[dataset.Part]bool{dataset.Valid: true, dataset.Test: false} {
		score, sum, err := m.EvaluatePart(t.Context(), table, part, kft.TableOptions{})
		if err != nil || sum.Fitted != seen {
			t.Errorf("%v: %v, rows of the training: %v, want %v", part, err, sum.Fitted, seen)
		}
		if part == dataset.Test && math.Abs(score.RMSE-r.Test.RMSE) > 1e-6*r.Test.RMSE {
			t.Errorf("an evaluation has RMSE %g on test, the record %g", score.RMSE, r.Test.RMSE)
		}
		_, _, err = m.RecalibratePart(t.Context(), table, part, "split", kft.TableOptions{})
		if seen != (err != nil) {
			t.Errorf("calibration with %v: %v", part, err)
		}
	}
}

// TestRefitByDefault checks on which rows a model with automatic terms is trained in the end.
func TestRefitByDefault(t *testing.T) {
	t.Parallel()
	table := addColumn(readFile(t, testtable.WriteSales(t, 600)), "part", func(row int, _ string) string {
		return []string{"train", "train", "train", "valid", "test"}[row%5]
	})
	file := writeFile(t, "sales.csv", table)
	for _, c := range []struct {
		split     string
		rows      int // 0 for no refit
		keepsTest bool
	}{
		{"random:60/20/20", 600, false},
		{"random:80/20/0", 600, false},
		{"column:part", 480, true},
		{"time:last=2", 509, true},
		{"entity:item=20%", 0, false},
	} {
		t.Run(c.split, func(t *testing.T) {
			t.Parallel()
			s := kft.Spec{Data: salesSpec(file).Data, Split: c.split, Fit: kft.FitSpec{Effort: "quick"}}
			_, r := fit(t, s, kft.Options{})
			switch {
			case c.rows == 0:
				if r.Refit != nil {
					t.Errorf("got the refit %+v, want none", r.Refit)
				}
			case r.Refit == nil || r.Refit.Rows != c.rows || r.Refit.KeepsTest != c.keepsTest:
				t.Errorf("got the refit %+v, want one on %d rows, keeps the test set: %v; warnings %q", r.Refit, c.rows, c.keepsTest, r.Warnings)
			}
		})
	}
}

// TestRefitFolder checks that a fit which could not save the checkpoints of its refit
// fails before it trains.
func TestRefitFolder(t *testing.T) {
	t.Parallel()
	spec := refitSpec(t, "map")
	spec.Fit.Refit = "all"
	opt := kft.Options{Checkpoint: t.TempDir()}
	fit(t, spec, opt)
	if err := os.Remove(filepath.Join(opt.Checkpoint, "checkpoint.kft")); err != nil {
		t.Fatal(err)
	}
	trained := false
	opt.Progress = func(e kft.Event) { trained = trained || e.Fit != nil }
	_, _, err := kft.Fit(t.Context(), spec, kft.Source{}, opt)
	var exists *kft.CheckpointExistsError
	if !errors.As(err, &exists) || trained {
		t.Errorf("got error %v, trained %v, want a *kft.CheckpointExistsError before training", err, trained)
	}
}

// TestRefitResumes interrupts the second training. The model is then that of the first,
// and a resumed fit gives the same bytes as one without interruption.
func TestRefitResumes(t *testing.T) {
	t.Parallel()
	spec := refitSpec(t, "mean-field")
	before, _ := fit(t, spec, kft.Options{})
	spec.Fit.Refit = "all"
	whole, _ := fit(t, spec, kft.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	opt := kft.Options{Checkpoint: t.TempDir(), Resume: true}
	stopped := opt
	refitting := false
	stopped.Progress = func(e kft.Event) {
		refitting = refitting || e.Stage == "refit"
		if refitting && e.Fit != nil && e.Fit.Sweep == 1 {
			cancel()
		}
	}
	m, r, err := kft.Fit(ctx, spec, kft.Source{}, stopped)
	if err != nil || r.Refit != nil || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[len(r.Warnings)-1], "the refit was given up") {
		t.Fatalf("%v, %+v with warnings %q", err, r.Refit, r.Warnings)
	}
	cell := []kft.Cell{{"store": "s5", "item": "i4", "time": "2015-3"}}
	a, errA := m.Predict(t.Context(), cell)
	b, errB := before.Predict(t.Context(), cell)
	if errA != nil || errB != nil || a[0].Mean != b[0].Mean {
		t.Errorf("got %v, %v, want the model of the first training", errA, errB)
	}
	resumed, _ := fit(t, spec, opt)
	if !bytes.Equal(modelBytes(t, resumed), modelBytes(t, whole)) {
		t.Error("the resumed fit gives other bytes")
	}
}

// TestRefitWithoutTime checks that both trainings share the time budget.
func TestRefitWithoutTime(t *testing.T) {
	t.Parallel()
	spec := refitSpec(t, "map")
	spec.Fit.Refit = "all"
	_, r := fit(t, spec, kft.Options{TimeBudget: time.Nanosecond})
	if r.Refit != nil || len(r.Warnings) == 0 {
		t.Errorf("got refit %+v with warnings %q, want none without time", r.Refit, r.Warnings)
	}
}

// TestRefitEstimatedScale refits on the scale that was estimated on training rows.
func TestRefitEstimatedScale(t *testing.T) {
	t.Parallel()
	spec := refitSpec(t, "mean-field")
	spec.Transform, spec.Fit.Refit = "power", "all"
	m, r := fit(t, spec, kft.Options{})
	if r.Power == nil || r.Refit == nil || !strings.HasPrefix(m.Spec().Transform, "power:") || m.Spec().Fit.Refit != "all" {
		t.Errorf("got %+v, %+v, scale %s", r.Power, r.Refit, m.Spec().Transform)
	}
}
