package kft_test

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestPenaltyPerCore fits with weights of cores. Equal weights give the same model as one
// weight, and a large one for stores leaves little variation between them.
func TestPenaltyPerCore(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 1200)
	cells := []kft.Cell{{"store": "s1", "item": "i3", "time": "2015-01"}, {"store": "s2", "item": "i3", "time": "2015-01"}}
	means := func(lambda, ridge string, side bool) []float64 {
		spec := salesSpec(table)
		spec.Terms, spec.Fit.Ridge, spec.Fit.Sweeps = []string{"store,item,time:2", "store*item"}, ridge, 8
		if side {
			spec.Side.Tables, spec.Side.Variant, spec.Side.Space = []string{"time=@year,@month:cycle12"}, "wlr", "primal"
		}
		if err := spec.Fit.Lambda.UnmarshalText([]byte(lambda)); err != nil {
			t.Fatal(err)
		}
		m, _, err := kft.Fit(t.Context(), spec, kft.Source{}, kft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		predictions, err := m.Predict(t.Context(), cells)
		if err != nil {
			t.Fatal(err)
		}
		return []float64{predictions[0].Mean, predictions[1].Mean}
	}
	one := means("0.5", "uniform", false)
	if got := means("0.5,item=0.5", "uniform", false); !slices.Equal(got, one) {
		t.Errorf("equal weights: got %v, want %v", got, one)
	}
	if got := means("0.5,store=1e6,store*item=1e6", "uniform", false); got[0] != got[1] && (got[0]-got[1])/(one[0]-one[1]) > .05 {
		t.Errorf("stores with a large weight: got %v, which differ by more than 5 %% of %v", got, one)
	}
	if got, other := means("0.5", "paper", true), means("0.5", "uniform", true); slices.Equal(got, other) {
		t.Errorf("the paper's penalty in primal space: got %v, the same as the shared one", got)
	}
}
