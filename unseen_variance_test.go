package kft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// TestVarianceOfUnseenPairs checks the variance at cells whose store and item are both
// unseen, for a rank above that of the truth: the components of the trained slices are
// then correlated. The mean square of (y - prediction) / sd must be about 1. A saved
// model gives the same predictions.
func TestVarianceOfUnseenPairs(t *testing.T) {
	t.Parallel()
	const seeds, stores, items, months = 30, 60, 60, 6
	sum, count := 0.0, 0
	for seed := range uint64(seeds) {
		rng := randstream.New(seed, "unseen pairs")
		normals := func(n int, sd float64) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = sd * rng.NormFloat64()
			}
			return v
		}
		store, item, a, b, c := normals(stores, 0.8), normals(items, 0.8), normals(stores, 1), normals(items, 1), normals(months, 0.4)
		var train strings.Builder
		train.WriteString("s,i,t,y\n")
		var unseen []kft.Cell
		var values []float64
		for s := range stores {
			for i := range items {
				for m := range months {
					if rng.Float64() > 0.4 {
						continue
					}
					y := 2 + store[s] + item[i] + 0.6*a[s]*b[i]*(1+c[m]) + 0.5*rng.NormFloat64()
					switch newStore, newItem := s >= stores*3/4, i >= items*3/4; {
					case newStore && newItem:
						unseen = append(unseen, kft.Cell{"s": fmt.Sprint("s", s), "i": fmt.Sprint("i", i), "t": fmt.Sprint("t", m)})
						values = append(values, y)
					case !newStore && !newItem:
						fmt.Fprintf(&train, "s%d,i%d,t%d,%.4f\n", s, i, m, y)
					}
				}
			}
		}
		model, _ := fit(t, kft.Spec{
			Data:        kft.DataSpec{Files: []string{writeFile(t, "train.csv", train.String())}, Target: "y", Modes: []string{"s", "i", "t"}},
			Terms:       []string{"s,i,t:6"},
			Split:       "random:80/20",
			Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "none"},
			Seed:        seed,
		}, kft.Options{})
		predictions := predictCells(t, model, unseen...)
		for i, p := range predictions {
			sum += math.Pow((values[i]-p.Mean)/p.SD, 2)
			count++
		}
		if seed == 0 {
			for i, p := range predictCells(t, reload(t, model), unseen...) {
				if p.SD != predictions[i].SD || p.Mean != predictions[i].Mean {
					t.Fatalf("cell %d: got %v after loading, want %v", i, p, predictions[i])
				}
			}
		}
	}
	if square := sum / float64(count); square < 0.9 || square > 1.1 {
		t.Errorf("got mean square %.3f of standardised errors over %d cells, want 0.9 to 1.1", square, count)
	}
}

// TestPaperMomentsAfterLoading checks that a loaded model has the paper's variance of
// the fitted one.
func TestPaperMomentsAfterLoading(t *testing.T) {
	t.Parallel()
	s := newShop(t, 12, 10, nil)
	for _, variant := range []string{"side", "wlr", "additive"} {
		spec := s.spec(variant, "dual")
		spec.Terms = []string{"store,item:4", "store*item"}
		spec.Uncertainty = kft.UncertaintySpec{Inference: "mean-field", Conformal: "none", Moments: "paper"}
		model, _ := fit(t, spec, kft.Options{})
		cells := []kft.Cell{shopCell("s1", "i1", "3"), shopCell("closed", "i3", "5"), shopCell("none", "i1", "3")}
		after := predictCells(t, reload(t, model), cells...)
		for i, p := range predictCells(t, model, cells...) {
			if math.Abs(after[i].SDModel-p.SDModel) > 1e-5*p.SDModel || !(p.SDModel > 0) {
				t.Errorf("%s, cell %d: got sd of the model %g after loading, want %g", variant, i, after[i].SDModel, p.SDModel)
			}
		}
	}
}
