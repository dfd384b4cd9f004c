package kft_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestNewIDWithTheSideRowOfAKnownID gives new stores the side rows of known ones. A new
// store equals the untrained store with its row. In variant side, whose cores have no
// free weights, it also equals the trained one.
func TestNewIDWithTheSideRowOfAKnownID(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ variant, space string }{
		{"side", "primal"}, {"side", "dual"}, {"side", "dual-rff"}, {"side", "dual-unwhitened"},
		{"wlr", "primal"}, {"wlr", "dual"}, {"additive", "dual"}, {"ls", "primal-rff"},
	} {
		t.Run(test.variant+" "+test.space, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 20, 24, nil)
			sideRow := func(id string) string {
				for line := range strings.Lines(s.read(t, "stores.csv")) {
					if rest, ok := strings.CutPrefix(line, id+","); ok {
						return rest
					}
				}
				t.Fatalf("got no side row of store %s, want one", id)
				return ""
			}
			spec := s.spec(test.variant, test.space)
			spec.Split = "entity:store=30%"
			m, _ := fit(t, spec, kft.Options{})
			var trained, untrained string
			for _, id := range s.stores[:len(s.stores)-1] { // the last one has no side row
				p := predictCells(t, m, shopCell(id, "i1", "1"))[0]
				switch {
				case len(p.Unseen) > 0:
					t.Fatalf("store %s: got unseen modes %q, want none", id, p.Unseen)
				case slices.Equal(p.FromSide, []string{"store"}):
					untrained = id
				default:
					trained = id
				}
			}
			extended := withSide(t, m, "store="+s.write(t, "new.csv", "store,region,size\nlikeTrained,"+sideRow(trained)+"likeUntrained,"+sideRow(untrained)))
			for _, item := range []string{"i1", "i2", "i3"} {
				checkEqual := func(newID, knownID string) {
					t.Helper()
					if got, want := median(t, extended, newID, item, "2"), median(t, m, knownID, item, "2"); math.Abs(got-want) > 2e-3*(1+math.Abs(want)) {
						t.Errorf("item %s, store %s: got median %g, want %g as for %s", item, newID, got, want, knownID)
					}
				}
				checkEqual("likeUntrained", untrained)
				if test.variant == "side" {
					checkEqual("likeTrained", trained)
				}
				if got, want := median(t, extended, trained, item, "2"), median(t, m, trained, item, "2"); got != want {
					t.Errorf("item %s, trained store %s: got median %g after WithSide, want %g as before", item, trained, got, want)
				}
			}
		})
	}
}

// TestWithSideDescribesFittedID gives a side row to a store of the fitted table that has
// neither training rows nor a side row. It then equals a new store with the same row.
func TestWithSideDescribesFittedID(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	table := s.write(t, "parted.csv", addColumn(s.read(t, "sales.csv"), "part", func(row int, line string) string {
		switch {
		case strings.HasPrefix(line, "s15,"): // the store without a side row
			return "test"
		case row%5 == 4:
			return "valid"
		}
		return "train"
	}))
	for _, term := range []string{"store,item,month:4", "store*item,month:2"} {
		spec := s.spec("wlr", "dual")
		spec.Data.Files[0], spec.Split, spec.Terms = table, "column:part", []string{term}
		m, _ := fit(t, spec, kft.Options{})
		extended := withSide(t, m, "store="+s.write(t, "new.csv", "store,region,size\ns15,south,0.4\nn0,south,0.4\n"))
		for _, item := range []string{"i0", "i7"} {
			before, got, want := median(t, m, "s15", item, "2"), median(t, extended, "s15", item, "2"), median(t, extended, "n0", item, "2")
			if math.Abs(got-want) > 1e-5*want || got == before {
				t.Errorf("term %s, item %s: got median %g of s15 with a side row (before: %g), want %g as for n0", term, item, got, before, want)
			}
		}
	}
}

// TestSideScoresAgree compares the score of the report with that of Evaluate on the test
// set, and the counts of rows with and without side information.
func TestSideScoresAgree(t *testing.T) {
	t.Parallel()
	s := newShop(t, 20, 24, nil)
	fromSide, unseen := 0, 0
	parted := addColumn(s.read(t, "sales.csv"), "part", func(row int, line string) string {
		switch {
		case strings.HasPrefix(line, "s19,"): // the store without a side row
			unseen++
			return "test"
		case strings.HasPrefix(line, "s7,"):
			fromSide++
			return "test"
		case row%5 == 0:
			return "valid"
		}
		return "train"
	})
	if fromSide == 0 || unseen == 0 {
		t.Fatalf("got %d and %d test rows with and without side information, want both positive", fromSide, unseen)
	}
	lines := linesOf(parted)
	test := lines[0] + "\n"
	for _, line := range lines[1:] {
		if strings.HasSuffix(line, ",test") {
			test += line + "\n"
		}
	}
	spec := s.spec("wlr", "dual")
	spec.Data.Files[0] = s.write(t, "parted.csv", parted)
	spec.Split = "column:part"
	m, r := fit(t, spec, kft.Options{})
	score, sum, err := m.Evaluate(t.Context(), kft.Reader("test set", strings.NewReader(test)), kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(score.R2-r.Test.R2) > 1e-5 || math.Abs(score.MAE-r.Test.MAE) > 1e-5*r.Test.MAE {
		t.Errorf("got score %+v, want that of the report, %+v", score, r.Test)
	}
	if got, want := sum.Side, []int{fromSide, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("got rows from side information %v, want %v", got, want)
	}
	if got, want := sum.Unseen, []int{unseen, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("got rows of unseen ids %v, want %v", got, want)
	}
}

// TestWithSideRejectsInvalidTables checks the messages for side tables that the model
// cannot use.
func TestWithSideRejectsInvalidTables(t *testing.T) {
	t.Parallel()
	s := newShop(t, 16, 20, nil)
	m, _ := fit(t, s.spec("wlr", "dual"), kft.Options{})
	spec := s.spec("wlr", "dual")
	spec.Side.Placebo = "noise"
	placebo, _ := fit(t, spec, kft.Options{})
	plain, _ := fit(t, s.spec("plain", "dual"), kft.Options{})
	valid := "store=" + s.write(t, "new.csv", "store,region,size\nn0,south,0.3\n")
	for _, test := range []struct {
		name      string
		m         *kft.Model
		tables    []string
		want      string
		sideError bool
	}{
		{"misspelled mode", m, []string{"stroe=new.csv"}, `the model has no mode "stroe" (did you mean "store"?)`, true},
		{"mode without side information", m, []string{"month=" + s.path("new.csv")}, "fitted without side information of mode month", true},
		{"variant plain", plain, []string{valid}, "fitted without side information of mode store", true},
		{"placebo", placebo, []string{valid}, "replaced by noise", true},
		{"two tables of a mode", m, []string{valid, valid}, "mode store has two tables", true},
		{"missing file", m, []string{"store=" + s.path("none.csv")}, "no such file", false},
		{"missing column", m, []string{"store=" + s.write(t, "short.csv", "store,region\nn0,south\n")}, `column "size"`, false},
		{"text in a numeric column", m, []string{"store=" + s.write(t, "text.csv", "store,region,size\nn0,south,big\n")}, `text.csv, line 2, column "size", value "big"`, false},
		{"two rows of an id", m, []string{"store=" + s.write(t, "twice.csv", "store,region,size\nn0,south,1\nn0,north,2\n")}, "duplicate of line 2", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.m.WithSide(t.Context(), test.tables, nil)
			checkErrorText(t, err, test.want)
			var side *kft.SideError
			if got := errors.As(err, &side); got != test.sideError {
				t.Errorf("got error %v, a *kft.SideError: %v, want %v", err, got, test.sideError)
			}
		})
	}
}
