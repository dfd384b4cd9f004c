package kft_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// Items that were never trained on are predicted from their side rows, far better
// than by a plain model, which is little better than the mean.
func TestSideUnseenEntities(t *testing.T) {
	s := newShop(t, 24, 60, nil)
	held := func(spec kft.Spec) float64 {
		spec.Split = "entity:item=20%"
		spec.Fit = kft.FitSpec{Sweeps: 15}
		_, r := fitSales(t, spec, kft.Options{})
		return r.Test.R2Scale
	}
	plain := held(s.plain())
	if plain > 0.6 {
		t.Errorf("plain knows unseen items: R2 %.3f", plain)
	}
	for _, variant := range []string{"wlr", "additive"} {
		r2 := held(s.spec(variant, "dual"))
		t.Logf("%s: R2 %.3f, plain %.3f", variant, r2, plain)
		if r2 < plain+0.1 || r2 < 0.1 {
			t.Errorf("%s: R2 %.3f, plain has %.3f", variant, r2, plain)
		}
	}
	// Only the side information of the items helps with unseen items.
	for replace, helps := range map[string]bool{"noise:item": false, "constant:item": false, "noise:store": true} {
		spec := s.spec("wlr", "dual")
		spec.Side.Placebo = replace
		r2 := held(spec)
		t.Logf("replaced by %s: R2 %.3f", replace, r2)
		if r2 > plain+0.1 != helps {
			t.Errorf("replaced by %s: R2 %.3f, plain has %.3f", replace, r2, plain)
		}
	}
}

// A new id with the side row of a known one: in the variant side, whose cores
// know nothing else of an id, it is predicted as that one; in wlr and additive,
// as an id without training rows that has this side row.
func TestWithSideEqualRows(t *testing.T) {
	s := newShop(t, 20, 24, nil)
	row := func(id string) string {
		for line := range strings.Lines(s.read(t, "stores.csv")) {
			if rest, ok := strings.CutPrefix(line, id+","); ok {
				return rest
			}
		}
		t.Fatalf("no store %s", id)
		return ""
	}
	for _, c := range []struct{ variant, space string }{
		{"side", "primal"}, {"side", "dual"}, {"side", "dual-rff"}, {"side", "dual-unwhitened"}, {"wlr", "primal"}, {"wlr", "dual"}, {"additive", "dual"}, {"ls", "primal-rff"},
	} {
		t.Run(c.variant+" "+c.space, func(t *testing.T) {
			spec := s.spec(c.variant, c.space)
			spec.Split = "entity:store=30%"
			m, _ := fitSales(t, spec, kft.Options{})
			var trained, untrained string
			for _, id := range s.stores[:len(s.stores)-1] {
				p, err := m.Predict(context.Background(), []kft.Cell{{"store": id, "item": "i1", "month": "1"}})
				if err != nil || len(p[0].Unseen) > 0 {
					t.Fatalf("%+v, %v", p, err)
				}
				if slices.Equal(p[0].FromSide, []string{"store"}) {
					untrained = id
				} else {
					trained = id
				}
			}
			grown := withSide(t, m, "store="+s.write(t, "new.csv", "store,region,size\nasTrained,"+row(trained)+"asUntrained,"+row(untrained)))
			for _, item := range []string{"i1", "i2", "i3"} {
				near := func(new, old string) bool {
					a, b := medianOf(t, grown, new, item, "2"), medianOf(t, m, old, item, "2")
					return math.Abs(a-b) <= 2e-3*(1+math.Abs(b))
				}
				if !near("asUntrained", untrained) {
					t.Errorf("%s: the row of an untrained store gives %g, that store %g", item, medianOf(t, grown, "asUntrained", item, "2"), medianOf(t, m, untrained, item, "2"))
				}
				if c.variant == "side" && !near("asTrained", trained) {
					t.Errorf("%s: the row of a trained store gives %g, that store %g", item, medianOf(t, grown, "asTrained", item, "2"), medianOf(t, m, trained, item, "2"))
				}
				if medianOf(t, grown, trained, item, "2") != medianOf(t, m, trained, item, "2") {
					t.Errorf("%s: a trained store is predicted otherwise", item)
				}
			}
		})
	}
}

// An id of the fitted table that has neither training rows nor a side row until
// WithSide gives it one is then predicted as any other id with that row.
func TestWithSideDescribesFittedID(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	var lines []string
	for i, line := range strings.Split(strings.TrimSpace(s.read(t, "sales.csv")), "\n") {
		switch {
		case i == 0:
			line += ",part"
		case strings.HasPrefix(line, "s15,"): // the store without a side row
			line += ",test"
		case i%5 == 0:
			line += ",valid"
		default:
			line += ",train"
		}
		lines = append(lines, line)
	}
	for _, term := range []string{"store,item,month:4", "store*item,month:2"} {
		spec := s.spec("wlr", "dual")
		spec.Data.Files[0], spec.Split = s.write(t, "parted.csv", strings.Join(lines, "\n")+"\n"), "column:part"
		spec.Terms = []string{term}
		m, _ := fitSales(t, spec, kft.Options{})
		grown := withSide(t, m, "store="+s.write(t, "new.csv", "store,region,size\ns15,south,0.4\nn0,south,0.4\n"))
		for _, item := range []string{"i0", "i7"} {
			old, described, other := medianOf(t, m, "s15", item, "2"), medianOf(t, grown, "s15", item, "2"), medianOf(t, grown, "n0", item, "2")
			if math.Abs(described-other) > 1e-5*other || described == old {
				t.Errorf("%s, %s: s15 is predicted %g, with a side row %g, another store with that row %g", term, item, old, described, other)
			}
		}
	}
}

// The score of a fit, the score of its test rows measured again and the counts of
// ids without training data agree, also for ids without a side row.
func TestSideScoresAgree(t *testing.T) {
	s := newShop(t, 20, 24, nil)
	lines := strings.Split(strings.TrimSpace(s.read(t, "sales.csv")), "\n")
	lines[0] += ",part"
	test := []string{lines[0]}
	side, unknown := 0, 0
	for i, line := range lines[1:] {
		switch {
		case strings.HasPrefix(line, "s19,"): // the store without a row
			line, unknown = line+",test", unknown+1
		case strings.HasPrefix(line, "s7,"):
			line, side = line+",test", side+1
		case i%5 == 0:
			line += ",valid"
		default:
			line += ",train"
		}
		if strings.HasSuffix(line, ",test") {
			test = append(test, line)
		}
		lines[i+1] = line
	}
	spec := s.spec("wlr", "dual")
	spec.Data.Files[0] = s.write(t, "parted.csv", strings.Join(lines, "\n")+"\n")
	spec.Split = "column:part"
	m, r := fitSales(t, spec, kft.Options{})
	score, sum, err := m.Evaluate(t.Context(), kft.Files(s.write(t, "test.csv", strings.Join(test, "\n")+"\n")), kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(score.R2-r.Test.R2) > 1e-5 || math.Abs(score.MAE-r.Test.MAE) > 1e-5*r.Test.MAE {
		t.Errorf("%+v, the fit said %+v", score, r.Test)
	}
	if !slices.Equal(sum.Side, []int{side, 0, 0}) || !slices.Equal(sum.Unseen, []int{unknown, 0, 0}) {
		t.Errorf("%+v, there are %d rows of a described store and %d of one that is not", sum, side, unknown)
	}
	if side == 0 || unknown == 0 {
		t.Error("nothing to count")
	}
}

// Pairs of store and item that never sold are predicted by the side information
// of both, alike whether the fitted table had them in its test part or not.
func TestSideJointCore(t *testing.T) {
	unsold := func(store, item int) bool { return (store*7+item*3)%5 == 0 }
	all, some := newShop(t, 20, 30, nil), newShop(t, 20, 30, unsold)
	var sold, unsoldText strings.Builder
	sold.WriteString("store,item,month,units,part\n")
	unsoldText.WriteString("store,item,month,units\n")
	for line := range strings.Lines(all.read(t, "sales.csv")) {
		line = strings.TrimSpace(line)
		var store, item, month int
		if n, _ := fmt.Sscanf(line, "s%d,i%d,%d,", &store, &item, &month); n < 3 {
			continue
		}
		part := "train"
		switch {
		case unsold(store, item):
			part = "test"
			unsoldText.WriteString(line + "\n")
		case (store+item+month)%4 == 0:
			part = "valid"
		}
		sold.WriteString(line + "," + part + "\n")
	}
	held := some.write(t, "unsold.csv", unsoldText.String())
	all.write(t, "sales.csv", sold.String())
	var parts strings.Builder
	parts.WriteString("part\n")
	for line := range strings.Lines(sold.String()) {
		if f := strings.Split(strings.TrimSpace(line), ","); f[4] == "train" || f[4] == "valid" {
			parts.WriteString(f[4] + "\n")
		}
	}
	split := some.write(t, "parts.csv", parts.String())
	for _, variant := range []string{"plain", "side", "wlr", "additive"} {
		of := func(s *shop, split string) (*kft.Model, kft.Score) {
			spec := s.spec(variant, "primal")
			spec.Split, spec.Terms = split, []string{"store*item,month:2"}
			m, _ := fitSales(t, spec, kft.Options{})
			score, sum, err := m.Evaluate(t.Context(), kft.Files(held), kft.TableOptions{})
			if err != nil || slices.Max(sum.Unseen) != 0 {
				t.Fatalf("%+v, %v", sum, err)
			}
			return m, score
		}
		_, met := of(all, "column:part")
		m, never := of(some, "file:"+split)
		if math.Abs(met.R2Scale-never.R2Scale) > 1e-4 {
			t.Errorf("%s: R2 of pairs in the test part %.5f, of pairs the table never had %.5f", variant, met.R2Scale, never.R2Scale)
		}
		if informed := variant != "plain"; never.R2Scale > 0.3 != informed {
			t.Errorf("%s: R2 of pairs that never sold %.3f", variant, never.R2Scale)
		}
		if predicted(t, loaded(t, saved(t, m)), held) != predicted(t, m, held) {
			t.Errorf("%s: a loaded model predicts pairs that never sold otherwise", variant)
		}
	}
}

// WithSide refuses what the model cannot use, in words.
func TestWithSideRefuses(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	m, _ := fitSales(t, s.spec("wlr", "dual"), kft.Options{})
	spec := s.spec("wlr", "dual")
	spec.Side.Placebo = "noise"
	replaced, _ := fitSales(t, spec, kft.Options{})
	unused, _ := fitSales(t, s.spec("plain", "dual"), kft.Options{})
	good := "store=" + s.write(t, "new.csv", "store,region,size\nn0,south,0.3\n")
	for _, c := range []struct {
		m      *kft.Model
		tables []string
		want   string
	}{
		{m, []string{"stroe=new.csv"}, `the model has no mode "stroe" (did you mean "store"?)`},
		{m, []string{"month=" + s.path("new.csv")}, "fitted without side information of mode month"},
		{unused, []string{good}, "fitted without side information of mode store"},
		{replaced, []string{good}, "replaced by noise"},
		{m, []string{good, good}, "mode store has two tables"},
		{m, []string{"store=" + s.path("none.csv")}, "no such file"},
		{m, []string{"store=" + s.write(t, "short.csv", "store,region\nn0,south\n")}, `column "size"`},
		{m, []string{"store=" + s.write(t, "text.csv", "store,region,size\nn0,south,big\n")}, `text.csv, line 2, column "size", value "big"`},
		{m, []string{"store=" + s.write(t, "twice.csv", "store,region,size\nn0,south,1\nn0,north,2\n")}, "duplicate of line 2"},
	} {
		if _, err := c.m.WithSide(t.Context(), c.tables, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want something with %q", c.tables, err, c.want)
		}
	}
}
