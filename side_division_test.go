package kft_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// An additive core is divided after each update only if the validation rows are of new ids,
// and a refit does as the training before it did. Either way new stores are predicted from
// their side rows.
func TestDivisionOfAdditiveCores(t *testing.T) {
	t.Parallel()
	const stores, fitted, items = 90, 60, 12
	rng := rand.New(rand.NewPCG(5, 6))
	var known, later, side strings.Builder
	known.WriteString("store,item,y\n")
	later.WriteString("store,item,y\n")
	side.WriteString("store,size\n")
	for s := range stores {
		size, rows := rng.NormFloat64(), &known
		if s >= fitted {
			rows = &later
		}
		fmt.Fprintf(&side, "s%d,%.4f\n", s, size)
		for i := range items {
			fmt.Fprintf(rows, "s%d,i%d,%.4f\n", s, i, size*(1+float64(i)/6)+0.1*rng.NormFloat64())
		}
	}
	table, newRows := writeFile(t, "sales.csv", known.String()), writeFile(t, "later.csv", later.String())
	for _, tc := range []struct {
		split, refit string
		divided      bool
	}{{"random:60/20/20", "", false}, {"entity:store=20%", "", true}, {"entity:store=20%", "all", true}} {
		m, r := fit(t, kft.Spec{
			Version: 1, Split: tc.split,
			Data:        kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"store", "item"}},
			Terms:       []string{"store,item:2", "store", "item"},
			Side:        kft.SideSpec{Tables: []string{"store=" + writeFile(t, "side.csv", side.String())}, Variant: "additive"},
			Uncertainty: kft.UncertaintySpec{Inference: "mean-field"},
			Fit:         kft.FitSpec{Refit: tc.refit},
		}, kft.Options{})
		if r.Start.Divided != tc.divided {
			t.Errorf("split %s, refit %q: got division after each update %v, want %v", tc.split, tc.refit, r.Start.Divided, tc.divided)
		}
		score, _, err := m.Evaluate(t.Context(), kft.Files(newRows), kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !(score.R2 > 0.9) {
			t.Errorf("split %s, refit %q: got R2 %.3f of new stores, want more than 0.9", tc.split, tc.refit, score.R2)
		}
	}
}
