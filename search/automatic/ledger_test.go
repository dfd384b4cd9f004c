package automatic_test

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// ledgerSpec writes a table of the ledger and returns a specification of it that leaves
// everything to be chosen.
func ledgerSpec(t *testing.T, name string) spec.Spec {
	t.Helper()
	file, table := testtable.WriteLedger(t, name)
	return spec.Spec{Data: spec.Data{Files: []string{file}, Target: table.Target, Modes: table.Modes}}
}

// On small tables, where a model with too many components overfits, the default is not
// behind the best formula, and it is the same every time.
func TestDefaultOnSmallTables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"few-rows", "small", "short-series"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ledgerSpec(t, name)
			var r *train.Report
			rmse, mae := [2]float64{}, [2]float64{} // of the model and of the formulas, summed over splits
			for seed := range uint64(5) {
				s.Seed = 5 - seed
				_, r = mustFit(t, s, train.Options{Threads: 2})
				best, ok := r.BestFormula()
				if !ok {
					t.Fatal("no formula")
				}
				rmse[0], rmse[1] = rmse[0]+r.Test.RMSE, rmse[1]+best.Test.RMSE
				mae[0], mae[1] = mae[0]+r.Test.MAE, mae[1]+best.Test.MAE
			}
			if rmse[0] > 1.01*rmse[1] || mae[0] > 1.01*mae[1] {
				t.Errorf("over five splits, got RMSE %g, MAE %g; want at most 1 %% above the best formula with %g, %g", rmse[0]/5, mae[0]/5, rmse[1]/5, mae[1]/5)
			}
			_, again := mustFit(t, s, train.Options{Threads: 1})
			if !reflect.DeepEqual(r.Decisions, again.Decisions) || r.Test.RMSE != again.Test.RMSE {
				t.Errorf("got RMSE %g and then %g, decisions %v and then %v", r.Test.RMSE, again.Test.RMSE, r.Decisions, again.Decisions)
			}
		})
	}
}

// A noise that differs by entity also weights the rows of the fit, if that is better on
// the validation set.
func TestNoiseUseIsChosen(t *testing.T) {
	t.Parallel()
	s := ledgerSpec(t, "both-signs")
	_, r := mustFit(t, s, train.Options{Threads: 2})
	if u := r.Spec.Uncertainty; u.NoiseUse != "fit" || !strings.HasPrefix(u.Noise, "entity:desk") {
		t.Errorf("got noise %s for use %s, want entity:desk for fit", u.Noise, u.NoiseUse)
	}
	if best, _ := r.BestFormula(); r.Test.RMSE > best.Test.RMSE || r.Test.MAE > best.Test.MAE {
		t.Errorf("got RMSE %g, MAE %g; want less than %g, %g", r.Test.RMSE, r.Test.MAE, best.Test.RMSE, best.Test.MAE)
	}
	s.Uncertainty.NoiseUse = "predict"
	if _, r := mustFit(t, s, train.Options{Threads: 2}); r.Spec.Uncertainty.NoiseUse != "predict" {
		t.Errorf("noise-use predict is given: got %s", r.Spec.Uncertainty.NoiseUse)
	}
}

// Ratings are whole numbers that vary less than counts.
func TestRatingsAreNotCounts(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("user,film,stars\n")
	for u := range 40 {
		for f := range 10 {
			stars := 1 + (u*7+f*3+u*f)%5
			text.WriteString("u" + string(rune('A'+u)) + ",f" + string(rune('0'+f)) + "," + string(rune('0'+stars)) + "\n")
		}
	}
	file := filepath.Join(t.TempDir(), "ratings.csv")
	writeFile(t, file, text.String())
	_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}, Target: "stars", Modes: []string{"user", "film"}}}, train.Options{Threads: 2})
	for _, d := range r.Decisions {
		for _, o := range d.Options {
			if strings.Contains(o.Value, "counts") {
				t.Errorf("compared %q for %s", o.Value, d.Subject)
			}
		}
	}
}
