package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/browser"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/report"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

const hostile = `</script><b>"x" & y`

// fit writes a table of 6 stores, 20 items and 24 months with a side table and fits a
// model to it. One store has an id that would break a page that does not escape it.
func fit(t *testing.T, change func(*spec.Spec)) (m *model.Model, table string) {
	t.Helper()
	dir := t.TempDir()
	var sales, items strings.Builder
	sales.WriteString("store,item,month,units\n")
	items.WriteString("item,price,kind\n")
	for i := range 20 {
		fmt.Fprintf(&items, "item%02d,%g,%s\n", i, 1+0.5*float64(i%7), []string{"dry", "fresh"}[i%2])
	}
	for s := range 6 {
		store := fmt.Sprintf("store%d", s)
		if s == 5 {
			store = `"` + strings.ReplaceAll(hostile, `"`, `""`) + `"`
		}
		for i := range 20 {
			for month := range 24 {
				level := 3 - 0.2*float64(i%7) + 0.2*float64(s) + 0.3*math.Sin(float64(month)*math.Pi/6)
				fmt.Fprintf(&sales, "%s,item%02d,%d-%02d,%.0f\n", store, i, 2023+month/12, month%12+1, math.Exp(level+0.2*math.Sin(float64(s*31+i*17+month*13))))
			}
		}
	}
	table = filepath.Join(dir, "sales.csv")
	for path, text := range map[string]string{table: sales.String(), filepath.Join(dir, "items.csv"): items.String()} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := spec.Default()
	s.Data.Files, s.Data.Target, s.Data.Modes, s.Transform = []string{table}, "units", []string{"store", "item", "month"}, "log1p"
	s.Side.Tables, s.Side.Variant = []string{"item=" + filepath.Join(dir, "items.csv")}, "additive"
	s.Terms = []string{"store,item,month:2"}
	s.Fit = spec.Fit{Sweeps: 5}
	if change != nil {
		change(&s)
	}
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Files(table), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m, table
}

func write(t *testing.T, m *model.Model, opt report.Options) string {
	t.Helper()
	var page bytes.Buffer
	if err := report.Write(t.Context(), &page, m, opt); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func TestContents(t *testing.T) {
	t.Parallel()
	m, table := fit(t, nil)
	page := write(t, m, report.Options{Name: "m.kft", Series: []model.Cell{{"store": "store1", "item": "item03"}}})
	for _, want := range []string{
		"Better than the best formula", "Do its intervals hold?", "<h2 id=\"data-title\">", "2,880", "Scores by part", "Scores by how much is known of a cell", "PIT: where values fall",
		"Coverage against width", "Residuals by month", "store ids with the largest bias", "Learned factors of item", "Importance of modes and side columns", "Effect of item.price", "Effect of item.kind",
		"month of the year", "store store1, item item03", "Learning curve", "kft fit -o model.kft", "store,item,month:2",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(page, "<b>") || strings.Contains(page, "http://") || strings.Contains(page, "https://") || strings.Contains(page, "NaN") {
		t.Error("the page has an id that is not escaped, an address, or a number that is not finite")
	}
	if again := write(t, m, report.Options{Name: "m.kft", Series: []model.Cell{{"store": "store1", "item": "item03"}}}); again != page {
		t.Error("the same model gives another page")
	}

	if err := os.Rename(table, table+".old"); err != nil {
		t.Fatal(err)
	}
	page = write(t, m, report.Options{})
	for _, want := range []string{"is not there", "Some sections are missing", "PIT: where values fall", "Effect of item.price"} {
		if !strings.Contains(page, want) {
			t.Errorf("without a table the page has no %q", want)
		}
	}
	if strings.Contains(page, `id="residuals"`) {
		t.Error("without a table the page has residuals")
	}
	if err := os.WriteFile(table, []byte("store,item,month,units\nstore1,item01,2023-01,5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if page = write(t, m, report.Options{}); !strings.Contains(page, "has changed since the fit") {
		t.Error("a table that has changed is not reported")
	}
	other := tableio.Files(table)
	var notFitted *evaluate.NotFittedError
	if err := report.Write(t.Context(), &bytes.Buffer{}, m, report.Options{Source: &other}); !errors.As(err, &notFitted) {
		t.Errorf("another table: got error %v, want a NotFittedError", err)
	}
}

// TestKinds writes reports of models that lack something.
func TestKinds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*spec.Spec){
		"counts": func(s *spec.Spec) {
			s.Transform, s.Uncertainty.Likelihood, s.Uncertainty.Inference, s.Side.Tables, s.Side.Variant = "identity", "poisson", "mean-field", nil, "plain"
		},
		"training rows only": func(s *spec.Spec) { s.Split = "random:100/0/0"; s.Fit.Lambda = spec.LambdaOf(1) },
		"joint core":         func(s *spec.Spec) { s.Terms = []string{"store*item,month:1"} },
		"time split":         func(s *spec.Spec) { s.Split = "time:last=3"; s.Uncertainty.Inference = "mean-field" },
	} {
		m, _ := fit(t, change)
		if page := write(t, m, report.Options{}); !strings.Contains(page, "Verdict") || len(page) > report.MaxBytes || strings.Contains(page, "NaN") {
			t.Errorf("%s: the page is not complete, too large, or has NaN", name)
		}
	}
	m, _ := fit(t, nil)
	err := report.Write(t.Context(), &bytes.Buffer{}, m, report.Options{Series: []model.Cell{{"store": "store1"}}})
	var cell *model.CellError
	if !errors.As(err, &cell) || cell.Mode != "item" {
		t.Errorf("a series without an item: got error %v, want a CellError", err)
	}
	err = report.Write(t.Context(), &bytes.Buffer{}, m, report.Options{Series: []model.Cell{{"store": "stor1", "item": "item03"}}})
	if !errors.As(err, &cell) || cell.Mode != "store" || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a series of an unknown store: got error %v, want a CellError with the nearest id", err)
	}
	err = report.Write(t.Context(), &bytes.Buffer{}, m, report.Options{Series: []model.Cell{{"store": "store1", "item": "item03", "stoer": "x"}}})
	if err == nil || !strings.Contains(err.Error(), `no mode "stoer" (did you mean "store"?)`) {
		t.Errorf("a series with an unknown mode: got error %v", err)
	}
}

// A report of records has covariates, not modes, and no share of observed cells.
func TestRecords(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("city,area,rooms,price\n")
	for i := range 300 {
		fmt.Fprintf(&table, "c%d,%d,%d,%d\n", i%5, 40+(i*37)%150, 1+i%6, 50000+1000*((i*37)%150)+(i*7919)%5000)
	}
	file := filepath.Join(t.TempDir(), "houses.csv")
	if err := os.WriteFile(file, []byte(table.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := spec.Spec{Version: spec.Version, Data: spec.Data{Files: []string{file}, Target: "price", Modes: []string{"city", "number(area)", "level(rooms)"}, Duplicates: "keep"},
		Terms: []string{"city", "area", "rooms"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Files(file), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	page := write(t, m, report.Options{})
	for _, want := range []string{"mode city", "covariate area", "a number, in", "covariate rooms", "6 levels"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, not := range []string{"mode area", "observed cells", "ids with a row", "R2 identity", "e+0"} {
		if strings.Contains(page, not) {
			t.Errorf("the page has %q", not)
		}
	}
}

// TestForecasts checks that series go on after the end of the table.
func TestForecasts(t *testing.T) {
	t.Parallel()
	m, table := fit(t, func(s *spec.Spec) {
		s.Terms, s.Uncertainty.Inference = []string{"store", "item", "series(store*item; month; walk, season=12)"}, "mean-field"
	})
	page := write(t, m, report.Options{})
	if !strings.Contains(page, "forecast: 6 points") {
		t.Error("the series have no forecasts")
	}
	if strings.Contains(page, "[]") {
		t.Error("terms without ranks are written with an empty list")
	}
	if page := write(t, m, report.Options{Horizon: -1}); strings.Contains(page, "forecast: ") {
		t.Error("the series have forecasts that nobody asked for")
	}

	var picture bytes.Buffer
	if err := report.WriteSeries(t.Context(), &picture, m, report.Options{Series: []model.Cell{{"store": "store1", "item": "item03"}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg xmlns", "store store1, item item03", "forecast: 6 points"} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	if err := os.Rename(table, table+".old"); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteSeries(t.Context(), &picture, m, report.Options{}); err == nil {
		t.Error("a picture without the table of the fit: got no error")
	}
}

// TestBrowser reads the page as a person does.
func TestBrowser(t *testing.T) {
	m, _ := fit(t, nil)
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(write(t, m, report.Options{Name: "m.kft"})), 0o666); err != nil {
		t.Fatal(err)
	}
	tab := browser.Open(t, "file://"+path)
	for _, scheme := range []string{"light", "dark"} {
		tab.ColorScheme(scheme)
		tab.CheckAccessible()
	}
	rows := `document.querySelectorAll("#found tbody tr").length`
	if got := browser.Evaluate[int](tab, rows); got != 6 {
		t.Errorf("got %d stores, want 6", got)
	}
	if got := browser.Evaluate[string](tab, `[...document.querySelectorAll("#found tbody tr")].map(r => r.cells[0].textContent).join()`); !strings.Contains(got, hostile) {
		t.Errorf("got stores %s, want %s among them", got, hostile)
	}
	browser.Evaluate[bool](tab, `(() => { const m = document.getElementById("mode"); m.value = "1"; m.dispatchEvent(new Event("change")); return true })()`)
	tab.Type("#query", "item1")
	tab.WaitFor(rows + " === 10")
	if got := tab.Text("#status"); !strings.Contains(got, "10 of 20 ids of item") {
		t.Errorf("got status %q", got)
	}
	tab.Press(browser.Enter)
	tab.WaitFor(`document.querySelectorAll("#detail li").length === 5`)
	if got := tab.Text("#detail"); !strings.Contains(got, "Nearest by learned factors") || !strings.Contains(got, "item item1") {
		t.Errorf("got detail %q", got)
	}
	// By keyboard: from the query to the first heading, which sorts by id.
	tab.Press(browser.TabKey + browser.TabKey)
	if got := browser.Evaluate[string](tab, "document.activeElement.textContent"); got != "id" {
		t.Errorf("two tabs after the query: got %q, want the heading id", got)
	}
	tab.Press(browser.Enter)
	if got := browser.Evaluate[string](tab, `document.querySelector("#found tbody tr").cells[0].textContent + " " + document.querySelector("#found th").getAttribute("aria-sort")`); got != "item10 ascending" {
		t.Errorf("after sorting by id: got %s", got)
	}
	tab.Viewport(360, 740)
	tab.CheckAccessible()
	tab.Viewport(1000, 900)
	tab.PrintMedia()
	if browser.Evaluate[bool](tab, `getComputedStyle(document.getElementById("search")).display !== "none"`) {
		t.Error("the search box is printed")
	}
	tab.CheckConsole()
}

// TestVerdictOfFewValues checks that intervals of a target with two values, which hold all
// of them, are not said to be wrong.
func TestVerdictOfFewValues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("store,item,won\n")
	random := rand.New(rand.NewPCG(1, 2))
	for s := range 40 {
		for i := range 50 {
			won := 0
			if random.Float64() < 1/(1+math.Exp(-(math.Sin(float64(s))+math.Cos(float64(i))))) {
				won = 1
			}
			fmt.Fprintf(&rows, "s%02d,i%02d,%d\n", s, i, won)
		}
	}
	table := filepath.Join(dir, "won.csv")
	if err := os.WriteFile(table, []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	s := spec.Default()
	s.Data.Files, s.Data.Target, s.Data.Modes = []string{table}, "won", []string{"store", "item"}
	s.Terms, s.Uncertainty.Likelihood, s.Uncertainty.Inference = []string{"store", "item"}, "bernoulli", "mean-field"
	s.Fill()
	m, _, err := train.ReadAndFit(t.Context(), s, tableio.Files(table), train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	page := write(t, m, report.Options{})
	for _, want := range []string{"its intervals hold", "if values on the edge of an interval count in part", "Below, values on the edge", `<span class="state unknown">unknown</span> <strong>Do they hold everywhere?`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
