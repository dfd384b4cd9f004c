package kft_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// Ids of the fit's side table that have no row in the data are predicted from
// their side row by the model file alone, as by a table given with it.
func TestSideKeepsExtraRows(t *testing.T) {
	const extra = "x1,south,0.3\nx0,west,0.9\nx2,nowhere,\n"
	for _, c := range []struct {
		variant, space string
		terms          []string
	}{
		{"wlr", "dual", nil}, {"wlr", "primal", nil}, {"additive", "primal-rff", nil}, {"ls", "dual-rff", nil}, {"side", "dual-unwhitened", nil},
		{"wlr", "dual", []string{"store*item,month:2", "store,item:2"}},
	} {
		t.Run(fmt.Sprint(c.variant, " ", c.space, " ", c.terms), func(t *testing.T) {
			s := newShop(t, 16, 20, nil)
			table := s.write(t, "new.csv", s.read(t, "sales.csv")+"x0,i3,2,1\nx1,i4,2,1\nx2,i4,2,1\nx3,i4,2,1\nclosed,i4,2,1\n")
			spec := s.spec(c.variant, c.space)
			if c.terms != nil {
				spec.Terms = c.terms
			}
			without, _ := fitSales(t, spec, kft.Options{})
			given := withSide(t, without, "store="+s.write(t, "extra.csv", "store,region,size\n"+extra))
			s.write(t, "stores.csv", s.read(t, "stores.csv")+extra)
			m, r := fitSales(t, spec, kft.Options{})
			if side := r.Side[0]; side.Kept != 4 || side.Table.ExtraRows != 4 || len(r.Warnings) > 0 {
				t.Errorf("%+v, %q", side, r.Warnings)
			}
			if n := len(m.IDs(0)); n != 16 {
				t.Errorf("%d stores in the data", n)
			}
			if m.Weights() != without.Weights() {
				t.Errorf("%d weights, without the rows %d", m.Weights(), without.Weights())
			}
			want := predicted(t, given, table)
			lines := strings.Split(strings.TrimSpace(want), "\n")
			for i, from := range []string{"store:side", "store:side", "store:side", "store", "store:side"} {
				if line := lines[len(lines)-5+i]; !strings.HasSuffix(line, ","+from) || strings.Contains(line, "NaN") {
					t.Errorf("%q is not from %s", line, from)
				}
			}
			if predicted(t, m, table) != want {
				t.Error("rows of the fitted table give other predictions than the same rows given later")
			}
			for name, grown := range map[string]*kft.Model{"kept": m, "given": given} {
				text := saved(t, grown)
				again := loaded(t, text)
				if predicted(t, again, table) != want || again.Weights() != m.Weights() || len(again.IDs(0)) != 16 {
					t.Errorf("%s: a loaded model differs", name)
				}
				if !bytes.Equal(saved(t, again), text) {
					t.Errorf("%s: a loaded model saves to other bytes", name)
				}
			}
			// A row that is given again is the one that counts.
			other := withSide(t, loaded(t, saved(t, m)), "store="+s.write(t, "other.csv", "store,region,size\nx0,south,0.3\nx3,south,0.3\ns0,west,0.1\n"))
			if a, b := medianOf(t, other, "x0", "i4", "2"), medianOf(t, other, "x3", "i4", "2"); a != b {
				t.Errorf("alike rows, one of them of a known id, give %g and %g", a, b)
			}
			if a, b := medianOf(t, other, "s0", "i4", "2"), medianOf(t, m, "s0", "i4", "2"); a != b {
				t.Errorf("a trained store moved from %g to %g", b, a)
			}
		})
	}
}

// What of a table cannot be kept is told and left; the fit goes on.
func TestSideKeepsWhatItCan(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	plain := s.read(t, "stores.csv")
	var many strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&many, "m%d,south,%.3f\n", i, float64(i%100)/100)
	}
	for _, c := range []struct {
		name, rows string
		variant    string
		replace    string
		kept       int
		notice     string
	}{
		{"none to keep", "", "plain", "", 0, ""},
		{"replaced", "", "wlr", "noise:store", 0, ""},
		{"all", "x0,south,0.2\n", "wlr", "", 2, ""},
		{"a bad value", "x0,south,large\nx1,west,0.1\n", "wlr", "", 2, `not kept for prediction: 1 of the rows of ids not in the data, for values such as ` + s.path("stores.csv") + `, line 18, column "size", value "large"`},
		{"too many", many.String(), "wlr", "", 10_000, "of 12001 rows of ids not in the data the first 10000 are kept"},
	} {
		s.write(t, "stores.csv", plain+c.rows)
		spec := s.spec(c.variant, "primal")
		spec.Side.Placebo = c.replace
		m, r := fitSales(t, spec, kft.Options{})
		side := r.Side[0]
		if side.Kept != c.kept || !strings.Contains(strings.Join(side.Notices, "; "), c.notice) || c.notice == "" && len(side.Notices) > 0 {
			t.Errorf("%s: %+v, want %d kept and a notice with %q", c.name, side, c.kept, c.notice)
		}
		p, err := m.Predict(context.Background(), []kft.Cell{{"store": "closed", "item": "i1", "month": "1"}, {"store": "m11999", "item": "i1", "month": "1"}})
		if err != nil {
			t.Fatal(err)
		}
		if known := slices.Equal(p[0].FromSide, []string{"store"}); known != (c.kept > 0) || len(p[1].Unseen) == 0 {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}
