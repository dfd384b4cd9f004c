package kft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// offeredSpec is a table of an effect and a train of rank 1, with a specification that
// offers a train of rank 6 and an effect that the data lacks.
func offeredSpec(t *testing.T, stores, items int) kft.Spec {
	t.Helper()
	rng := rand.New(rand.NewPCG(2, 8))
	draw := func(n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = rng.NormFloat64()
		}
		return values
	}
	effect, a, b := draw(stores), draw(stores), draw(items)
	var table strings.Builder
	table.WriteString("store,item,y\n")
	for _, cell := range rng.Perm(len(a) * len(b)) {
		s, i := cell/len(b), cell%len(b)
		fmt.Fprintf(&table, "s%d,i%d,%.4f\n", s, i, effect[s]+a[s]*b[i]+0.5*rng.NormFloat64())
	}
	spec := kft.Spec{Version: 1, Terms: []string{"store", "item", "store,item:6"}}
	spec.Data.Files, spec.Data.Target, spec.Data.Modes = []string{writeFile(t, "y.csv", table.String())}, "y", []string{"store", "item"}
	spec.Uncertainty.Inference = "mean-field"
	return spec
}

// A fit prunes what the data does not support, and its record says so; fit.prune: no
// keeps everything. A pruned model predicts the same after it was saved and loaded, and
// an interrupted fit gives the same file.
func TestPrunedModel(t *testing.T) {
	t.Parallel()
	spec := offeredSpec(t, 40, 30)
	m, r := fit(t, spec, kft.Options{})
	terms := r.Terms
	if len(terms) != 3 || !terms[1].Removed || terms[0].Removed || !slices.Equal(terms[2].Offered, []int{6}) || terms[2].Ranks[0] > 2 {
		t.Errorf("got terms %+v, want item removed and the rank 6 reduced to 1 or 2", terms)
	}
	sum := 0.0
	for _, term := range terms {
		sum += term.Share
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("got shares that sum to %g, want 1", sum)
	}
	if got, want := jsonOf(t, reload(t, m).Record()), jsonOf(t, m.Record()); got != want {
		t.Errorf("got record %s after loading, want %s", got, want)
	}
	path := spec.Data.Files[0]
	if got, want := predictFile(t, reload(t, m), path, kft.TableOptions{}), predictFile(t, m, path, kft.TableOptions{}); got != want {
		t.Error("the loaded model predicts other values")
	}
	resumed, _ := fitWithInterruptions(t, spec, kft.Options{Checkpoint: t.TempDir(), Resume: true}, 40)
	if !slices.Equal(modelBytes(t, resumed), modelBytes(t, m)) {
		t.Error("an interrupted fit gives another model")
	}
	spec.Fit.Refit = "all" // after few validation rows it starts with all terms, and without any it removes none
	_, again := fit(t, spec, kft.Options{})
	for _, term := range again.Terms {
		if again.Refit == nil || term.Removed || term.Offered != nil {
			t.Errorf("got the term %+v of the refit %+v, want what the model has", term, again.Refit)
		}
	}
	spec.Fit.Refit, spec.Fit.Prune = "none", "no"
	_, whole := fit(t, spec, kft.Options{})
	for _, term := range whole.Terms {
		if term.Removed || term.Offered != nil {
			t.Errorf("got %+v without pruning, want what was offered", term)
		}
	}
	if r.Valid.R2 < whole.Valid.R2-0.005 {
		t.Errorf("got R2 %.4f on the validation set, want about %.4f as without pruning", r.Valid.R2, whole.Valid.R2)
	}
}

// A value of fit.prune that is neither yes nor no is an error.
func TestPruneValue(t *testing.T) {
	t.Parallel()
	spec := offeredSpec(t, 40, 30)
	spec.Fit.Prune = "maybe"
	_, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
	if err == nil || !strings.Contains(err.Error(), "fit.prune") {
		t.Errorf("got error %v, want one about fit.prune", err)
	}
}

// A second training of trains that were pruned with enough validation rows continues with the terms and ranks that are left. From random
// weights they would be whole again.
func TestRefitOfPrunedModel(t *testing.T) {
	t.Parallel()
	spec := offeredSpec(t, 120, 60)
	_, first := fit(t, spec, kft.Options{})
	spec.Fit.Refit = "valid"
	_, second := fit(t, spec, kft.Options{})
	if second.Refit == nil || !second.Terms[1].Removed || !slices.Equal(second.Terms[2].Ranks, first.Terms[2].Ranks) {
		t.Errorf("got the terms %+v after the refit %+v, want those of the first training, %+v", second.Terms, second.Refit, first.Terms)
	}
	if !(second.Test.RMSE < first.Test.RMSE) {
		t.Errorf("got an RMSE of %g on test, want less than that of the first training, %g", second.Test.RMSE, first.Test.RMSE)
	}
}
