package kft_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// ownMonths is a fit whose months are described by their number, given as the
// mode's own column or as a table that goes one month on.
func (s *shop) ownMonths(t *testing.T, variant, space string, own bool) kft.Spec {
	spec := s.spec(variant, space)
	table := "month=@month:num"
	if !own {
		table = "month=" + s.write(t, "months.csv", "month,number\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n") + ":number:num"
	}
	spec.Side.Tables = append(spec.Side.Tables, table)
	return spec
}

// A month to come is predicted from its number, with no table at hand, and as it
// is from a table that says the same.
func TestOwnColumnsOfNewIDs(t *testing.T) {
	s := newShop(t, 12, 16, nil)
	table := s.write(t, "plan.csv", "store,item,month,units\ns0,i1,2,3\ns0,i1,7,3\ns1,i2,7,3\ns1,i2,spring,3\ns1,i2,,3\nnone,i2,7,3\n")
	for _, c := range []struct{ variant, space string }{{"wlr", "dual"}, {"additive", "primal"}, {"side", "dual-unwhitened"}, {"ls", "dual-rff"}} {
		t.Run(c.variant+" "+c.space, func(t *testing.T) {
			m, _ := fitSales(t, s.ownMonths(t, c.variant, c.space, true), kft.Options{})
			tabled, _ := fitSales(t, s.ownMonths(t, c.variant, c.space, false), kft.Options{})
			got := predicted(t, m, table)
			if want := predicted(t, tabled, table); got != want {
				t.Errorf("by its own columns\n%sby a table\n%s", got, want)
			}
			var sources []string
			for line := range strings.Lines(got) {
				sources = append(sources, strings.TrimSpace(line[strings.LastIndex(line, ",")+1:]))
			}
			if want := []string{"unseen", "", "month:side", "month:side", "month", "month", "store+month:side"}; !slices.Equal(sources, want) {
				t.Errorf("sources %q, want %q", sources, want)
			}
			if again := predicted(t, loaded(t, saved(t, m)), table); again != got {
				t.Error("a loaded model predicts otherwise")
			}
			_, sum, err := m.Evaluate(t.Context(), kft.Files(table), kft.TableOptions{})
			if err != nil || !slices.Equal(sum.Side, []int{0, 0, 3}) || !slices.Equal(sum.Unseen, []int{1, 0, 2}) {
				t.Errorf("%+v, %v", sum, err)
			}
			p, err := m.Predict(context.Background(), []kft.Cell{{"store": "s0", "item": "i1", "month": "7"}, {"store": "s0", "item": "i1", "month": "2.0"}, {"store": "s0", "item": "i1", "month": "2"}})
			if err != nil || !slices.Equal(p[0].FromSide, []string{"month"}) || !strings.Contains(got, fmt.Sprintf("s0,i1,7,3,%v,", float32(p[0].Mean))) {
				t.Errorf("%+v, %v; the table has\n%s", p, err, got)
			}
			if c.variant == "side" && math.Abs(p[1].Median-p[2].Median) > 1e-3*p[2].Median {
				t.Errorf("a new id with the number of a known one is predicted %g, that one %g", p[1].Median, p[2].Median)
			}
			strict := s.write(t, "strict.csv", "store,item,month\ns0,i1,7\n")
			if _, err := m.PredictTable(t.Context(), kft.Files(strict), &bytes.Buffer{}, kft.TableOptions{Strict: true}); err != nil {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

// Side information that was replaced says nothing of a new month.
func TestOwnColumnsReplaced(t *testing.T) {
	s := newShop(t, 12, 16, nil)
	spec := s.ownMonths(t, "wlr", "dual", true)
	spec.Side.Placebo = "constant:month"
	m, _ := fitSales(t, spec, kft.Options{})
	if p, err := m.Predict(context.Background(), []kft.Cell{{"store": "s0", "item": "i1", "month": "7"}}); err != nil || !slices.Equal(p[0].Unseen, []string{"month"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// Batches on any number of threads meet new ids in any order and predict the same.
func TestOwnColumnsThreads(t *testing.T) {
	s := newShop(t, 12, 16, nil)
	spec := s.ownMonths(t, "wlr", "dual", true)
	spec.Terms = append(spec.Terms, "store*month,item:2")
	m, _ := fitSales(t, spec, kft.Options{})
	var text strings.Builder
	text.WriteString("store,item,month,note\n")
	for i := range 40_000 {
		fmt.Fprintf(&text, "s%d,i%d,%g,%s\n", i%12, i%16, 1+float64(i*i%4001)/400, strings.Repeat("-", 100))
	}
	table := s.write(t, "long.csv", text.String())
	var want []byte
	for _, threads := range []int{1, 2, 8} {
		var out bytes.Buffer
		sum, err := m.PredictTable(t.Context(), kft.Files(table), &out, kft.TableOptions{Threads: threads})
		if err != nil || sum.Side[2] < 30_000 || sum.Unseen[2] > 0 {
			t.Fatalf("%+v, %v", sum, err)
		}
		if want == nil {
			want = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%d threads give other predictions than 1", threads)
		}
	}
}

// The table called "-" is the reader that is given.
func TestWithSideFromReader(t *testing.T) {
	s := newShop(t, 12, 16, nil)
	m, _ := fitSales(t, s.spec("wlr", "dual"), kft.Options{})
	const text = "store,region,size\nn0,south,0.3\n"
	grown, err := m.WithSide(t.Context(), []string{"store=new"}, map[string]kft.Source{"new": kft.Reader("new stores", strings.NewReader(text))})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := medianOf(t, grown, "n0", "i1", "2"), medianOf(t, withSide(t, m, "store="+s.write(t, "n.csv", text)), "n0", "i1", "2"); a != b {
		t.Errorf("from a reader %g, from a file %g", a, b)
	}
}
