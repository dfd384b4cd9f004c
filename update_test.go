package kft_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft"
)

// A world is a truth of shops, items and months: an offset, effects, an interaction of rank
// 2, effects of pairs, and noise of sd 0.3.
type world struct {
	shop, item, month []float64
	left, right       [][2]float64
	pair              map[[2]int]float64
}

func newWorld(seed uint64, shops, items, months int) *world {
	rng := rand.New(rand.NewPCG(seed, 7))
	w := &world{pair: map[[2]int]float64{}}
	draw := func(n int, sd float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = sd * rng.NormFloat64()
		}
		return out
	}
	w.shop, w.item, w.month = draw(shops, 0.7), draw(items, 1), draw(months, 0.3)
	for range shops {
		w.left = append(w.left, [2]float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	for range items {
		w.right = append(w.right, [2]float64{0.6 * rng.NormFloat64(), 0.6 * rng.NormFloat64()})
	}
	for s := range shops {
		for i := range items {
			w.pair[[2]int{s, i}] = 0.4 * rng.NormFloat64()
		}
	}
	return w
}

func (w *world) value(s, i, m int) float64 {
	return 10 + w.shop[s] + w.item[i] + w.month[m] + w.left[s][0]*w.right[i][0] + w.left[s][1]*w.right[i][1] + w.pair[[2]int{s, i}]
}

// rows returns a share of the cells that pass a test, as lines of a table.
func (w *world) rows(seed uint64, share float64, want func(s, i, m int) bool) []string {
	rng := rand.New(rand.NewPCG(seed, 8))
	var lines []string
	for s := range w.shop {
		for i := range w.item {
			for m := range w.month {
				kept, noise := rng.Float64() < share, 0.3*rng.NormFloat64()
				if kept && want(s, i, m) {
					lines = append(lines, fmt.Sprintf("s%d,i%d,%d-%02d,%.5f", s, i, 2015+m/12, m%12+1, w.value(s, i, m)+noise))
				}
			}
		}
	}
	return lines
}

func tableOf(lines ...[]string) string {
	var b strings.Builder
	b.WriteString("shop,item,month,units\n")
	for _, part := range lines {
		for _, line := range part {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func source(text string) kft.Source { return kft.Reader("rows.csv", strings.NewReader(text)) }

func worldSpec(t testing.TB, table string, terms ...string) kft.Spec {
	return kft.Spec{Data: kft.DataSpec{Files: []string{writeFile(t, "units.csv", table)}, Target: "units", Modes: []string{"shop", "item", "month"}},
		Split: "random:90/10/0", Terms: terms, Transform: "identity", Uncertainty: kft.UncertaintySpec{Inference: "mean-field"}}
}

var worldTerms = []string{"shop", "item", "month", "shop,item:2", "shop*item"}

func update(t testing.TB, m *kft.Model, rows string, opt kft.UpdateOptions) (*kft.Model, *kft.UpdateReport) {
	t.Helper()
	opt.Late = true
	updated, report, err := m.Update(t.Context(), source(rows), kft.TableOptions{Threads: 1}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return updated, report
}

func score(t testing.TB, m *kft.Model, rows string) kft.Score {
	t.Helper()
	s, _, err := m.Evaluate(t.Context(), source(rows), kft.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// distance returns the largest difference of the means and standard deviations of two
// models at the cells of a table, relative to the standard deviation.
func distance(t testing.TB, a, b *kft.Model, rows string) float64 {
	t.Helper()
	var cells []kft.Cell
	for _, line := range linesOf(rows)[1:] {
		f := strings.Split(line, ",")
		cells = append(cells, kft.Cell{"shop": f[0], "item": f[1], "month": f[2]})
	}
	p, err := a.Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	q, err := b.Predict(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	most := 0.0
	for i := range p {
		most = math.Max(most, math.Max(math.Abs(p[i].Mean-q[i].Mean), math.Abs(p[i].SD-q[i].SD))/p[i].SD)
	}
	return most
}

// TestUpdate checks that an update of new rows of known and new shops, items and months is
// close to a fit with these rows and far better than none, that the order and number of
// updates do not matter, that removed rows leave no trace, and that the model survives its
// file.
func TestUpdate(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 24, 30, 14)
	old := w.rows(1, 0.4, func(s, i, m int) bool { return i < 27 && s < 23 && m < 13 && !(m == 12 && s%4 == 0) })
	fresh := w.rows(2, 0.15, func(s, i, m int) bool { return i >= 27 || s >= 23 || m == 13 || m == 12 && s%4 == 0 })
	test := tableOf(w.rows(3, 0.3, func(s, i, m int) bool { return i >= 27 || s >= 23 || m >= 12 }))
	for name, terms := range map[string][]string{"effects": {"shop", "item", "month", "shop*item"}, "train": worldTerms, "series": {"shop", "item", "shop,item:2", "series(shop*item; month)"},
		"scales":  {"shop", "item", "shop,item:2", "series(shop*item; month; walk, ar, scale)"},
		"factors": {"shop", "item", "shop,item:2", "item,along(month):2", "series(shop*item; month)"}} {
		m, _ := fit(t, worldSpec(t, tableOf(old), terms...), kft.Options{Threads: 1})
		again, _ := fit(t, worldSpec(t, tableOf(old, fresh), terms...), kft.Options{Threads: 1})
		once, report := update(t, m, tableOf(fresh), kft.UpdateOptions{})
		before, after, refit := score(t, m, test), score(t, once, test), score(t, again, test)
		t.Logf("%s: RMSE %.3f before, %.3f after the update, %.3f after a refit; coverage %.3f, %.3f, %.3f; %+v", name, before.RMSE, after.RMSE, refit.RMSE,
			float64(before.Calibration.Coverage90), float64(after.Calibration.Coverage90), float64(refit.Calibration.Coverage90), report)
		if after.RMSE > refit.RMSE+0.15*(before.RMSE-refit.RMSE) {
			t.Errorf("%s: RMSE %.3f before, %.3f after the update, %.3f after a refit", name, before.RMSE, after.RMSE, refit.RMSE)
		}
		if report.Rows != len(fresh) || len(report.New) == 0 || report.Repeated != 0 {
			t.Errorf("%s: report %+v", name, report)
		}
		if _, twice := update(t, once, tableOf(fresh[:9]), kft.UpdateOptions{}); twice.Repeated != 9 {
			t.Errorf("%s: %d of 9 rows that were taken in before are reported", name, twice.Repeated)
		}
		parts := m
		for i := range 3 {
			var part []string
			for k := len(fresh) - 1 - i; k >= 0; k -= 3 {
				part = append(part, fresh[k])
			}
			parts, _ = update(t, parts, tableOf(part), kft.UpdateOptions{})
			parts = reload(t, parts)
		}
		if d := distance(t, once, parts, test); d > 2e-3 {
			t.Errorf("%s: three updates differ from one by %.2g standard deviations", name, d)
		}
		calibrated, _, err := once.Recalibrate(t.Context(), source(test), "split", kft.TableOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance(t, calibrated, reload(t, calibrated), test); d > 0 {
			t.Errorf("%s: the recalibrated model differs by %.2g after it was saved", name, d)
		}
		back, report := update(t, once, tableOf(fresh), kft.UpdateOptions{Remove: true})
		if d := distance(t, m, back, tableOf(old)); d > 0 || report.Removed != len(fresh) || report.Struck != len(fresh) {
			t.Errorf("%s: after the removal of all rows the model differs by %.2g; %+v", name, d, report)
		}
	}
}

// TestUpdateOfLikelihoods checks updates of rows whose likelihood is not Gaussian: known and
// new ids come close to a fit with their rows, and two updates equal one.
func TestUpdateOfLikelihoods(t *testing.T) {
	t.Parallel()
	w := newWorld(3, 20, 24, 8)
	values := map[string]func(y float64, rng *rand.Rand) float64{
		"poisson": func(y float64, rng *rand.Rand) float64 {
			n, limit, p := 0, math.Exp(-math.Exp(0.5*(y-10))), rng.Float64()
			for ; p > limit; n++ {
				p *= rng.Float64()
			}
			return float64(n)
		},
		"hurdle": func(y float64, rng *rand.Rand) float64 {
			if rng.Float64() < 0.3 {
				return 0
			}
			return math.Floor(math.Exp(0.5*(y-10)) + 1 + rng.Float64())
		},
		"bernoulli": func(y float64, rng *rand.Rand) float64 {
			if rng.Float64() < 1/(1+math.Exp(10-y)) {
				return 1
			}
			return 0
		},
		"student": func(y float64, _ *rand.Rand) float64 { return y },
	}
	for law, value := range values {
		rng := rand.New(rand.NewPCG(5, 6))
		replace := func(lines []string) []string {
			var out []string
			for _, line := range lines {
				cut := strings.LastIndexByte(line, ',')
				y, _ := strconv.ParseFloat(line[cut+1:], 64)
				out = append(out, fmt.Sprintf("%s,%g", line[:cut], value(y, rng)))
			}
			return out
		}
		old := replace(w.rows(1, 0.5, func(_, i, _ int) bool { return i < 21 }))
		fresh := replace(w.rows(2, 0.5, func(_, i, m int) bool { return i >= 21 && m < 4 }))
		test := tableOf(replace(w.rows(3, 0.5, func(_, i, m int) bool { return i >= 21 && m >= 4 })))
		spec := func(lines ...[]string) kft.Spec {
			s := worldSpec(t, tableOf(lines...), "shop", "item", "shop*item")
			s.Uncertainty.Likelihood = law
			if law != "student" {
				s.Transform = ""
			}
			return s
		}
		m, _ := fit(t, spec(old), kft.Options{Threads: 1})
		again, _ := fit(t, spec(old, fresh), kft.Options{Threads: 1})
		once, _ := update(t, m, tableOf(fresh), kft.UpdateOptions{})
		half, _ := update(t, m, tableOf(fresh[:len(fresh)/2]), kft.UpdateOptions{})
		twice, _ := update(t, half, tableOf(fresh[len(fresh)/2:]), kft.UpdateOptions{})
		loss := func(m *kft.Model) float64 { return -float64(score(t, m, test).Calibration.LogDensity) }
		before, after, refit := loss(m), loss(once), loss(again)
		t.Logf("%s: log loss %.4f before, %.4f after the update, %.4f after a refit", law, before, after, refit)
		if after > refit+0.2*math.Max(before-refit, 0)+0.005 {
			t.Errorf("%s: log loss %.4f before, %.4f after the update, %.4f after a refit", law, before, after, refit)
		}
		if law == "poisson" || law == "bernoulli" { // the others have values of another law
			known := replace(w.rows(9, 0.5, func(_, i, _ int) bool { return i < 21 }))
			_, right := update(t, m, tableOf(known), kft.UpdateOptions{})
			_, wrong := update(t, m, tableOf(wrongValues(known)), kft.UpdateOptions{})
			t.Logf("%s: drift %+v, of wrong values %+v", law, right.Drift, wrong.Drift)
			if r := right.Drift; math.Abs(r.Mean) > 0.1 || math.Abs(r.RMS-1) > 0.1 || strings.Contains(strings.Join(right.Reasons, " "), "new rows") {
				t.Errorf("%s: the drift of rows of the same law is %+v; %q", law, r, right.Reasons)
			}
			if r := wrong.Drift; math.Abs(r.Mean) < 0.3 && r.RMS < 1.5 || !wrong.RefitDue || !strings.Contains(strings.Join(wrong.Reasons, " "), "the new rows") {
				t.Errorf("%s: the drift of wrong values is %+v; %q", law, r, wrong.Reasons)
			}
		}
		if d := distance(t, once, twice, test); d > 5e-3 {
			t.Errorf("%s: two updates differ from one by %.2g standard deviations", law, d)
		}
		back, _ := update(t, once, tableOf(fresh), kft.UpdateOptions{Remove: true})
		if d := distance(t, m, back, tableOf(old)); d > 0 {
			t.Errorf("%s: after the removal of all rows the model differs by %.2g", law, d)
		}
	}
}

// wrongValues returns rows with five times their values, at most 1 where all are 0 or 1: a 0 becomes
// 1 there.
func wrongValues(lines []string) []string {
	most := 0.0
	values := make([]float64, len(lines))
	for i, line := range lines {
		values[i], _ = strconv.ParseFloat(line[strings.LastIndexByte(line, ',')+1:], 64)
		most = max(most, values[i])
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		y := 5 * values[i]
		if most <= 1 {
			y = 1
		}
		out[i] = fmt.Sprintf("%s,%g", line[:strings.LastIndexByte(line, ',')], y)
	}
	return out
}

// TestUpdateRemovesTrainingRows checks that rows of the fit can be taken out: the entities
// concerned come close to a fit without them.
func TestUpdateRemovesTrainingRows(t *testing.T) {
	t.Parallel()
	w := newWorld(4, 16, 20, 8)
	old := w.rows(1, 0.5, func(int, int, int) bool { return true })
	var wrong, right, fixed []string
	for i, line := range old {
		if strings.HasPrefix(line, "s3,") && i%2 == 0 { // values in another unit
			cut := strings.LastIndexByte(line, ',')
			y, _ := strconv.ParseFloat(line[cut+1:], 64)
			wrong, fixed = append(wrong, fmt.Sprintf("%s,%.5f", line[:cut], y-4)), append(fixed, line)
			continue
		}
		right = append(right, line)
	}
	for _, c := range []struct {
		terms         []string
		without, with float64 // largest share of the difference that may remain
	}{{[]string{"shop", "item", "shop,item:2"}, 0.15, 0.05}, {[]string{"shop", "item", "series(shop*item; month)"}, 0.8, 0.3}} {
		terms := c.terms
		spec := worldSpec(t, tableOf(right, wrong), terms...)
		spec.Split = "random:100/0/0"
		m, _ := fit(t, spec, kft.Options{Threads: 1})
		test := tableOf(w.rows(2, 0.5, func(s, _, _ int) bool { return s == 3 }))
		without, report := update(t, m, tableOf(wrong), kft.UpdateOptions{Remove: true})
		if report.Removed != len(wrong) || report.Struck != 0 {
			t.Errorf("got %+v", report)
		}
		corrected, _ := update(t, without, tableOf(fixed), kft.UpdateOptions{})
		spec.Data.Files = []string{writeFile(t, "units.csv", tableOf(old))}
		again, _ := fit(t, spec, kft.Options{Threads: 1})
		a, b, e, d := score(t, m, test).RMSE, score(t, without, test).RMSE, score(t, corrected, test).RMSE, score(t, again, test).RMSE
		t.Logf("%v: RMSE %.3f with wrong rows, %.3f without, %.3f corrected, %.3f fitted to the right rows", terms, a, b, e, d)
		if b > d+c.without*(a-d) || e > d+c.with*(a-d) {
			t.Errorf("%v: RMSE %.3f with wrong rows, %.3f without, %.3f corrected, %.3f fitted to the right rows", terms, a, b, e, d)
		}
	}
}

// TestUpdateRefusesRows checks rows and models that cannot be updated: the message names
// row and reason, and nothing is taken in.
func TestUpdateRefusesRows(t *testing.T) {
	t.Parallel()
	w := newWorld(5, 10, 12, 6)
	old := w.rows(1, 0.6, func(int, int, int) bool { return true })
	m, _ := fit(t, worldSpec(t, tableOf(old), "shop", "item", "series(shop*item; month)"), kft.Options{Threads: 1})
	before := modelBytes(t, m)
	for _, c := range []struct {
		rows, want string
		opt        kft.UpdateOptions
	}{
		{"shop,item,month,units\ns1,i1,2015-07,12\ns1,i1,2015-03,11\n", "data row 2, column month: 2015-03 is before the last period", kft.UpdateOptions{}},
		{"shop,item,month,units\ns1,i1,2014-07,12\n", "lies before their first", kft.UpdateOptions{Late: true}},
		{"shop,item,month,units\ns1,i1,2015-07,12\ns1,i1,2032-07,12\n", "data row 2, column month: 2032-07 is 205 periods after 2015-06", kft.UpdateOptions{}},
		{"shop,item,month,units\ns1,i1,2032-07,12\n", "2032-07 is 205 periods after 2015-06", kft.UpdateOptions{Late: true}},
		{"shop,item,month,units\ns1,i1,soon,12\n", "data row 1, column month", kft.UpdateOptions{}},
		{"shop,item,units\ns1,i1,12\n", "month", kft.UpdateOptions{}},
		{"shop,item,month,units\ns1,i1,2015-07,12\ns1,i1,2015-07,13\n", "data row 2: it has the same cell as data row 1", kft.UpdateOptions{}},
		{"shop,item,month,units\n", "no row", kft.UpdateOptions{}},
		{"shop,item,month,units\ns1,i1,2015-07,-12\n", "data row 1, column units: -12 is below 0, and the model's target is not; correct it or leave the row out", kft.UpdateOptions{}},
		{"shop,item,month,units\ns1,new,2015-05,12\n", `column item: the model has no id "new"`, kft.UpdateOptions{Remove: true}},
		{"shop,item,month,units\n" + strings.Repeat("s1,i1,2015-05,12\n", 30), "the model does not contain this row", kft.UpdateOptions{Remove: true}},
	} {
		_, _, err := m.Update(t.Context(), source(c.rows), kft.TableOptions{}, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got error %v, want %q", c.rows, err, c.want)
		}
	}
	if string(modelBytes(t, m)) != string(before) {
		t.Error("a refused update changed the model")
	}
	plain, _ := fit(t, worldSpec(t, tableOf(old), "shop", "item"), kft.Options{Threads: 1}) // the time is in no term
	if _, _, err := plain.Update(t.Context(), source("shop,item,month,units\ns1,i1,2015-13,12\n"), kft.TableOptions{}, kft.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), "data row 1, column month: \"2015-13\" is not a period") {
		t.Errorf("an impossible month: got error %v", err)
	}
	point := worldSpec(t, tableOf(old), "shop", "item")
	point.Uncertainty.Inference = "map"
	p, _ := fit(t, point, kft.Options{Threads: 1})
	var not *kft.NotUpdatableError
	if _, _, err := p.Update(t.Context(), source(tableOf(old)), kft.TableOptions{}, kft.UpdateOptions{}); !errors.As(err, &not) {
		t.Errorf("a point estimate: got error %v", err)
	}
}

// TestUpdateWithSideInformation checks that new ids with side rows start from these, and
// that few rows improve them, for all variants and families.
func TestUpdateWithSideInformation(t *testing.T) {
	t.Parallel()
	w := newWorld(6, 20, 60, 6)
	var side strings.Builder
	side.WriteString("item,size,color\n")
	for i := range w.item {
		x := float64(i%10) / 10
		w.item[i] = 0.4*w.item[i] + 3*x // half of it follows from the side row
		fmt.Fprintf(&side, "i%d,%g,c%d\n", i, x, i%3)
	}
	file := writeFile(t, "items.csv", side.String())
	old := w.rows(1, 0.4, func(_, i, _ int) bool { return i < 48 })
	fresh := w.rows(2, 0.06, func(_, i, _ int) bool { return i >= 48 })
	test := tableOf(w.rows(3, 0.3, func(_, i, _ int) bool { return i >= 48 }))
	for _, c := range []struct{ variant, inference string }{{"additive", "mean-field"}, {"wlr", "mean-field"}, {"additive", "entity-covariance"}, {"additive", "multivariate"}} {
		spec := worldSpec(t, tableOf(old), "shop", "item", "shop,item:2", "item.color*shop")
		spec.Side.Tables, spec.Side.Variant, spec.Uncertainty.Inference = []string{"item=" + file + ":size:num,color:cat"}, c.variant, c.inference
		m, _ := fit(t, spec, kft.Options{Threads: 1})
		once, _ := update(t, m, tableOf(fresh), kft.UpdateOptions{})
		half, _ := update(t, m, tableOf(fresh[:len(fresh)/2]), kft.UpdateOptions{})
		twice, _ := update(t, reload(t, half), tableOf(fresh[len(fresh)/2:]), kft.UpdateOptions{})
		before, after := score(t, m, test), score(t, once, test)
		t.Logf("%v: RMSE %.3f before, %.3f after; coverage %.3f, %.3f", c, before.RMSE, after.RMSE, float64(before.Calibration.Coverage90), float64(after.Calibration.Coverage90))
		if after.RMSE > 0.8*before.RMSE {
			t.Errorf("%v: RMSE %.3f before, %.3f after", c, before.RMSE, after.RMSE)
		}
		if d := distance(t, once, twice, test); d > 5e-3 {
			t.Errorf("%v: two updates differ from one by %.2g standard deviations", c, d)
		}
		if _, err := once.Samples(t.Context(), []kft.Cell{{"shop": "s1", "item": "i50", "month": "2015-02"}}, 20); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkUpdateRow takes in single rows. With KFT_UPDATE_MODEL and KFT_UPDATE_ROWS, a
// model of store, item and time and a table with rows of it, it measures these.
func BenchmarkUpdateRow(b *testing.B) {
	var m *kft.Model
	var lines []string
	names := []string{"shop", "item", "month"}
	if file := os.Getenv("KFT_UPDATE_MODEL"); file != "" {
		var err error
		if m, err = kft.Load(file); err != nil {
			b.Fatal(err)
		}
		names = []string{"store", "item", "time"}
		for _, line := range linesOf(readFile(b, os.Getenv("KFT_UPDATE_ROWS")))[1:] {
			f := strings.Split(line, ",")
			lines = append(lines, strings.Join([]string{f[2], f[3], f[0] + "-" + f[1], f[4]}, ","))
		}
	} else {
		w := newWorld(1, 40, 60, 10)
		m, _ = fit(b, worldSpec(b, tableOf(w.rows(1, 0.5, func(int, int, int) bool { return true })), worldTerms...), kft.Options{})
		lines = w.rows(2, 0.5, func(int, int, int) bool { return true })
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	u, err := m.NewUpdater(1)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		f := strings.Split(lines[n%len(lines)], ",")
		n++
		y, _ := strconv.ParseFloat(f[3], 64)
		row := kft.UpdateRow{Cell: kft.Cell{names[0]: f[0], names[1]: f[1], names[2]: f[2]}, Value: y}
		if _, err := u.Take(b.Context(), []kft.UpdateRow{row}, kft.UpdateOptions{Local: true, Late: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	start := time.Now()
	if _, err := u.Model(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(time.Since(start).Seconds(), "s/model")
}
