package kft_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// A curveTable has rows with a value of smooth functions of numbers.
type curveTable struct {
	header string
	row    func(rng *rand.Rand) string
	spec   kft.Spec
}

// rows returns a table of n rows.
func (c *curveTable) rows(seed uint64, n int) string {
	rng := rand.New(rand.NewPCG(seed, 5))
	var b strings.Builder
	b.WriteString(c.header + "\n")
	for range n {
		b.WriteString(c.row(rng) + "\n")
	}
	return b.String()
}

// fitted returns a model of n rows.
func (c *curveTable) fitted(t testing.TB, rows string) *kft.Model {
	s := c.spec
	s.Data.Files, s.Data.Duplicates, s.Split, s.Transform, s.Fit.Refit = []string{writeFile(t, "table.csv", rows)}, "keep", "random:90/10/0", "identity", "all"
	s.Uncertainty.Inference, s.Uncertainty.Conformal = "mean-field", "none"
	m, _ := fit(t, s, kft.Options{})
	return m
}

// wellTable is a surface over places.
func wellTable() *curveTable {
	s := kft.Spec{Terms: []string{"joint", "lat", "lon", "lat,lon:1"}, Data: kft.DataSpec{Target: "depth", Modes: []string{"number(lat)", "number(lon)", "joint(lat+lon)"}}}
	return &curveTable{header: "lat,lon,depth", spec: s, row: func(rng *rand.Rand) string {
		a, b := 3*rng.Float64(), 3*rng.Float64()
		return fmt.Sprintf("%.4f,%.4f,%.3f", 40+a, b-95, 50+20*math.Sin(2*a+b)*math.Cos(a-3*b)+2*rng.NormFloat64())
	}}
}

// siteTable has sites that react to the temperature in different ways, and a humidity.
func siteTable() *curveTable {
	s := kft.Spec{Terms: []string{"site", "temp", "site*temp", "humidity", "temp,humidity:2"}, Data: kft.DataSpec{Target: "y", Modes: []string{"site", "number(temp)", "number(humidity)"}}}
	return &curveTable{header: "site,temp,humidity,y", spec: s, row: func(rng *rand.Rand) string {
		site, temp, humidity := rng.IntN(12), 15+8*rng.NormFloat64(), 20+80*rng.Float64()
		slope := float64(site%3) - 1
		return fmt.Sprintf("s%d,%.2f,%.1f,%.3f", site, temp, humidity, 10+math.Sin(float64(site))+2*math.Sin(temp/6)+slope*temp/8+0.0006*(humidity-60)*(humidity-60)*temp/15+0.6*rng.NormFloat64())
	}}
}

// curvePredictions returns the predictions of a model for the rows of a table.
func curvePredictions(t testing.TB, m *kft.Model, rows string) []float64 {
	t.Helper()
	lines := linesOf(rows)
	names := strings.Split(lines[0], ",")
	var cells []kft.Cell
	for _, line := range lines[1:] {
		cell := kft.Cell{}
		for i, v := range strings.Split(line, ",")[:len(names)-1] {
			cell[names[i]] = v
		}
		cells = append(cells, cell)
	}
	var out []float64
	for _, p := range predictCells(t, m, cells...) {
		out = append(out, p.Mean, p.SD)
	}
	return out
}

func mostApart(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = math.Max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// TestUpdateCurves checks that rows move curves, surfaces and curves per id: most of the gain of a fit with these
// rows is there, the order and number of updates do not matter, removed rows leave no trace, and the model survives its file.
func TestUpdateCurves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*curveTable{"wells": wellTable(), "sites": siteTable()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, more, test := c.rows(1, 250), c.rows(2, 250), c.rows(3, 1500)
			before, whole := c.fitted(t, old), c.fitted(t, old+strings.Join(linesOf(more)[1:], "\n")+"\n")
			after, report := update(t, before, more, kft.UpdateOptions{})
			none, updated, full := score(t, before, test), score(t, after, test), score(t, whole, test)
			if gain, most := none.RMSE-updated.RMSE, none.RMSE-full.RMSE; gain < 0.7*most || most < 0.02*none.RMSE {
				t.Errorf("got an RMSE of %.4f, before %.4f, with a fit of all rows %.4f", updated.RMSE, none.RMSE, full.RMSE)
			}
			for _, n := range report.New {
				t.Errorf("got %d new ids of %s", n.IDs, n.Mode)
			}
			want := curvePredictions(t, after, test)
			if got := curvePredictions(t, reload(t, after), test); !slices.Equal(got, want) {
				t.Errorf("predictions differ by %g after loading", mostApart(got, want))
			}
			if twice := reload(t, reload(t, after)); !bytes.Equal(modelBytes(t, twice), modelBytes(t, after)) {
				t.Error("the file of a loaded model has other bytes")
			}
			lines := linesOf(more)
			slices.Reverse(lines[1:])
			parts := before
			for _, part := range [][]string{lines[1:100], lines[100:]} {
				parts, _ = update(t, reload(t, parts), lines[0]+"\n"+strings.Join(part, "\n")+"\n", kft.UpdateOptions{})
			}
			if d := mostApart(curvePredictions(t, parts, test), want); d > 1e-3 {
				t.Errorf("predictions differ by %g after two updates in another order", d)
			}
			back, report := update(t, reload(t, after), more, kft.UpdateOptions{Remove: true})
			if d := mostApart(curvePredictions(t, back, test), curvePredictions(t, before, test)); d > 1e-4 || report.Struck != 250 {
				t.Errorf("predictions differ by %g after the rows were taken out, %d of them struck", d, report.Struck)
			}
			out, _ := update(t, before, strings.Join(linesOf(old)[:51], "\n")+"\n", kft.UpdateOptions{Remove: true})
			if s := score(t, out, test); s.RMSE < none.RMSE || s.RMSE > 1.3*none.RMSE {
				t.Errorf("got an RMSE of %.4f without a fifth of the rows of the fit, before %.4f", s.RMSE, none.RMSE)
			}
		})
	}
}

// TestUpdateOfUnusualValues checks rows with missing values, values beyond the range, and new ids: they move what they
// can, values keep their places on the grid, and wrong ones are refused.
func TestUpdateOfUnusualValues(t *testing.T) {
	t.Parallel()
	c := siteTable()
	before := c.fitted(t, c.rows(1, 400))
	test := c.rows(3, 50)
	want := curvePredictions(t, before, test)
	rows := func(lines ...string) string { return c.header + "\n" + strings.Join(lines, "\n") + "\n" }

	missing, _ := update(t, before, rows("s1,,,14"), kft.UpdateOptions{})
	if m := reload(t, missing); slices.Equal(curvePredictions(t, m, rows("s1,10,60,0")), curvePredictions(t, before, rows("s1,10,60,0"))) {
		t.Error("a row without numbers does not move its site")
	}
	far, _ := update(t, before, rows("s1,900,60,14", "s1,-400,1e30,3", "s2,55.5,60,9"), kft.UpdateOptions{})
	if d := mostApart(curvePredictions(t, far, test), want); d > 0.3 {
		t.Errorf("three rows beyond the range move predictions by %g", d)
	}
	if got := curvePredictions(t, reload(t, far), test); !slices.Equal(got, curvePredictions(t, far, test)) {
		t.Errorf("predictions differ by %g after loading: the grid has changed", mostApart(got, curvePredictions(t, far, test)))
	}
	if p := predictCells(t, reload(t, far), kft.Cell{"site": "s1", "temp": "900", "humidity": "60"}); !slices.Equal(p[0].FromSide, []string{"temp"}) {
		t.Errorf("a temperature beyond the range: the modes %v are from side information", p[0].FromSide)
	}

	// A site that only the fit of curves per site knows nothing of gets its own.
	var own []string
	for i := range 40 {
		own = append(own, fmt.Sprintf("new,%d,60,%g", i, 12+float64(i)/4))
	}
	grown, report := update(t, before, rows(own...), kft.UpdateOptions{})
	if len(report.New) != 1 || report.New[0].Mode != "site" || report.New[0].IDs != 1 {
		t.Errorf("the report has the new ids %v", report.New)
	}
	for _, m := range []*kft.Model{grown, reload(t, grown)} {
		p := curvePredictions(t, m, rows("new,5,60,0", "new,30,60,0"))
		if math.Abs(p[0]-13.25) > 0.8 || math.Abs(p[2]-19.5) > 0.8 {
			t.Errorf("a new site has the predictions %.2f and %.2f, want 13.25 and 19.50", p[0], p[2])
		}
	}

	for want, text := range map[string]string{
		"temp=warm is not a finite number": rows("s1,warm,60,14"),
		`column "temp"`:                    "site,temperature,humidity,y\ns1,10,60,14\n",
	} {
		if _, _, err := before.Update(t.Context(), source(text), kft.TableOptions{}, kft.UpdateOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}

// TestUpdateOfALevelInMemory checks that a level that rows added can be predicted before the model is saved.
func TestUpdateOfALevelInMemory(t *testing.T) {
	t.Parallel()
	p := newPriceTable()
	m, _ := fit(t, p.spec(t), kft.Options{})
	updated, _ := update(t, m, "store,item,month,price,promo,units\ns1,i1,2022-01,2,radio,90\n", kft.UpdateOptions{})
	cell := cellAt(1, "2")
	cell["promo"] = "radio"
	got, want := predictCells(t, updated, cell), predictCells(t, reload(t, updated), cell)
	if got[0].Mean != want[0].Mean || len(got[0].Unseen) > 0 {
		t.Errorf("got %v, after loading %v", got[0], want[0])
	}
}

// TestUpdateRefusesLags checks the message for covariates that depend on all rows.
func TestUpdateRefusesLags(t *testing.T) {
	t.Parallel()
	s := lagSpec(t, seriesText(1), "1")
	s.Uncertainty.Inference = "mean-field"
	m, _ := fit(t, s, kft.Options{})
	checkErrorText(t, m.CheckUpdate(), "lag1 is computed from the values of all rows (data.lags, data.history)")
}

// TestFileOfPoints checks that a model file has no operator rows of points, and that files which have them can be read.
func TestFileOfPoints(t *testing.T) {
	t.Parallel()
	c := wellTable()
	m := c.fitted(t, c.rows(1, 250))
	if bytes.Contains(modelBytes(t, m), []byte("side/joint/operator/matrix")) {
		t.Error("the file has the rows of the operator")
	}
	test := c.rows(3, 50)
	if got, want := curvePredictions(t, reload(t, m), test), curvePredictions(t, m, test); !slices.Equal(got, want) {
		t.Errorf("predictions differ by %g after loading", mostApart(got, want))
	}
}
