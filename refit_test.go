package kft_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
			spec.Fit.Refit = "all"
			after, second := fit(t, spec, kft.Options{})
			if r := second.Refit; r == nil || r.Rows != 2400 || r.Sweeps != first.Best+1 || len(second.Warnings) != len(first.Warnings) {
				t.Fatalf("got refit %+v with warnings %q, want 2,400 rows and %d sweeps", r, second.Warnings, first.Best+1)
			}

			// The scores are those of the first training, also after saving and loading.
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
			a, _ := json.Marshal(before.Record())
			b, _ := json.Marshal(record)
			if !bytes.Equal(a, b) {
				t.Errorf("got the record %s, want %s", b, a)
			}
			if loaded.Spec().Fit.Sweeps != before.Spec().Fit.Sweeps || !reflect.DeepEqual(loaded.Uncertainty().Conformal, before.Uncertainty().Conformal) {
				t.Errorf("got %+v with %+v, want the specification and the correction of the first training", loaded.Spec(), loaded.Uncertainty())
			}

			// The former test rows are predicted better, and their store is known.
			old, sum, err := before.EvaluatePart(t.Context(), kft.Files(spec.Data.Files...), dataset.Test, kft.TableOptions{})
			if err != nil || sum.Fitted {
				t.Fatalf("%v, rows of the training: %v", err, sum.Fitted)
			}
			now, sum, err := loaded.EvaluatePart(t.Context(), kft.Files(spec.Data.Files...), dataset.Test, kft.TableOptions{})
			if err != nil || !sum.Fitted || !(now.RMSE < 0.9*old.RMSE) {
				t.Errorf("%v, RMSE %g before, %g after the refit, rows of the training: %v", err, old.RMSE, now.RMSE, sum.Fitted)
			}
			if _, sum, err := loaded.Evaluate(t.Context(), kft.Files(spec.Data.Files...), kft.TableOptions{}); err != nil || !sum.Fitted {
				t.Errorf("%v, rows of the training: %v, want true for the whole table", err, sum.Fitted)
			}
			other := writeFile(t, "other.csv", strings.Join(linesOf(readFile(t, spec.Data.Files[0]))[:200], "\n"))
			if _, sum, err := loaded.Evaluate(t.Context(), kft.Files(other), kft.TableOptions{}); err != nil || sum.Fitted {
				t.Errorf("%v, rows of the training: %v, want false for another table", err, sum.Fitted)
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
