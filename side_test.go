package kft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/model"
)

// shop is a made-up table of stores x items x months whose logarithm depends on
// the stores' and items' side columns: size and region, price and kind.
type shop struct {
	dir    string
	stores []string // ids
	items  []string
	level  func(store, item, month int) float64
}

const shopMonths = 6

var (
	regions = []string{"north", "south", "west"}
	kinds   = []string{"gin", "rum", "wine", "beer"}
)

// newShop writes sales.csv, stores.csv and items.csv. Every pair of store and item
// sells, in some months, but for those that leave out tells; the last store has
// no side row, and stores.csv has a row of a store that sells nothing.
func newShop(t testing.TB, stores, items int, leaveOut func(store, item int) bool) *shop {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 5))
	s := &shop{dir: t.TempDir()}
	var storeText, itemText, sales strings.Builder
	storeText.WriteString("store,region,size\n")
	itemText.WriteString("item,kind,price\n")
	size, region, storeOwn := make([]float64, stores), make([]int, stores), make([]float64, stores)
	for i := range stores {
		s.stores = append(s.stores, fmt.Sprintf("s%d", i))
		size[i], region[i], storeOwn[i] = rng.Float64(), i%len(regions), 0.1*rng.NormFloat64()
		if i < stores-1 {
			fmt.Fprintf(&storeText, "s%d,%s,%.4f\n", i, regions[region[i]], size[i])
		}
	}
	fmt.Fprintf(&storeText, "closed,north,0.5000\n")
	price, kind, itemOwn := make([]float64, items), make([]int, items), make([]float64, items)
	for i := range items {
		s.items = append(s.items, fmt.Sprintf("i%d", i))
		price[i], kind[i], itemOwn[i] = rng.Float64(), i%len(kinds), 0.1*rng.NormFloat64()
		fmt.Fprintf(&itemText, "i%d,%s,%.4f\n", i, kinds[kind[i]], price[i])
	}
	taste := make([]float64, len(regions)*len(kinds))
	for i := range taste {
		taste[i] = 0.5 * rng.NormFloat64()
	}
	s.level = func(store, item, month int) float64 {
		return 3 + math.Sin(4*size[store]) + 0.9*math.Cos(4*price[item]) + taste[region[store]*len(kinds)+kind[item]] +
			storeOwn[store] + itemOwn[item] + 0.3*math.Sin(float64(month))
	}
	sales.WriteString("store,item,month,units\n")
	for a := range stores {
		for b := range items {
			for m := range shopMonths {
				// The draws do not depend on what is left out.
				noise, sold := 0.15*rng.NormFloat64(), rng.IntN(2) == 0
				if sold && (leaveOut == nil || !leaveOut(a, b)) {
					fmt.Fprintf(&sales, "s%d,i%d,%d,%.4f\n", a, b, m+1, math.Exp(s.level(a, b, m)+noise))
				}
			}
		}
	}
	s.write(t, "sales.csv", sales.String())
	s.write(t, "stores.csv", storeText.String())
	s.write(t, "items.csv", itemText.String())
	return s
}

func (s *shop) path(name string) string { return filepath.Join(s.dir, name) }

func (s *shop) write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return s.path(name)
}

func (s *shop) read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// spec is a small fit of a fixed penalty with both side tables.
func (s *shop) spec(variant, space string) kft.Spec {
	return kft.Spec{
		Version:   model.Version,
		Data:      model.DataSpec{Files: []string{s.path("sales.csv")}, Target: "units", Modes: []string{"store", "item", "month"}},
		Transform: "log1p",
		Terms:     []string{"store,item,month:4"},
		Side:      model.SideSpec{Tables: []string{"store=" + s.path("stores.csv"), "item=" + s.path("items.csv")}, Variant: variant, Space: space},
		Fit:       model.FitSpec{Sweeps: 4, Ridge: "uniform", Lambda: model.LambdaOf(1)},
	}
}

// plain is the same without side information.
func (s *shop) plain() kft.Spec {
	spec := s.spec("plain", "dual")
	spec.Side = model.SideSpec{}
	return spec
}

func saved(t testing.TB, m *kft.Model) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func loaded(t testing.TB, text []byte) *kft.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.kft")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := kft.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func predicted(t testing.TB, m *kft.Model, table string) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := m.PredictFile(t.Context(), table, &out, kft.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func withSide(t testing.TB, m *kft.Model, tables ...string) *kft.Model {
	t.Helper()
	grown, err := m.WithSide(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	return grown
}

func medianOf(t testing.TB, m *kft.Model, store, item, month string) float64 {
	t.Helper()
	p, err := m.Predict([]kft.Cell{{"store": store, "item": item, "month": month}})
	if err != nil {
		t.Fatal(err)
	}
	return p[0].Median
}

// Every variant in every space trains, and its model file predicts what the model
// did, bit for bit: known ids, new ids with a side row and new ids without.
func TestSideForms(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	s.write(t, "new_stores.csv", "store,region,size\nn0,south,0.3\nn1,nowhere,\n")
	table := s.write(t, "new.csv", s.read(t, "sales.csv")+"n0,i3,2,1\nn1,i4,2,1\nn2,i4,2,1\nclosed,i4,2,1\n")
	for _, variant := range []string{"plain", "side", "wlr", "ls", "additive"} {
		for _, space := range []string{"primal", "primal-rff", "dual", "dual-rff", "dual-paper"} {
			t.Run(variant+" "+space, func(t *testing.T) {
				spec := s.spec(variant, space)
				m, r := fitSales(t, spec, kft.Options{})
				if v := r.Test.R2Scale; !(v > 0.3 && v <= 1) {
					t.Errorf("R2 on test rows %g", v)
				}
				text := saved(t, m)
				again := loaded(t, text)
				if !bytes.Equal(saved(t, again), text) {
					t.Error("a loaded model saves to other bytes")
				}
				if predicted(t, again, table) != predicted(t, m, table) {
					t.Error("a loaded model predicts otherwise")
				}
				if variant == "plain" {
					return // WithSide refuses it
				}
				stores := "store=" + s.path("new_stores.csv")
				grown, grownAgain := predicted(t, withSide(t, m, stores), table), predicted(t, withSide(t, again, stores), table)
				if grown != grownAgain {
					t.Error("with new side rows a loaded model predicts otherwise")
				}
				checkGrown(t, predicted(t, m, table), grown)
			})
		}
	}
}

// checkGrown expects side rows of n0 and n1 to change their predictions alone.
func checkGrown(t *testing.T, before, after string) {
	t.Helper()
	a, b := strings.Split(strings.TrimSpace(before), "\n"), strings.Split(strings.TrimSpace(after), "\n")
	if len(a) != len(b) {
		t.Fatalf("%d and %d lines", len(a), len(b))
	}
	for i := range a {
		new := strings.HasPrefix(a[i], "n0,") || strings.HasPrefix(a[i], "n1,")
		switch {
		case strings.Contains(b[i], "NaN"):
			t.Errorf("%s", b[i])
		case new && (a[i] == b[i] || !strings.HasSuffix(b[i], ",store:side") || !strings.HasSuffix(a[i], ",store")):
			t.Errorf("a new side row turns %q to %q", a[i], b[i])
		case !new && a[i] != b[i]:
			t.Errorf("side rows of other stores turn %q to %q", a[i], b[i])
		}
	}
}

// A fit with side information that is stopped and resumed ends in the same file;
// a checkpoint of other side information is refused.
func TestSideCheckpoint(t *testing.T) {
	s := newShop(t, 12, 14, nil)
	for solver, pause := range map[string]int{"als": 61, "adam": 4} { // blocks before a stop
		spec := s.spec("wlr", "dual")
		spec.Terms = []string{"store,item,month:3", "store*item,month:1@additive", "store,item:2@ls:1:2"}
		spec.Fit = model.FitSpec{Solver: solver, Sweeps: 5, Epochs: 3}
		whole, _ := fitSales(t, spec, kft.Options{})
		want := saved(t, whole)
		opt := kft.Options{Checkpoint: t.TempDir(), Resume: true}
		var m *kft.Model
		stops := 0
		for stopped := true; stopped; stops++ {
			ctx, cancel := context.WithCancel(t.Context())
			blocks := 0
			opt.Progress = func(e kft.Event) {
				if e.Fit != nil && e.Fit.Point == nil {
					if blocks++; blocks == pause {
						cancel()
					}
				}
			}
			var r *kft.Report
			var err error
			m, r, err = kft.Fit(ctx, spec, opt)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			stopped = r.Stop == fit.Interrupted
		}
		if stops < 3 {
			t.Errorf("%s: stopped %d times only", solver, stops-1)
		}
		if !bytes.Equal(saved(t, m), want) {
			t.Errorf("%s: the resumed fit ends in another file", solver)
		}
		old := s.read(t, "stores.csv")
		s.write(t, "stores.csv", strings.Replace(old, "s1,south", "s1,north", 1))
		if _, _, err := kft.Fit(t.Context(), spec, opt); err == nil || !strings.Contains(err.Error(), "the side information differs") {
			t.Errorf("%s: a checkpoint of another side table was taken: %v", solver, err)
		}
		s.write(t, "stores.csv", old)
	}
}

// Neither the number of threads nor the order of a side table's rows changes a
// bit of the model file.
func TestSideThreadsAndRowOrder(t *testing.T) {
	s := newShop(t, 30, 40, nil)
	spec := s.spec("wlr", "dual")
	spec.Terms = append(spec.Terms, "store*item,month:1")
	var want []byte
	for _, threads := range []int{1, 2, 8} {
		m, _ := fitSales(t, spec, kft.Options{Threads: threads})
		if want == nil {
			want = saved(t, m)
		}
		if !bytes.Equal(saved(t, m), want) {
			t.Errorf("%d threads give another file than 1", threads)
		}
	}
	for _, name := range []string{"stores.csv", "items.csv"} {
		lines := strings.Split(strings.TrimSpace(s.read(t, name)), "\n")
		slices.Reverse(lines[1:])
		s.write(t, name, strings.Join(lines, "\n")+"\n")
	}
	m, _ := fitSales(t, spec, kft.Options{})
	if !bytes.Equal(saved(t, m), want) {
		t.Error("side tables in another order give another file")
	}
}

// Side information that says something does not harm, nor does what says
// nothing, in the forms that are built for that.
func TestSideDoesNotHarm(t *testing.T) {
	s := newShop(t, 24, 30, nil)
	tuned := func(spec kft.Spec) kft.Score {
		spec.Fit = model.FitSpec{Sweeps: 15}
		_, r := fitSales(t, spec, kft.Options{})
		return r.Test
	}
	plain := tuned(s.plain()).R2Scale
	for _, variant := range []string{"wlr", "additive"} {
		for _, replace := range []string{"", "constant", "noise"} {
			spec := s.spec(variant, "dual")
			spec.Side.Replace = replace
			r2 := tuned(spec).R2Scale
			t.Logf("%s, replaced by %q: R2 %.3f, plain %.3f", variant, replace, r2, plain)
			if r2 < plain-0.03 {
				t.Errorf("%s, replaced by %q: R2 %.3f, plain has %.3f", variant, replace, r2, plain)
			}
		}
	}
}

// Items that were never trained on are predicted from their side rows, far better
// than by a plain model, which is little better than the mean.
func TestSideUnseenEntities(t *testing.T) {
	s := newShop(t, 24, 60, nil)
	held := func(spec kft.Spec) float64 {
		spec.Split = "entity:item=20%"
		spec.Fit = model.FitSpec{Sweeps: 15}
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
		spec.Side.Replace = replace
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
		{"side", "primal"}, {"side", "dual"}, {"side", "dual-rff"}, {"side", "dual-paper"}, {"wlr", "primal"}, {"wlr", "dual"}, {"additive", "dual"}, {"ls", "primal-rff"},
	} {
		t.Run(c.variant+" "+c.space, func(t *testing.T) {
			spec := s.spec(c.variant, c.space)
			spec.Split = "entity:store=30%"
			m, _ := fitSales(t, spec, kft.Options{})
			var trained, untrained string
			for _, id := range s.stores[:len(s.stores)-1] {
				p, err := m.Predict([]kft.Cell{{"store": id, "item": "i1", "month": "1"}})
				if err != nil || len(p[0].Unknown) > 0 {
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
	spec := s.spec("wlr", "dual")
	spec.Data.Files[0], spec.Split = s.write(t, "parted.csv", strings.Join(lines, "\n")+"\n"), "column:part"
	m, _ := fitSales(t, spec, kft.Options{})
	grown := withSide(t, m, "store="+s.write(t, "new.csv", "store,region,size\ns15,south,0.4\nn0,south,0.4\n"))
	for _, item := range []string{"i0", "i7"} {
		old, described, other := medianOf(t, m, "s15", item, "2"), medianOf(t, grown, "s15", item, "2"), medianOf(t, grown, "n0", item, "2")
		if math.Abs(described-other) > 1e-5*other || described == old {
			t.Errorf("%s: s15 is predicted %g, with a side row %g, another store with that row %g", item, old, described, other)
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
	score, sum, err := m.Evaluate(t.Context(), s.write(t, "test.csv", strings.Join(test, "\n")+"\n"), kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(score.R2-r.Test.R2) > 1e-5 || math.Abs(score.MAE-r.Test.MAE) > 1e-5*r.Test.MAE {
		t.Errorf("%+v, the fit said %+v", score, r.Test)
	}
	if !slices.Equal(sum.Side, []int{side, 0, 0}) || !slices.Equal(sum.Unknown, []int{unknown, 0, 0}) {
		t.Errorf("%+v, there are %d rows of a described store and %d of one that is not", sum, side, unknown)
	}
	if side == 0 || unknown == 0 {
		t.Error("nothing to count")
	}
}

// With constant side information a core of the variant side is the same for all
// ids; with rows that differ, in dual space, it can be anything, as plain can.
func TestSideOfConstantAndOfAll(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	spec := s.spec("side", "primal")
	spec.Side.Replace = "constant:store"
	m, _ := fitSales(t, spec, kft.Options{})
	for _, store := range s.stores {
		if a, b := medianOf(t, m, store, "i3", "2"), medianOf(t, m, "s0", "i3", "2"); a != b {
			t.Errorf("store %s is predicted %g, s0 %g, on constant side information", store, a, b)
		}
	}
	s.write(t, "stores.csv", s.read(t, "stores.csv")+"s15,west,0.77\n")
	train := func(spec kft.Spec) float64 {
		spec.Fit.Lambda, spec.Fit.Sweeps = model.LambdaOf(1e-3), 40
		_, r := fitSales(t, spec, kft.Options{})
		return r.Train.R2Scale
	}
	plain := train(s.plain())
	if all := train(s.spec("side", "dual")); math.Abs(all-plain) > 0.01 {
		t.Errorf("side with a row of its own for each id: R2 of training rows %.4f, plain %.4f", all, plain)
	}
	for _, variant := range []string{"wlr", "additive", "ls"} {
		spec := s.spec(variant, "primal")
		spec.Side.Replace = "constant"
		if constant := train(spec); constant < plain-0.01 {
			t.Errorf("%s on constant side information: R2 of training rows %.4f, plain %.4f", variant, constant, plain)
		}
	}
}

// The dual form of the paper is badly conditioned: it ends in a model of finite
// numbers, or in words.
func TestDualPaperNeverNaN(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	for _, rate := range []float64{0.03, 1, 50} {
		for _, variant := range []string{"side", "wlr"} {
			spec := s.spec(variant, "dual-paper")
			spec.Fit = model.FitSpec{Solver: "adam", Rate: rate, Epochs: 4, Ridge: "uniform", Lambda: model.LambdaOf(1e-6)}
			m, r, err := kft.Fit(t.Context(), spec, kft.Options{})
			if err != nil {
				var diverged *fit.DivergedError
				if !errors.As(err, &diverged) || !strings.Contains(err.Error(), "--rate") {
					t.Errorf("%s, rate %g: %v", variant, rate, err)
				}
				continue
			}
			if math.IsNaN(r.Train.R2) || math.IsNaN(r.Test.MAE) || strings.Contains(predicted(t, m, s.path("sales.csv")), "NaN") {
				t.Errorf("%s, rate %g: %+v", variant, rate, r.Test)
			}
		}
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
			score, sum, err := m.Evaluate(t.Context(), held, kft.TableOptions{})
			if err != nil || slices.Max(sum.Unknown) != 0 {
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

// Each term may have its own variant, and latent scaling its own ranks.
func TestSideTermVariants(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	spec := s.spec("additive", "dual")
	spec.Terms = []string{"store,item,month:4@ls:2:3", "store,item:2", "month@wlr", "store,month:2@plain", "item@side"}
	m, r := fitSales(t, spec, kft.Options{})
	var got []string
	for _, term := range m.Terms() {
		text := ""
		for _, c := range term.Cores {
			text += fmt.Sprintf("%s %s %d;", c.Name, c.Variant, c.Right)
		}
		got = append(got, text)
	}
	want := []string{
		"store plain 2;item plain 2;month plain 1;", "store side 4;item side 4;month plain 1;", "store plain 3;item plain 3;month plain 1;",
		"store additive 2;item additive 1;", "month plain 1;", "store plain 2;month plain 1;", "item side 1;",
	}
	if !slices.Equal(got, want) {
		t.Errorf("terms %q, want %q", got, want)
	}
	if !(r.Test.R2Scale > 0.8) {
		t.Errorf("R2 %g", r.Test.R2Scale)
	}
	if predicted(t, loaded(t, saved(t, m)), s.path("sales.csv")) != predicted(t, m, s.path("sales.csv")) {
		t.Error("a loaded model predicts otherwise")
	}
}

// What the report says of the tables.
func TestSideReport(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	s.write(t, "items.csv", strings.ReplaceAll(s.read(t, "items.csv"), "\n", ",x\n"))
	m, r := fitSales(t, s.spec("wlr", "dual"), kft.Options{})
	if len(r.Side) != 2 || len(m.Training().Side) != 2 {
		t.Fatalf("%+v", r.Side)
	}
	stores, items := r.Side[0], r.Side[1]
	if stores.Mode != "store" || stores.Table.Matched != 15 || stores.Table.Unmatched != 1 || stores.Table.ExtraRows != 1 || stores.Kernel != "matern32" || stores.Columns < 2 {
		t.Errorf("%+v", stores)
	}
	if len(items.Table.Columns) != 3 || !items.Table.Columns[2].Constant || items.Table.Columns[0].Type != "cat" || !items.Table.Columns[1].Guessed {
		t.Errorf("%+v", items)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `side information of item: column "x" is left out: all values are alike`) {
		t.Errorf("warnings %q", r.Warnings)
	}
}

// WithSide refuses what the model cannot use, in words.
func TestWithSideRefuses(t *testing.T) {
	s := newShop(t, 16, 20, nil)
	m, _ := fitSales(t, s.spec("wlr", "dual"), kft.Options{})
	spec := s.spec("wlr", "dual")
	spec.Side.Replace = "noise"
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
		{m, []string{good, good}, "mode store has a table already"},
		{m, []string{"store=" + s.path("none.csv")}, "no such file"},
		{m, []string{"store=" + s.write(t, "short.csv", "store,region\nn0,south\n")}, `column "size"`},
		{m, []string{"store=" + s.write(t, "text.csv", "store,region,size\nn0,south,big\n")}, `text.csv, line 2, column "size", value "big"`},
		{m, []string{"store=" + s.write(t, "twice.csv", "store,region,size\nn0,south,1\nn0,north,2\n")}, "given on line 2 already"},
	} {
		if _, err := c.m.WithSide(t.Context(), c.tables); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want something with %q", c.tables, err, c.want)
		}
	}
	if err := withSide(t, m, good).Save(s.path("m.kft")); err == nil || !strings.Contains(err.Error(), "cannot be saved") {
		t.Errorf("a model with new side rows was saved: %v", err)
	}
}
