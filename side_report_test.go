package kft_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

func TestSideReport(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	s.write(t, "items.csv", strings.ReplaceAll(s.read(t, "items.csv"), "\n", ",x\n")) // adds a constant column x
	m, r := fit(t, s.spec("wlr", "dual"), kft.Options{})
	if len(r.Side) != 2 || len(m.Record().Side) != 2 {
		t.Fatalf("got %d side reports and %d in the model, want 2", len(r.Side), len(m.Record().Side))
	}
	stores, items := r.Side[0], r.Side[1]
	if stores.Mode != "store" || stores.Kernel != "matern32" || stores.Columns < 2 {
		t.Errorf("stores: got mode %q, kernel %q, %d columns, want store, matern32 and 2 or more", stores.Mode, stores.Kernel, stores.Columns)
	}
	if got, want := [3]int{stores.Table.Matched, stores.Table.Unmatched, stores.Table.ExtraRows}, [3]int{15, 1, 1}; got != want {
		t.Errorf("stores: got %v matched, unmatched and extra rows, want %v", got, want)
	}
	if columns := items.Table.Columns; len(columns) != 3 || !columns[2].Constant || columns[0].Type != "cat" || !columns[1].Guessed {
		t.Errorf("items: got columns %+v, want cat, a guessed type and a constant", columns)
	}
	if want := `side information of item: column "x" is left out: all values are equal`; len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], want) {
		t.Errorf("got warnings %q, want one that contains %q", r.Warnings, want)
	}
}

// TestIneffectiveSideSettingsAreReported checks the warnings about settings of side
// information that have no effect.
func TestIneffectiveSideSettingsAreReported(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	spec := s.spec("wlr", "dual-unwhitened")
	spec.Terms = []string{"store,month:2", "item,month:2@plain"}
	spec.Side.Kernels = []string{"matern32", "month=rbf"}
	spec.Side.LengthScales = "learn"
	_, r := fit(t, spec, kft.Options{})
	for _, want := range []string{
		"the side information of item has no effect: no term has a core of item with a variant other than plain",
		"kernel month=rbf has no effect: mode month has no side information",
		"length-scales cannot be learned in the space dual-unwhitened; set side.space to dual",
	} {
		if !slices.Contains(r.Warnings, want) {
			t.Errorf("got warnings %q, want %q among them", r.Warnings, want)
		}
	}
	for _, variant := range []string{"wlr", "plain"} { // plain, given or chosen, says that nothing uses it
		_, r = fit(t, s.spec(variant, "dual"), kft.Options{})
		for _, warning := range r.Warnings {
			if strings.Contains(warning, "effect") {
				t.Errorf("variant %s: got warning %q, want none", variant, warning)
			}
		}
	}
}

// TestLearnedLengthScalesAreReported checks that learned kernel parameters are reported
// by column and saved with the model.
func TestLearnedLengthScalesAreReported(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	spec := s.spec("wlr", "dual")
	spec.Side.Kernels, spec.Side.LengthScales = []string{"matern32", "item=rbf:ard[price]"}, "learn"
	m, r := fit(t, spec, kft.Options{})
	var names []string
	changed := false
	for _, side := range r.Side {
		for _, l := range side.Learned {
			names = append(names, side.Mode+": "+l.Name)
			changed = changed || l.Start != l.End
			if !(l.Start > 0 && l.End > 0) {
				t.Errorf("%s: got start %g and end %g, want both positive", l.Name, l.Start, l.End)
			}
		}
	}
	if want := []string{"store: intercept", "store: matern32 length", "item: intercept", "item: rbf[price] length of price"}; !slices.Equal(names, want) {
		t.Errorf("got learned parameters %q, want %q", names, want)
	}
	if !changed {
		t.Error("got no parameter whose end differs from its start, want one or more")
	}
	if got, want := jsonOf(t, reload(t, m).Record().Side), jsonOf(t, r.Side); got != want {
		t.Errorf("a loaded model: got side reports %s, want %s", got, want)
	}
}
