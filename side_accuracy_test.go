package kft_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestSideInformationDoesNotHarm compares wlr and additive with plain. Neither useful
// side information nor a placebo lowers the score of the test set.
func TestSideInformationDoesNotHarm(t *testing.T) {
	t.Parallel()
	s := newShop(t, 24, 30, nil)
	testR2 := func(spec kft.Spec) float64 {
		spec.Fit = kft.FitSpec{Sweeps: 15}
		_, r := fit(t, spec, kft.Options{})
		return r.Test.R2Scale
	}
	plain := testR2(s.plainSpec())
	for _, variant := range []string{"wlr", "additive"} {
		for _, placebo := range []string{"", "constant", "noise"} {
			spec := s.spec(variant, "dual")
			spec.Side.Placebo = placebo
			got := testR2(spec)
			t.Logf("%s, placebo %q: R2 %.3f, plain %.3f", variant, placebo, got, plain)
			if got < plain-0.03 {
				t.Errorf("%s, placebo %q: got R2 %.3f, want at least %.3f - 0.03, that of plain", variant, placebo, got, plain)
			}
		}
	}
}

// TestConstantAndUniqueSideRows checks two limits. With constant side information, a core
// of variant side is the same for all ids, and the other variants are as good as plain.
// With a unique row per id, variant side in dual space can represent any core.
func TestConstantAndUniqueSideRows(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	spec := s.spec("side", "primal")
	spec.Side.Placebo = "constant:store"
	m, _ := fit(t, spec, kft.Options{})
	want := median(t, m, "s0", "i3", "2")
	for _, store := range s.stores {
		if got := median(t, m, store, "i3", "2"); got != want {
			t.Errorf("constant side information: got median %g of store %s, want %g as of s0", got, store, want)
		}
	}
	s.write(t, "stores.csv", s.read(t, "stores.csv")+"s15,west,0.77\n") // the row that the last store lacks
	trainingR2 := func(spec kft.Spec) float64 {
		spec.Fit.Lambda, spec.Fit.Sweeps = kft.LambdaOf(1e-3), 40
		_, r := fit(t, spec, kft.Options{})
		return r.Train.R2Scale
	}
	plain := trainingR2(s.plainSpec())
	if got := trainingR2(s.spec("side", "dual")); math.Abs(got-plain) > 0.01 {
		t.Errorf("side with a unique row per id: got R2 %.4f on the training set, want %.4f +- 0.01 as for plain", got, plain)
	}
	for _, variant := range []string{"wlr", "additive", "ls"} {
		spec := s.spec(variant, "primal")
		spec.Side.Placebo = "constant"
		if got := trainingR2(spec); got < plain-0.01 {
			t.Errorf("%s with constant side information: got R2 %.4f on the training set, want at least %.4f - 0.01, that of plain", variant, got, plain)
		}
	}
}

// TestAdditivePredictsNewStores checks that additive learns the regression on the side
// table even with a random split, where every store has training rows.
func TestAdditivePredictsNewStores(t *testing.T) {
	t.Parallel()
	const stores, fittedStores, items = 40, 32, 12
	var fitted, later, fittedSide, laterSide strings.Builder
	for _, b := range []*strings.Builder{&fitted, &later} {
		b.WriteString("store,item,y\n")
	}
	for _, b := range []*strings.Builder{&fittedSide, &laterSide} {
		b.WriteString("store,size\n")
	}
	for s := range stores {
		size := float64(s*17%stores)/20 - 1
		rows, side := &fitted, &fittedSide
		if s >= fittedStores {
			rows, side = &later, &laterSide
		}
		fmt.Fprintf(side, "s%d,%.4f\n", s, size)
		for i := range items {
			fmt.Fprintf(rows, "s%d,i%d,%.4f\n", s, i, (1+2*size)*(1+float64(i)/6))
		}
	}
	table, newRows := writeFile(t, "sales.csv", fitted.String()), writeFile(t, "later.csv", later.String())
	side, newSide := "store="+writeFile(t, "side.csv", fittedSide.String()), "store="+writeFile(t, "new_side.csv", laterSide.String())
	for _, space := range []string{"primal", "dual"} {
		m, _ := fit(t, kft.Spec{
			Version: 1,
			Data:    kft.DataSpec{Files: []string{table}, Target: "y", Modes: []string{"store", "item"}},
			Terms:   []string{"store,item:2"},
			Side:    kft.SideSpec{Tables: []string{side}, Variant: "additive", Space: space},
			Fit:     kft.FitSpec{Sweeps: 10, Ridge: "uniform", Lambda: kft.LambdaOf(1)},
		}, kft.Options{})
		score, sum, err := withSide(t, m, newSide).Evaluate(t.Context(), kft.Files(newRows), kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := (stores - fittedStores) * items; sum.Side[0] != want {
			t.Errorf("%s: got %d rows predicted from side rows, want %d", space, sum.Side[0], want)
		}
		if !(score.R2 > 0.9) {
			t.Errorf("%s: got R2 %.3f of stores without training rows, want more than 0.9", space, score.R2)
		}
	}
}

// TestUnseenItemsNeedTheirSideInformation holds out items. Their side rows predict them
// much better than a plain model, a placebo does not, and a placebo for stores does not
// matter.
func TestUnseenItemsNeedTheirSideInformation(t *testing.T) {
	t.Parallel()
	s := newShop(t, 24, 60, nil)
	testR2 := func(spec kft.Spec) float64 {
		spec.Split = "entity:item=20%"
		spec.Fit = kft.FitSpec{Sweeps: 15}
		_, r := fit(t, spec, kft.Options{})
		return r.Test.R2Scale
	}
	plain := testR2(s.plainSpec())
	if plain > 0.6 {
		t.Errorf("plain: got R2 %.3f of unseen items, want at most 0.6", plain)
	}
	for _, variant := range []string{"wlr", "additive"} {
		got := testR2(s.spec(variant, "dual"))
		t.Logf("%s: R2 %.3f, plain %.3f", variant, got, plain)
		if got < plain+0.1 || got < 0.1 {
			t.Errorf("%s: got R2 %.3f of unseen items, want at least 0.1 and %.3f + 0.1", variant, got, plain)
		}
	}
	for placebo, helps := range map[string]bool{"noise:item": false, "constant:item": false, "noise:store": true} {
		spec := s.spec("wlr", "dual")
		spec.Side.Placebo = placebo
		got := testR2(spec)
		t.Logf("placebo %s: R2 %.3f", placebo, got)
		if got > plain+0.1 != helps {
			t.Errorf("placebo %s: got R2 %.3f, plain has %.3f, want a gain of more than 0.1: %v", placebo, got, plain, helps)
		}
	}
}
