package kft_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// vendorTable is a table with an effect of vendor and month: y = store + item + effect of
// (vendor, month) + noise. Items i0 to i59 have twelve vendors in turn, and i59 has no
// vendor. The side table also has the items new1, of vendor v1, new2, of v2, and odd, of
// a vendor that sells nothing.
type vendorTable struct {
	effect [12][24]float64 // by vendor and month
	items  kft.Source
	table  kft.Source
	text   string // the table as CSV
}

func newVendorTable(t testing.TB) *vendorTable {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	v := &vendorTable{}
	for g := range v.effect {
		for m := range v.effect[g] {
			v.effect[g][m] = rng.NormFloat64()
		}
	}
	const stores, items = 6, 60
	var store, item, month []string
	var y []float64
	var byStore, byItem [items]float64
	for i := range items {
		byStore[i], byItem[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	var text strings.Builder
	text.WriteString("store,item,period,y\n")
	for s := range stores {
		for i := range items {
			for m := range 24 {
				if rng.Float64() < 0.65 {
					continue
				}
				value := 20 + byStore[s] + byItem[i] + v.effect[i%12][m] + 0.3*rng.NormFloat64()
				store, item, month, y = append(store, fmt.Sprint("s", s)), append(item, fmt.Sprint("i", i)), append(month, monthID(m)), append(y, value)
				fmt.Fprintf(&text, "s%d,i%d,%s,%v\n", s, i, monthID(m), value)
			}
		}
	}
	var ids, vendors []string
	for i := range items {
		ids, vendors = append(ids, fmt.Sprint("i", i)), append(vendors, fmt.Sprint("v", i%12))
	}
	vendors[items-1] = ""
	ids, vendors = append(ids, "new1", "new2", "odd"), append(vendors, "v1", "v2", "unheard")
	var err error
	if v.table, err = kft.Columns(kft.StringColumn("store", store), kft.StringColumn("item", item), kft.StringColumn("period", month), kft.FloatColumn("y", y)); err != nil {
		t.Fatal(err)
	}
	if v.items, err = kft.Columns(kft.StringColumn("item", ids), kft.StringColumn("vendor", vendors), kft.StringColumn("name", ids)); err != nil {
		t.Fatal(err)
	}
	v.text = text.String()
	return v
}

func monthID(m int) string { return fmt.Sprintf("%d-%02d", 2020+m/12, m%12+1) }

// spec returns a model of main effects and further terms.
func (v *vendorTable) spec(inference string, terms ...string) kft.Spec {
	s := kft.Spec{Version: 1, Data: kft.DataSpec{Target: "y", Modes: []string{"store", "item", "time=period"}},
		Terms: append([]string{"store", "item", "time"}, terms...), Fit: kft.FitSpec{Sweeps: 12}}
	s.Uncertainty.Inference, s.Uncertainty.Conformal = inference, "none"
	if slices.ContainsFunc(terms, func(t string) bool { return strings.Contains(t, "item.") }) {
		s.Side.Tables = []string{"item=items:vendor:group"}
	}
	return s
}

func (v *vendorTable) options() kft.Options {
	return kft.Options{Threads: 1, Tables: map[string]kft.Source{"items": v.items}}
}

func (v *vendorTable) fit(t testing.TB, s kft.Spec) (*kft.Model, *kft.Report) {
	t.Helper()
	m, r, err := kft.Fit(t.Context(), s, v.table, v.options())
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

// TestGroupEffectIsRecovered checks for every solver that an effect of groups explains
// what the modes alone do not, and that items without rows, described by the side table,
// take the effect of their group.
func TestGroupEffectIsRecovered(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	for _, test := range []struct{ name, inference, solver, term string }{
		{"als", "map", "", "item.vendor*time"},
		{"adam", "map", "adam", "item.vendor*time"},
		{"mean-field", "mean-field", "", "item.vendor*time"},
		{"entity-covariance", "entity-covariance", "", "item.vendor*time"},
		{"train", "mean-field", "", "item.vendor,time:8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			without := v.spec(test.inference, "item,time:2")
			with := v.spec(test.inference, test.term)
			for _, s := range []*kft.Spec{&without, &with} {
				s.Fit.Solver = test.solver
				if test.solver == "adam" {
					s.Fit.Epochs, s.Fit.LearningRate = 60, 0.05
				}
			}
			_, plain := v.fit(t, without)
			m, r := v.fit(t, with)
			if r.Test.R2 < plain.Test.R2+0.15 || r.Test.R2 < 0.8 {
				t.Errorf("got R2 %.3f, want 0.8 or more, and at least 0.15 more than %.3f without the groups", r.Test.R2, plain.Test.R2)
			}
			if len(r.Warnings) > 0 || len(r.Side) != 1 || r.Side[0].Kept != 3 || r.Side[0].Groups[0].Levels != 13 {
				t.Errorf("got warnings %q and report %+v, want none, three kept rows and 13 levels", r.Warnings, r.Side)
			}
			if got := len(m.IDs(1)); got != 60 {
				t.Errorf("got %d items, want the 60 of the data", got)
			}
			// The differences between months of a new item are those of its vendor.
			for g, id := range map[int]string{1: "new1", 2: "new2"} {
				var cells []kft.Cell
				for month := range 24 {
					cells = append(cells, kft.Cell{"store": "s0", "item": id, "time": monthID(month)})
				}
				p := predictCells(t, m, cells...)
				var predicted, actual []float64
				for month := range p {
					predicted, actual = append(predicted, p[month].Mean), append(actual, v.effect[g][month])
				}
				if c := correlation(predicted, actual); c < 0.85 {
					t.Errorf("%s: got correlation %.2f with the effect of its vendor, want 0.85 or more", id, c)
				}
				if !reflect.DeepEqual(p[0].FromSide, []string{"item"}) || len(p[0].Unseen) > 0 {
					t.Errorf("%s: got modes %q from side information and %q from the prior, want item from side information", id, p[0].FromSide, p[0].Unseen)
				}
			}
			// An item of an unheard vendor and one without a row take the prior.
			p := predictCells(t, m, kft.Cell{"store": "s0", "item": "odd", "time": monthID(3)}, kft.Cell{"store": "s0", "item": "absent", "time": monthID(3)})
			if p[0].Mean != p[1].Mean || p[0].SD != p[1].SD || len(p[0].Unseen) != 1 || len(p[1].Unseen) != 1 {
				t.Errorf("got %+v and %+v, want equal predictions by the prior", p[0], p[1])
			}
		})
	}
}

func correlation(x, y []float64) float64 {
	var sx, sy, xx, yy, xy float64
	n := float64(len(x))
	for i := range x {
		sx, sy, xx, yy, xy = sx+x[i], sy+y[i], xx+x[i]*x[i], yy+y[i]*y[i], xy+x[i]*y[i]
	}
	return (xy - sx*sy/n) / math.Sqrt((xx-sx*sx/n)*(yy-sy*sy/n))
}

// TestGroupsOfNewIDs checks that a side table that is given later has the same effect as
// rows of the fitted side table, and that files, readers and loaded models do not matter.
func TestGroupsOfNewIDs(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	for _, side := range []string{"item=items:vendor:group", "item=items:vendor:cat", "item=items:vendor"} {
		s := v.spec("mean-field", "item.vendor*time", "store,item.vendor:2")
		s.Side.Tables = []string{side}
		m, _ := v.fit(t, s)
		file := modelBytes(t, m)
		loaded := loadBytes(t, file)
		if !bytes.Equal(modelBytes(t, loaded), file) {
			t.Errorf("%s: got other bytes when the loaded model is saved, want equal bytes", side)
		}
		later := withSide(t, loaded, "item="+writeFile(t, "later.csv", "item,vendor,name\nlate,v1,x\nnew2,v1,x\ni5,v1,x\nempty,,x\n"))
		table := writeFile(t, "new.csv", v.text+"s0,new1,2020-03,1\ns0,late,2020-03,1\ns0,new2,2020-03,1\ns0,empty,2020-03,1\ns0,absent,2020-03,1\n")
		lines := linesOf(predictFile(t, later, table, kft.TableOptions{Samples: 2}))
		lines = lines[len(lines)-5:]
		values := func(line string) string { return strings.Join(strings.Split(line, ",")[4:9], ",") }
		if values(lines[0]) != values(lines[1]) || values(lines[1]) != values(lines[2]) {
			t.Errorf("%s: got %q, want equal predictions of new1, late and the replaced row of new2", side, lines[:3])
		}
		for i, origin := range []string{"item:side", "item:side", "item:side", "item:side", "item"} {
			if !strings.HasSuffix(lines[i], ","+origin) || strings.Contains(lines[i], "NaN") {
				t.Errorf("%s: got %q, want finite numbers and the origin %s", side, lines[i], origin)
			}
		}
		if got, want := predictFile(t, reload(t, later), table, kft.TableOptions{Samples: 2}), predictFile(t, later, table, kft.TableOptions{Samples: 2}); got != want {
			t.Errorf("%s: got other predictions from the loaded model, want equal ones", side)
		}
		cell := kft.Cell{"store": "s0", "item": "i5", "time": "2020-03"}
		if got, want := predictCells(t, later, cell), predictCells(t, m, cell); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: item with training rows and a new side row: got %+v, want %+v as before", side, got, want)
		}
		if _, err := loaded.PredictStrict(t.Context(), []kft.Cell{{"store": "s0", "item": "new1", "time": "2020-03"}}); err != nil {
			t.Errorf("%s: got error %v for an item of a known vendor, want none", side, err)
		}
		score, _, err := loaded.Evaluate(t.Context(), v.table, kft.TableOptions{})
		if err != nil || score.R2 < 0.8 {
			t.Errorf("%s: got R2 %.3f and error %v of the whole table, want 0.8 or more", side, score.R2, err)
		}
	}
}

// TestGroupsWithEntitySplit holds out whole items: their groups are all that is known.
func TestGroupsWithEntitySplit(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	s := v.spec("mean-field", "item.vendor*time")
	s.Split = "entity:item=20%"
	m, r := v.fit(t, s)
	plain := v.spec("mean-field")
	plain.Split = s.Split
	_, without := v.fit(t, plain)
	if r.Test.R2 < without.Test.R2+0.1 {
		t.Errorf("got R2 %.3f on held-out items, want at least 0.1 more than %.3f without groups", r.Test.R2, without.Test.R2)
	}
	again, sum, err := m.EvaluatePart(t.Context(), v.table, kft.Test, kft.TableOptions{})
	if err != nil || math.Abs(float64(again.R2-r.Test.R2)) > 1e-9 || sum.Side[1] != sum.Rows {
		t.Errorf("got R2 %v, %d of %d rows from side information and error %v; want %v and all rows", again.R2, sum.Side[1], sum.Rows, err, r.Test.R2)
	}
}

// TestGroupsFromIDs groups months by their calendar month without any side table. A
// future month has the effect of its calendar month.
func TestGroupsFromIDs(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	for _, side := range []string{"", "time=@month:group", "time=@month:cycle12"} {
		s := v.spec("mean-field", "item*time.month", "store,time.year:1")
		if side != "" {
			s.Side.Tables = []string{side}
		}
		m, r := v.fit(t, s)
		if len(r.Side) != 1 || r.Side[0].Groups[0].Levels != 12 || r.Side[0].Groups[1].Levels != 2 {
			t.Fatalf("%s: got reports %+v, want 12 months and 2 years", side, r.Side)
		}
		cell := func(month string) kft.Cell { return kft.Cell{"store": "s0", "item": "i3", "time": month} }
		p := predictCells(t, reload(t, m), cell("2022-05"), cell("2022-06"), cell("2023-05"), cell("never"))
		if p[0].Mean != p[2].Mean || p[0].Mean == p[1].Mean || !reflect.DeepEqual(p[0].FromSide, []string{"time"}) || !reflect.DeepEqual(p[3].Unseen, []string{"time"}) {
			t.Errorf("%s: got %+v, want equal predictions of May in two years, another of June, and the prior for an id that is no date", side, p)
		}
		table := writeFile(t, "future.csv", "store,item,period\ns0,i3,2022-05\ns0,i3,2022-06\n")
		for i, line := range linesOf(predictFile(t, m, table, kft.TableOptions{}))[1:] {
			var got float64
			if _, err := fmt.Sscan(strings.Split(line, ",")[3], &got); err != nil || math.Abs(got-p[i].Mean) > 1e-4 {
				t.Errorf("%s: got %q, want the mean %g as for the cell", side, line, p[i].Mean)
			}
		}
	}
}

// TestGroupsBesideRegressions has joint cores of groups and of modes with side
// information, and a conformal correction by items, of which some are known by their
// group only.
func TestGroupsBesideRegressions(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	for _, variant := range []string{"wlr", "additive", "ls"} {
		t.Run(variant, func(t *testing.T) {
			t.Parallel()
			s := v.spec("mean-field", "store*item.vendor,time:2", "store*item", "item.vendor*time")
			s.Split, s.Side.Variant = "entity:item=30%", variant
			s.Uncertainty.Conformal = "group:item"
			stores := "store,area,kind\ns0,1,a\ns1,2,b\ns2,3,a\ns3,5,b\ns4,8,a\ns5,9,a\nnear,4,b\n"
			s.Side.Tables = []string{"item=items:vendor:group", "store=" + writeFile(t, "stores.csv", stores)}
			m, r := v.fit(t, s)
			if r.Test.R2 < 0.2 {
				t.Errorf("got R2 %.3f on held-out items, want 0.2 or more", r.Test.R2)
			}
			table := writeFile(t, "new.csv", v.text+"near,new1,2020-03,1\nnear,i3,2020-03,1\ns0,new1,2020-03,1\nnear,absent,2020-03,1\n")
			want := predictFile(t, m, table, kft.TableOptions{Samples: 3})
			if strings.Contains(want, "NaN") || predictFile(t, reload(t, m), table, kft.TableOptions{Samples: 3}) != want {
				t.Error("got other predictions from the loaded model, or NaN, want equal numbers")
			}
			lines := linesOf(want)
			for i, origin := range []string{"store:side+item:side", "store:side", "item:side", "store:side+item"} {
				if line := lines[len(lines)-4+i]; !strings.HasSuffix(line, ","+origin) {
					t.Errorf("got %q, want the origin %s", line, origin)
				}
			}
		})
	}
}

// TestResumedFitWithGroups stops a fit several times, and rejects a checkpoint of other
// groups.
func TestResumedFitWithGroups(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	items := "item,vendor\n"
	for i := range 60 {
		items += fmt.Sprintf("i%d,v%d\n", i, i%12)
	}
	spec := v.spec("mean-field", "item.vendor*time")
	spec.Data.Files = []string{writeFile(t, "table.csv", v.text)}
	spec.Side.Tables = []string{"item=items:vendor:group"}
	spec.Fit.Sweeps = 4
	options := func(items string) kft.Options {
		return kft.Options{Tables: map[string]kft.Source{"items": kft.Files(writeFile(t, "items.csv", items))}}
	}
	whole, _ := fit(t, spec, options(items))
	opt := options(items)
	opt.Checkpoint, opt.Resume = t.TempDir(), true
	resumed, runs := fitWithInterruptions(t, spec, opt, 7)
	if !bytes.Equal(modelBytes(t, resumed), modelBytes(t, whole)) {
		t.Errorf("after %d runs: got a file that differs from that of one run, want equal bytes", runs)
	}
	other := options(strings.Replace(items, "i7,v7", "i7,v8", 1))
	other.Checkpoint, other.Resume = opt.Checkpoint, true
	checkForeignCheckpoint(t, spec, other, "the side information differs")
}

// TestGroupsOfCounts fits counts with groups, with draws of cells of new items.
func TestGroupsOfCounts(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	rng := rand.New(rand.NewPCG(3, 4))
	var store, item, month []string
	var count []int
	for _, line := range linesOf(v.text)[1:] {
		field := strings.Split(line, ",")
		var i, year, m int
		if _, err := fmt.Sscanf(field[1]+" "+field[2], "i%d %d-%d", &i, &year, &m); err != nil {
			t.Fatal(err)
		}
		m += 12*(year-2020) - 1
		rate, n, product := math.Exp(1.5+v.effect[i%12][m]/2), 0, rng.Float64()
		for limit := math.Exp(-rate); product > limit; n++ {
			product *= rng.Float64()
		}
		store, item, month, count = append(store, field[0]), append(item, field[1]), append(month, field[2]), append(count, n)
	}
	var err error
	if v.table, err = kft.Columns(kft.StringColumn("store", store), kft.StringColumn("item", item), kft.StringColumn("period", month), kft.IntColumn("y", count)); err != nil {
		t.Fatal(err)
	}
	s := v.spec("mean-field", "item.vendor*time")
	s.Uncertainty.Likelihood = "poisson"
	m, r := v.fit(t, s)
	plain := v.spec("mean-field")
	plain.Uncertainty.Likelihood = "poisson"
	_, without := v.fit(t, plain)
	if r.Test.R2 < without.Test.R2+0.1 {
		t.Errorf("got R2 %.3f, want at least 0.1 more than %.3f without groups", r.Test.R2, without.Test.R2)
	}
	draws, err := m.Samples(t.Context(), []kft.Cell{{"store": "s0", "item": "new1", "time": monthID(2)}, {"store": "s1", "item": "new2", "time": monthID(3)}}, 50)
	if err != nil || len(draws) != 2 {
		t.Errorf("got %d rows of draws and error %v, want 2", len(draws), err)
	}
}

// TestGroupErrors checks the messages for columns that are no groups.
func TestGroupErrors(t *testing.T) {
	t.Parallel()
	v := newVendorTable(t)
	for _, test := range []struct{ term, side, want string }{
		{"item.vendr*time", "item=items", `did you mean "vendor"?`},
		{"item.vendr*time", "item=items:vendor:group", `did you mean "vendor"?`},
		{"item.name*time", "item=items:vendor:group", "item.name has another value for every item (60 levels), so its groups are the ids; use item itself"},
		{"store.city*time", "item=items:vendor:group", "terms[3]: store.city: mode store has no side table with a column city"},
	} {
		s := v.spec("map", test.term)
		s.Side.Tables = []string{test.side}
		_, _, err := kft.Fit(t.Context(), s, v.table, v.options())
		checkErrorText(t, err, test.want)
	}
	s := v.spec("map")
	s.Side.Tables = []string{"item=items:vendor:group"}
	_, r := v.fit(t, s)
	if want := "the column vendor of the side table of item has no effect: its type is group, and no term has item.vendor"; !slices.Contains(r.Warnings, want) {
		t.Errorf("got warnings %q, want %q", r.Warnings, want)
	}
}
