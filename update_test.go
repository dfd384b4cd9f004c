package kft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

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
	for name, terms := range map[string][]string{"effects": {"shop", "item", "month", "shop*item"}, "train": worldTerms, "series": {"shop", "item", "shop,item:2", "series(shop*item; month)"}} {
		m, _ := fit(t, worldSpec(t, tableOf(old), terms...), kft.Options{Threads: 1})
		again, _ := fit(t, worldSpec(t, tableOf(old, fresh), terms...), kft.Options{Threads: 1})
		once, report := update(t, m, tableOf(fresh), kft.UpdateOptions{})
		before, after, refit := score(t, m, test), score(t, once, test), score(t, again, test)
		t.Logf("%s: RMSE %.3f before, %.3f after the update, %.3f after a refit; coverage %.3f, %.3f, %.3f; %+v", name, before.RMSE, after.RMSE, refit.RMSE,
			float64(before.Calibration.Coverage90), float64(after.Calibration.Coverage90), float64(refit.Calibration.Coverage90), report)
		if after.RMSE > refit.RMSE+0.15*(before.RMSE-refit.RMSE) {
			t.Errorf("%s: RMSE %.3f before, %.3f after the update, %.3f after a refit", name, before.RMSE, after.RMSE, refit.RMSE)
		}
		if report.Rows != len(fresh) || len(report.New) == 0 {
			t.Errorf("%s: report %+v", name, report)
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
		back, report := update(t, once, tableOf(fresh), kft.UpdateOptions{Remove: true})
		if d := distance(t, m, back, tableOf(old)); d > 0 || report.Removed != len(fresh) || report.Struck != len(fresh) {
			t.Errorf("%s: after the removal of all rows the model differs by %.2g; %+v", name, d, report)
		}
	}
}
