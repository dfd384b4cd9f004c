package kft_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// specWithMonths describes months by their number, computed from the id.
func (s *shop) specWithMonths(variant, space string) kft.Spec {
	spec := s.spec(variant, space)
	spec.Side.Tables = append(spec.Side.Tables, "month=@month:num")
	return spec
}

// specWithMonthTable describes months by their number, read from a table that has one
// month more than the data.
func (s *shop) specWithMonthTable(t testing.TB, variant, space string) kft.Spec {
	t.Helper()
	spec := s.spec(variant, space)
	months := s.write(t, "months.csv", "month,number\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n")
	spec.Side.Tables = append(spec.Side.Tables, "month="+months+":number:num")
	return spec
}

// TestNewIDsWithComputedSideInformation predicts a month that is not in the data. Side
// information computed from its id gives the same predictions as an equal side table.
func TestNewIDsWithComputedSideInformation(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ variant, space string }{{"wlr", "dual"}, {"additive", "primal"}, {"side", "dual-unwhitened"}, {"ls", "dual-rff"}} {
		t.Run(test.variant+" "+test.space, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, 12, 16, nil)
			table := s.write(t, "plan.csv", "store,item,month,units\ns0,i1,2,3\ns0,i1,7,3\ns1,i2,7,3\ns1,i2,spring,3\ns1,i2,,3\nnone,i2,7,3\n")
			m, _ := fit(t, s.specWithMonths(test.variant, test.space), kft.Options{})
			fromTable, _ := fit(t, s.specWithMonthTable(t, test.variant, test.space), kft.Options{})
			text := predictFile(t, m, table, kft.TableOptions{})
			if want := predictFile(t, fromTable, table, kft.TableOptions{}); text != want {
				t.Errorf("computed from ids: got\n%swant, as from a table,\n%s", text, want)
			}
			var origins []string
			for _, line := range linesOf(text) {
				origins = append(origins, line[strings.LastIndex(line, ",")+1:])
			}
			if want := []string{"unseen", "", "month:side", "month:side", "month", "month", "store+month:side"}; !slices.Equal(origins, want) {
				t.Errorf("got origins %q, want %q", origins, want)
			}
			if got := predictFile(t, reload(t, m), table, kft.TableOptions{}); got != text {
				t.Errorf("a loaded model: got\n%swant\n%s", got, text)
			}
			_, sum, err := m.Evaluate(t.Context(), kft.Files(table), kft.TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sum.Side, []int{0, 0, 3}) || !slices.Equal(sum.Unseen, []int{1, 0, 1}) || sum.NoID != 1 {
				t.Errorf("got rows by mode %v from side information and %v unseen, %d without an id; want [0 0 3], [1 0 1] and 1", sum.Side, sum.Unseen, sum.NoID)
			}
			p := predictCells(t, m, shopCell("s0", "i1", "7"), shopCell("s0", "i1", "2.0"), shopCell("s0", "i1", "2"))
			if want := []string{"month"}; !slices.Equal(p[0].FromSide, want) {
				t.Errorf("month 7: got prediction from side information of %q, want %q", p[0].FromSide, want)
			}
			if want := fmt.Sprintf("s0,i1,7,3,%v,", float32(p[0].Mean)); !strings.Contains(text, want) {
				t.Errorf("month 7: got\n%swant a row that starts with %q, as Predict returns", text, want)
			}
			// Variant side has no free weights, so the new id 2.0 equals the trained id 2.
			if got, want := p[1].Median, p[2].Median; test.variant == "side" && math.Abs(got-want) > 1e-3*want {
				t.Errorf("month 2.0: got median %g, want %g as for month 2", got, want)
			}
			strict := kft.Reader("month 7", strings.NewReader("store,item,month\ns0,i1,7\n"))
			if _, err := m.PredictTable(t.Context(), strict, io.Discard, kft.TableOptions{Strict: true}); err != nil {
				t.Errorf("strict: got error %v, want none", err)
			}
		})
	}
}

// TestPlaceboDoesNotPredictNewIDs checks that ids are unseen if their side information
// was replaced by a placebo.
func TestPlaceboDoesNotPredictNewIDs(t *testing.T) {
	t.Parallel()
	s := newShop(t, 12, 16, nil)
	spec := s.specWithMonths("wlr", "dual")
	spec.Side.Placebo = "constant:month"
	m, _ := fit(t, spec, kft.Options{})
	if got, want := predictCells(t, m, shopCell("s0", "i1", "7"))[0].Unseen, []string{"month"}; !slices.Equal(got, want) {
		t.Errorf("got unseen modes %q, want %q", got, want)
	}
}

// TestThreadsDoNotChangePredictionsOfNewIDs predicts many new ids, which batches meet in
// an order that depends on the threads.
func TestThreadsDoNotChangePredictionsOfNewIDs(t *testing.T) {
	t.Parallel()
	s := newShop(t, 12, 16, nil)
	spec := s.specWithMonths("wlr", "dual")
	spec.Terms = append(spec.Terms, "store*month,item:2")
	m, _ := fit(t, spec, kft.Options{})
	var text strings.Builder
	text.WriteString("store,item,month,note\n")
	for i := range 40_000 {
		fmt.Fprintf(&text, "s%d,i%d,%g,%s\n", i%12, i%16, 1+float64(i*i%4001)/400, strings.Repeat("-", 100))
	}
	want := ""
	for _, threads := range []int{1, 2, 8} {
		var out strings.Builder
		sum, err := m.PredictTable(t.Context(), kft.Reader("long table", strings.NewReader(text.String())), &out, kft.TableOptions{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Side[2] < 30_000 || sum.Unseen[2] > 0 {
			t.Fatalf("got %d rows of months from side information and %d unseen, want 30000 or more and 0", sum.Side[2], sum.Unseen[2])
		}
		if want == "" {
			want = out.String()
		}
		if out.String() != want {
			t.Errorf("%d threads: got other predictions than with 1 thread, want equal ones", threads)
		}
	}
}
