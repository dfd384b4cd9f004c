package kft_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestJointCorePredictsUnseenPairs holds out pairs of store and item from a joint core.
// The side information of both predicts the pairs, and it does not matter whether the
// pairs are in the test set of the fitted table or not in the table at all.
func TestJointCorePredictsUnseenPairs(t *testing.T) {
	t.Parallel()
	unsold := func(store, item int) bool { return (store*7+item*3)%5 == 0 }
	all, some := newShop(t, 20, 30, nil), newShop(t, 20, 30, unsold)
	partOf := func(line string) string {
		var store, item, month int
		if _, err := fmt.Sscanf(line, "s%d,i%d,%d,", &store, &item, &month); err != nil {
			t.Fatalf("row %q: %v", line, err)
		}
		switch {
		case unsold(store, item):
			return "test"
		case (store+item+month)%4 == 0:
			return "valid"
		}
		return "train"
	}
	unsoldRows, soldParts := "store,item,month,units\n", "part\n"
	all.write(t, "sales.csv", addColumn(all.read(t, "sales.csv"), "part", func(_ int, line string) string {
		part := partOf(line)
		if part == "test" {
			unsoldRows += line + "\n"
		} else {
			soldParts += part + "\n"
		}
		return part
	}))
	held, split := some.write(t, "unsold.csv", unsoldRows), some.write(t, "parts.csv", soldParts)
	for _, variant := range []string{"plain", "side", "wlr", "additive"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			fitAndScore := func(s *shop, split string) (*kft.Model, kft.Score) {
				spec := s.spec(variant, "primal")
				spec.Split, spec.Terms = split, []string{"store*item,month:2"}
				m, _ := fit(t, spec, kft.Options{})
				score, sum, err := m.Evaluate(t.Context(), kft.Files(held), kft.TableOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if slices.Max(sum.Unseen) != 0 {
					t.Fatalf("got unseen ids by mode %v, want none: only pairs are new", sum.Unseen)
				}
				return m, score
			}
			_, inTestSet := fitAndScore(all, "column:part")
			m, absent := fitAndScore(some, "file:"+split)
			if got, want := absent.R2Scale, inTestSet.R2Scale; math.Abs(got-want) > 1e-4 {
				t.Errorf("pairs that are not in the table: got R2 %.5f, want %.5f as in the test set", got, want)
			}
			if got, want := absent.R2Scale > 0.3, variant != "plain"; got != want {
				t.Errorf("got R2 %.3f of unseen pairs, want more than 0.3: %v", absent.R2Scale, want)
			}
			if predictFile(t, reload(t, m), held, kft.TableOptions{}) != predictFile(t, m, held, kft.TableOptions{}) {
				t.Error("a loaded model: got other predictions of unseen pairs, want equal ones")
			}
		})
	}
}

// TestCurvesOfModesWithFurtherSideRows fits a curve of a covariate for each store, which has weights by store, beside
// side information of stores that also describes some without rows: the curves of these are those of the prior.
func TestCurvesOfModesWithFurtherSideRows(t *testing.T) {
	t.Parallel()
	sales, stores := "store,price,units\n", "store,size\n"
	for s := range 12 {
		stores += fmt.Sprintf("s%d,%d\n", s, s%4)
		for k := range 30 {
			if s < 9 {
				sales += fmt.Sprintf("s%d,%d.5,%d\n", s, k, 40+5*(s%4)+(s%3-1)*k+k*7%5)
			}
		}
	}
	table, side := writeFile(t, "sales.csv", sales), writeFile(t, "stores.csv", stores)
	cells := []kft.Cell{{"store": "s1", "price": "3.5"}, {"store": "s10", "price": "3.5"}, {"store": "s11", "price": "20.5"}, {"store": "other", "price": "3.5"}}
	for _, term := range []string{"store*price", "price*store"} {
		for _, inference := range []string{"map", "mean-field", "multivariate", "entity-covariance"} {
			spec := kft.Spec{Version: 1, Terms: []string{"store", term}}
			spec.Data.Files, spec.Data.Target, spec.Data.Modes, spec.Data.Covariates, spec.Data.Duplicates = []string{table}, "units", []string{"store"}, []string{"number(price)"}, "keep"
			spec.Side.Tables, spec.Side.Variant, spec.Uncertainty.Inference = []string{"store=" + side}, "wlr", inference
			spec.Fill()
			m, _ := fit(t, spec, kft.Options{})
			got := sameAfterLoading(t, m, reload(t, m), cells)
			if got[1].Mean == got[3].Mean {
				t.Errorf("%s, %s: got %g for a store with a side row and for one without", term, inference, got[1].Mean)
			}
		}
	}
}
