package explain_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/explain"
	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// sales returns a table of 8 stores, 12 items and 24 months in which the price of an item
// halves its sales per unit of price, with side tables of items and stores.
func sales(t *testing.T) (source tableio.Source, tables map[string]tableio.Source) {
	t.Helper()
	var stores, items, months, price, vendor, ids, area, shops []string
	var units []float64
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("i%d", i))
		price = append(price, fmt.Sprint(1+float64(i%4)))
		vendor = append(vendor, []string{"north", "south", "west"}[i%3])
	}
	for s := range 8 {
		shops, area = append(shops, fmt.Sprintf("s%d", s)), append(area, fmt.Sprint(50+10*(s%5)))
		for i := range 12 {
			for m := range 24 {
				if (s*7+i*5+m*3)%4 == 0 {
					continue
				}
				level := 4 - 0.7*float64(i%4) + 0.1*float64(s) + 0.05*float64(i) + 0.3*math.Sin(float64(m)*math.Pi/6)
				stores, items, months = append(stores, shops[s]), append(items, ids[i]), append(months, fmt.Sprintf("%d-%02d", 2023+m/12, m%12+1))
				units = append(units, math.Round(math.Exp(level+0.1*math.Sin(float64(s*31+i*17+m*13)))))
			}
		}
	}
	return columns(t, dataset.StringColumn("store", stores), dataset.StringColumn("item", items), dataset.StringColumn("month", months), dataset.FloatColumn("units", units)),
		map[string]tableio.Source{
			"items":  columns(t, dataset.StringColumn("item", ids), dataset.StringColumn("price", price), dataset.StringColumn("vendor", vendor)),
			"stores": columns(t, dataset.StringColumn("store", shops), dataset.StringColumn("area", area)),
		}
}

func columns(t *testing.T, c ...dataset.Column) tableio.Source {
	t.Helper()
	all, err := dataset.NewColumns(c...)
	if err != nil {
		t.Fatal(err)
	}
	return tableio.Columns(all)
}

// specs are models of all kinds: variants, spaces, joint cores, groups, counts, posteriors.
var specs = map[string]func(*spec.Spec){
	"plain":    func(s *spec.Spec) { s.Terms = []string{"store,item,month:2", "store*item"} },
	"additive": func(s *spec.Spec) { s.Terms = []string{"store,item,month:2", "item"}; s.Side.Variant = "additive" },
	"wlr": func(s *spec.Spec) {
		s.Terms = []string{"store,item,month:2"}
		s.Side.Variant = "wlr"
		s.Side.Space = "dual"
	},
	"side":  func(s *spec.Spec) { s.Terms = []string{"store,item:2", "month"}; s.Side.Variant = "side" },
	"ls":    func(s *spec.Spec) { s.Terms = []string{"store,item,month:2"}; s.Side.Variant = "ls" },
	"joint": func(s *spec.Spec) { s.Terms = []string{"store*item,month:1"}; s.Side.Variant = "additive" },
	"groups": func(s *spec.Spec) {
		s.Terms = []string{"store,item:1", "item.vendor,month:1"}
		s.Side.Variant = "additive"
	},
	"posterior": func(s *spec.Spec) {
		s.Terms, s.Side.Variant, s.Uncertainty.Inference = []string{"store,item,month:2"}, "additive", "mean-field"
	},
	"series": func(s *spec.Spec) {
		s.Terms, s.Side.Variant, s.Uncertainty.Inference = []string{"store", "item", "series(store*item; month)"}, "additive", "mean-field"
	},
	"counts": func(s *spec.Spec) {
		s.Terms, s.Transform, s.Uncertainty.Likelihood, s.Uncertainty.Inference = []string{"store,item:1", "month"}, "identity", "poisson", "mean-field"
	},
}

func fit(t *testing.T, name string) (*model.Model, tableio.Source) {
	t.Helper()
	source, tables := sales(t)
	s := spec.Default()
	s.Data.Target, s.Data.Modes, s.Transform = "units", []string{"store", "item", "month"}, "log1p"
	if name != "plain" && name != "counts" {
		s.Side.Tables = []string{"item=items", "store=stores"}
	}
	s.Fit = spec.Fit{Sweeps: 6}
	specs[name](&s)
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, source, train.Options{Threads: 1, Tables: tables})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return reload(t, m), source
}

func reload(t *testing.T, m *model.Model) *model.Model {
	t.Helper()
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	again, err := model.Read(&file, "model")
	if err != nil {
		t.Fatal(err)
	}
	return again
}

var cells = []model.Cell{
	{"store": "s1", "item": "i3", "month": "2023-05"}, {"store": "s7", "item": "i0", "month": "2024-12"},
	{"store": "new", "item": "i2", "month": "2023-01"}, {"store": "new", "item": "new", "month": "new"},
}

// TestOrdinalSteps checks that the steps of an ordinal target are values between its lowest
// and highest level, and that the sum of the parts leads near the mean.
func TestOrdinalSteps(t *testing.T) {
	t.Parallel()
	var stores, items []string
	var stars []float64
	for s := range 30 {
		for i := range 30 {
			stores, items = append(stores, fmt.Sprint("s", s)), append(items, fmt.Sprint("i", i))
			stars = append(stars, float64(3+min(max(math.Round(math.Sin(float64(s))+math.Cos(float64(i))+0.7*math.Sin(float64(s*31+i*17))), -1), 1)))
		}
	}
	spc := spec.Default()
	spc.Data.Target, spc.Data.Modes, spc.Terms = "stars", []string{"store", "item"}, []string{"store", "item"}
	spc.Uncertainty.Likelihood, spc.Uncertainty.Inference = "ordinal", "mean-field"
	spc.Fit = spec.Fit{Sweeps: 20}
	spc.Fill()
	m, _, err := train.ReadAndFit(t.Context(), spc, columns(t, dataset.StringColumn("store", stores), dataset.StringColumn("item", items), dataset.FloatColumn("stars", stars)), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, err := explain.Cells(t.Context(), reload(t, m), []model.Cell{{"store": "s8", "item": "i6"}, {"store": "s11", "item": "i3"}}, explain.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		for _, step := range e.Steps {
			if step.To < 2 || step.To > 4 {
				t.Errorf("%v: step %q leads to %v, want stars from 2 to 4", e.Cell, step.Label, step.To)
			}
		}
		if last := e.Steps[len(e.Steps)-1]; math.Abs(float64(last.To-last.From)) > 0.3 {
			t.Errorf("%v: the sum of the parts is %v stars, want about the mean %v", e.Cell, last.From, last.To)
		}
	}
}

// TestSums checks for all kinds of models that terms and parts sum to the level, and that
// the level is that of the prediction.
func TestSums(t *testing.T) {
	t.Parallel()
	for name := range specs {
		m, _ := fit(t, name)
		got, err := explain.Cells(t.Context(), m, cells, explain.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		predictions, err := m.Predict(t.Context(), cells, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range got {
			terms, parts := e.Offset, e.Average
			for _, term := range e.Terms {
				terms += term.Value
				if sum := term.Average + term.Own + term.Side; math.Abs(sum-term.Value) > 1e-12 {
					t.Errorf("%s, cell %d, term %s: got value %v, want the sum %v", name, i, term.Term, term.Value, sum)
				}
			}
			for _, p := range e.Parts {
				parts += p.Value
			}
			if math.Abs(terms-e.Level) > 1e-12 || math.Abs(parts-e.Level) > 1e-12 {
				t.Errorf("%s, cell %d: terms sum to %v and parts to %v, want the level %v", name, i, terms, parts, e.Level)
			}
			if want := predictions[i].Distribution().Location(); math.Abs(e.Level-want) > 1e-5 {
				t.Errorf("%s, cell %d: got level %v, the model has %v", name, i, e.Level, want)
			}
			if e.Prediction != predictions[i].Mean || !slices.Equal(e.Unseen, predictions[i].Unseen) {
				t.Errorf("%s, cell %d: got prediction %v and unseen %v, want %v and %v", name, i, e.Prediction, e.Unseen, predictions[i].Mean, predictions[i].Unseen)
			}
			if last := e.Steps[len(e.Steps)-1]; float64(last.To) != e.Prediction {
				t.Errorf("%s, cell %d: the last step leads to %v, want %v", name, i, last.To, e.Prediction)
			}
		}
		if last := got[len(got)-1]; math.Abs(last.Level-last.Average) > 1e-12 || len(last.Parts) != 0 {
			t.Errorf("%s: a cell of unknown ids has parts %+v, want the average", name, last.Parts)
		}
	}
}

// TestSources checks that parts belong to sources that the model has.
func TestSources(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]bool{
		"plain": {explain.Own: true}, "additive": {explain.Own: true, explain.Side: true}, "side": {explain.Own: true, explain.Side: true},
	} {
		m, _ := fit(t, name)
		got, err := explain.Cells(t.Context(), m, cells[:1], explain.Options{Neighbours: -1})
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, p := range got[0].Parts {
			found[p.Source] = true
			if name == "side" && p.Mode != "month" && p.Source == explain.Own {
				t.Errorf("side: %s has own weights in %+v", p.Mode, p)
			}
		}
		if fmt.Sprint(found) != fmt.Sprint(want) {
			t.Errorf("%s: got sources %v, want %v", name, found, want)
		}
		if got[0].Neighbours != nil {
			t.Errorf("%s: got neighbours that nobody asked for", name)
		}
	}
}

func TestWhatIf(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, "additive")
	x, err := explain.New(m)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(changes ...explain.Change) (explain.Explanation, error) {
		got, err := x.Cells(t.Context(), cells[:1], explain.Options{WhatIf: changes})
		if err != nil {
			return explain.Explanation{}, err
		}
		return got[0], nil
	}
	same, err := ask(explain.Change{Mode: "item", Column: "price", Value: "4"}) // that of i3
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(same.WhatIf.Level-same.Level) > 1e-6 || same.WhatIf.Changes[0].Before != "4" {
		t.Errorf("the present price: got level %v before %q, want %v and 4", same.WhatIf.Level, same.WhatIf.Changes[0].Before, same.Level)
	}
	lower, err := ask(explain.Change{Mode: "item", Column: "price", Value: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if lower.WhatIf.Prediction < 1.5*lower.Prediction || lower.WhatIf.Low < lower.Low {
		t.Errorf("a lower price: got %+v, want much more than %v", lower.WhatIf, lower.Prediction)
	}
	for value, want := range map[string][]string{"south": nil, "east": {"east"}, "": nil} {
		got, err := ask(explain.Change{Mode: "item", Column: "vendor", Value: value})
		if err != nil {
			t.Fatal(err)
		}
		var words strings.Builder
		if err := got.WriteText(&words); err != nil {
			t.Fatal(err)
		}
		if c := got.WhatIf.Changes[0]; !slices.Equal(c.New, want) || strings.Contains(words.String(), "no item has "+value) != (want != nil) {
			t.Errorf("vendor %q: got new levels %q, want %q, in\n%s", value, c.New, want, words.String())
		}
	}
	price := explain.Change{Mode: "item", Column: "price", Value: "1"}
	if _, err := ask(price, price); err == nil || !strings.Contains(err.Error(), "item.price is changed twice") {
		t.Errorf("a column that is changed twice: got error %v", err)
	}
	for text, want := range map[string]string{
		"item.prise=1": `has no column "prise" (did you mean "price"?)`, "item.price=cheap": "not a number", "month.year=3": "does not use side information of mode month",
		"itme.price=1": `no mode "itme"`, "price": "not of the form MODE.COLUMN=VALUE", "item=3": "not of the form",
	} {
		change, err := explain.ParseChange(text, m.Modes())
		if err == nil {
			_, err = ask(change)
		}
		var wrong *explain.ChangeError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want a ChangeError with %q", text, err, want)
		}
	}
}

func TestWhatIfGroup(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, "groups")
	got, err := explain.Cells(t.Context(), m, cells[:1], explain.Options{WhatIf: []explain.Change{{Mode: "item", Column: "vendor", Value: "south"}}})
	if err != nil {
		t.Fatal(err)
	}
	if w := got[0].WhatIf; w.Level == got[0].Level || w.Changes[0].Before != "north" {
		t.Errorf("got %+v, want another level than %v and the vendor north before", w, got[0].Level)
	}
	_, err = explain.Cells(t.Context(), m, cells[:1], explain.Options{WhatIf: []explain.Change{{Mode: "item", Column: "vendor", Value: "east"}}})
	if err == nil || !strings.Contains(err.Error(), "no item of the training data has this value") {
		t.Errorf("unknown vendor: got error %v", err)
	}
}

// TestNeighbours checks that the nearest ids are those that the table makes alike.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, "additive")
	got, err := explain.Cells(t.Context(), m, cells[:1], explain.Options{Neighbours: 3})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, n := range got[0].Neighbours {
		found[n.Mode+" by "+n.By] = true
		if n.Mode == "item" && (n.Side["price"] != "4" || n.Side["vendor"] != "north" || n.Nearest[0].Side["price"] == "") {
			t.Errorf("got the side row %v of i3 and %v", n.Side, n.Nearest[0].Side)
		}
		if len(n.Nearest) != 3 || n.Rows == 0 || n.Mean == nil {
			t.Errorf("got %+v, want three neighbours and the training rows of the id", n)
		}
		for i, near := range n.Nearest {
			if near.ID == n.ID || near.Rows == 0 || near.Mean == nil || i > 0 && near.Distance < n.Nearest[i-1].Distance {
				t.Errorf("got %+v near %s, want other ids with training rows in order of distance", near, n.ID)
			}
		}
		if nearest := n.Nearest[0].ID; n.Mode == "item" && n.By == explain.ByFactors && nearest != "i7" && nearest != "i11" { // those of the same price
			t.Errorf("got %s nearest to i3 by %s", nearest, n.By)
		}
	}
	if want := "item by learned factors item by side information month by learned factors store by learned factors store by side information"; strings.Join(sorted(found), " ") != want {
		t.Errorf("got neighbourhoods %v, want %s", sorted(found), want)
	}
}

// TestEmbed checks that distances of the embedding are those of the neighbours.
func TestEmbed(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, "wlr")
	x, err := explain.New(m)
	if err != nil {
		t.Fatal(err)
	}
	const item, i3 = 1, "i3"
	var codes []int32
	for code := range m.IDs(item) {
		codes = append(codes, int32(code))
	}
	e := x.Embed(item, codes, 8)
	if e.Share < 0.999 || len(e.Points) != 12 || len(e.Points[0]) != 4 {
		t.Fatalf("got %d points of %d dimensions with the share %v, want all of 4 dimensions", len(e.Points), len(e.Points[0]), e.Share)
	}
	got, err := x.Cells(t.Context(), cells[:1], explain.Options{Neighbours: 11})
	if err != nil {
		t.Fatal(err)
	}
	at := func(id string) []float64 { return e.Points[slices.Index(e.Codes, m.Code(item, id))] }
	for _, n := range got[0].Neighbours {
		if n.Mode != "item" || n.By != explain.ByFactors {
			continue
		}
		for _, near := range n.Nearest {
			square := 0.0
			for d, v := range at(near.ID) {
				square += (v - at(i3)[d]) * (v - at(i3)[d])
			}
			if math.Abs(math.Sqrt(square)-near.Distance) > 1e-4 {
				t.Errorf("%s: got distance %v in the embedding, %v as a neighbour", near.ID, math.Sqrt(square), near.Distance)
			}
		}
	}
	if x.Embed(2, nil, 2) == nil {
		t.Error("the months have no embedding")
	}
}

func sorted(set map[string]bool) []string {
	var out []string
	for name := range set {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestSummary(t *testing.T) {
	t.Parallel()
	m, source := fit(t, "additive")
	x, err := explain.New(m)
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := evaluate.ReadFitted(t.Context(), m, source, model.TableOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := x.Summarize(t.Context(), fitted, explain.ImportanceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	loss := map[string]float64{}
	for _, i := range s.Importances {
		loss[i.Mode+"."+i.Column] = i.Loss
	}
	if !(loss["item."] > 0.3 && loss["item.price"] > 0.1 && loss["item.price"] > 5*math.Abs(loss["item.vendor"]) && loss["item."] > loss["store."]) {
		t.Errorf("got importances %v, want the item and its price first", loss)
	}
	curves := map[string]explain.Curve{}
	for _, c := range s.Curves {
		curves[c.Name()] = c
	}
	price := curves["item.price"].Points
	if len(price) != 4 || !slices.IsSortedFunc(price, func(a, b explain.Point) int { return int(math.Copysign(1, b.Effect-a.Effect)) }) {
		t.Errorf("got the curve %+v of the price, want it to fall", price)
	}
	if _, has := curves["store"]; has {
		t.Error("the stores, which have no order, have a curve")
	}
	if season := curves["month, "+explain.Season].Points; len(season) != 12 || season[3].Effect < season[9].Effect+0.3 {
		t.Errorf("got the season %+v, want April above October", season)
	}
	var text bytes.Buffer
	if err := s.WriteText(&text); err != nil || !strings.Contains(text.String(), "Effect of item.price (4 points)") {
		t.Errorf("got text %s, %v", text.String(), err)
	}
}

// TestSummaryAfterRefit checks that importances are measured on rows that the model does not know, as far
// as there are some, and that the text says otherwise.
func TestSummaryAfterRefit(t *testing.T) {
	t.Parallel()
	m, source := fit(t, "plain")
	for name, c := range map[string]struct {
		refit *fitrecord.Refit
		want  string
	}{
		"none":               {nil, "on the validation set if"},
		"training and valid": {&fitrecord.Refit{KeepsTest: true}, "on the test set if"},
		"all rows":           {&fitrecord.Refit{}, "on the validation set, on which the model was trained too, if"},
	} {
		record := m.Record()
		record.Refit = c.refit
		s, err := explain.Model(t.Context(), m.WithRecord(record), &source, model.TableOptions{Threads: 1})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text bytes.Buffer
		if err := s.WriteText(&text); err != nil || !strings.Contains(text.String(), c.want) {
			t.Errorf("%s: got %s, %v; want %s", name, text.String(), err, c.want)
		}
	}
}

// TestObserved checks the values of the table at a cell and at those of its neighbours.
func TestObserved(t *testing.T) {
	t.Parallel()
	m, source := fit(t, "additive")
	fitted, err := evaluate.ReadFitted(t.Context(), m, source, model.TableOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]float64{}
	for i := range fitted.Table.Len() {
		id := func(mode int) string { return fitted.Table.Dicts[mode].ID(fitted.Table.Codes[mode][i]) }
		at[id(0)+id(1)+id(2)] = fitted.Table.Target(i)
	}
	got, err := explain.Cells(t.Context(), m, cells, explain.Options{Neighbours: 7, Table: fitted})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	check := func(key string, v *metrics.Number) {
		want, has := at[key]
		if has != (v != nil) || has && float64(*v) != want {
			t.Errorf("%s: got %v, the table has %v, %v", key, v, want, has)
		}
		if has {
			found++
		}
	}
	for _, e := range got {
		c := e.Cell
		check(c["store"]+c["item"]+c["month"], e.Actual)
		for _, n := range e.Neighbours {
			for _, near := range n.Nearest {
				c := maps.Clone(c)
				c[n.Mode] = near.ID
				check(c["store"]+c["item"]+c["month"], near.Value)
			}
		}
	}
	if found < 10 {
		t.Errorf("got %d values, want more", found)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, "posterior")
	got, err := explain.Cells(t.Context(), m, cells, explain.Options{WhatIf: []explain.Change{{Mode: "item", Column: "price", Value: "2"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got {
		if _, err := json.Marshal(e); err != nil {
			t.Error(err)
		}
		var text, picture bytes.Buffer
		if err := e.WriteText(&text); err != nil || !strings.Contains(text.String(), "average cell") || !strings.Contains(text.String(), "With item.price=2") {
			t.Errorf("got text %s, %v", text.String(), err)
		}
		if _, err := e.Waterfall().WriteTo(&picture); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&picture)
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("the picture is not XML: %v", err)
			}
		}
	}
	if !strings.Contains(fmt.Sprint(got[2].Unseen, got[3].Unseen), "store") {
		t.Errorf("got unseen %v", got[2].Unseen)
	}
	_, err = explain.Cells(t.Context(), m, cells, explain.Options{Strict: true})
	var unseen *model.UnseenError
	if !errors.As(err, &unseen) {
		t.Errorf("strict: got error %v, want an UnseenError", err)
	}
}
