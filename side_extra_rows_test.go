package kft_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestSideRowsOfAbsentIDsAreKept checks that ids of the fitted side table that are not in
// the data are predicted from their side rows, in the same way as from a table that is
// given to WithSide later.
func TestSideRowsOfAbsentIDsAreKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		variant, space string
		terms          []string // nil for those of the shop
	}{
		{"wlr", "dual", nil},
		{"wlr", "primal", nil},
		{"additive", "primal-rff", nil},
		{"ls", "dual-rff", nil},
		{"side", "dual-unwhitened", nil},
		{"wlr", "dual", []string{"store*item,month:2", "store,item:2"}},
	} {
		t.Run(fmt.Sprint(test.variant, " ", test.space, " ", test.terms), func(t *testing.T) {
			t.Parallel()
			const extraRows = "x1,south,0.3\nx0,west,0.9\nx2,nowhere,\n"
			s := newShop(t, 16, 20, nil)
			table := s.write(t, "new.csv", s.read(t, "sales.csv")+"x0,i3,2,1\nx1,i4,2,1\nx2,i4,2,1\nx3,i4,2,1\nclosed,i4,2,1\n")
			spec := s.spec(test.variant, test.space)
			if test.terms != nil {
				spec.Terms = test.terms
			}
			without, _ := fit(t, spec, kft.Options{})
			given := withSide(t, without, "store="+s.write(t, "extra.csv", "store,region,size\n"+extraRows))
			s.write(t, "stores.csv", s.read(t, "stores.csv")+extraRows)
			kept, r := fit(t, spec, kft.Options{})
			if side := r.Side[0]; side.Kept != 4 || side.Table.ExtraRows != 4 || len(r.Warnings) > 0 {
				t.Errorf("got %d rows kept of %d and warnings %q, want 4 of 4 and none", side.Kept, side.Table.ExtraRows, r.Warnings)
			}
			if got := len(kept.IDs(0)); got != 16 {
				t.Errorf("got %d ids of stores, want the 16 of the data", got)
			}
			if got, want := kept.Weights(), without.Weights(); got != want {
				t.Errorf("got %d weights, want %d as without the extra rows", got, want)
			}
			want := predictFile(t, given, table, kft.TableOptions{})
			lines := linesOf(want)
			for i, origin := range []string{"store:side", "store:side", "store:side", "store", "store:side"} {
				if line := lines[len(lines)-5+i]; !strings.HasSuffix(line, ","+origin) || strings.Contains(line, "NaN") {
					t.Errorf("got %q, want finite numbers and the origin %q", line, origin)
				}
			}
			if predictFile(t, kept, table, kft.TableOptions{}) != want {
				t.Error("rows of the fitted side table: got other predictions than for the same rows given later, want equal ones")
			}
			for name, m := range map[string]*kft.Model{"kept": kept, "given": given} {
				file := modelBytes(t, m)
				loaded := loadBytes(t, file)
				if predictFile(t, loaded, table, kft.TableOptions{}) != want {
					t.Errorf("%s: got other predictions from the loaded model, want equal ones", name)
				}
				if got, ids := loaded.Weights(), len(loaded.IDs(0)); got != kept.Weights() || ids != 16 {
					t.Errorf("%s: got %d weights and %d stores from the loaded model, want %d and 16", name, got, ids, kept.Weights())
				}
				if !bytes.Equal(modelBytes(t, loaded), file) {
					t.Errorf("%s: got other bytes when the loaded model is saved, want equal bytes", name)
				}
			}
			// A later row replaces a kept row, but does not change a trained store.
			replaced := withSide(t, reload(t, kept), "store="+s.write(t, "other.csv", "store,region,size\nx0,south,0.3\nx3,south,0.3\ns0,west,0.1\n"))
			if got, want := median(t, replaced, "x0", "i4", "2"), median(t, replaced, "x3", "i4", "2"); got != want {
				t.Errorf("replaced row of x0: got median %g, want %g as for the equal row of x3", got, want)
			}
			if got, want := median(t, replaced, "s0", "i4", "2"), median(t, kept, "s0", "i4", "2"); got != want {
				t.Errorf("trained store s0 with a new side row: got median %g, want %g as before", got, want)
			}
		})
	}
}

// TestSideRowsThatCannotBeKept checks that rows that cannot be kept are reported and do
// not stop the fit.
func TestSideRowsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	var tooMany strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&tooMany, "m%d,south,%.3f\n", i, float64(i%100)/100)
	}
	for _, test := range []struct {
		name, rows string // appended to stores.csv, which has one row of a store without sales
		variant    string
		placebo    string
		kept       int
		notice     string // FILE stands for the path of stores.csv
	}{
		{"variant without side information", "", "plain", "", 0, ""},
		{"placebo", "", "wlr", "noise:store", 0, ""},
		{"all kept", "x0,south,0.2\n", "wlr", "", 2, ""},
		{"invalid value", "x0,south,large\nx1,west,0.1\n", "wlr", "", 2,
			`1 row of ids not in the data cannot be kept for prediction because of values such as: FILE, line 18, column "size", value "large"`},
		{"too many rows", tooMany.String(), "wlr", "", 10_000, "of 12001 rows of ids not in the data the first 10000 are kept"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 16, 20, nil)
			s.write(t, "stores.csv", s.read(t, "stores.csv")+test.rows)
			spec := s.spec(test.variant, "primal")
			spec.Side.Placebo = test.placebo
			m, r := fit(t, spec, kft.Options{})
			side := r.Side[0]
			if side.Kept != test.kept {
				t.Errorf("got %d rows kept, want %d", side.Kept, test.kept)
			}
			notice := strings.ReplaceAll(test.notice, "FILE", s.path("stores.csv"))
			if got := strings.Join(side.Notices, "; "); !strings.Contains(got, notice) || notice == "" && got != "" {
				t.Errorf("got notices %q, want %q", got, notice)
			}
			p := predictCells(t, m, shopCell("closed", "i1", "1"), shopCell("m11999", "i1", "1"))
			if got, want := slices.Equal(p[0].FromSide, []string{"store"}), test.kept > 0; got != want {
				t.Errorf("store closed: got prediction from its side row %v, want %v", got, want)
			}
			if want := []string{"store"}; !slices.Equal(p[1].Unseen, want) {
				t.Errorf("store without a kept row: got unseen modes %q, want %q", p[1].Unseen, want)
			}
		})
	}
}
