package forecast

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	got, sum := write(t, m, Options{Horizon: 3})
	if want := "store,item,year,month,mean,median,lo-90,hi-90"; strings.Join(got.header, ",") != want {
		t.Errorf("got columns %v, want %s", got.header, want)
	}
	if sum.Series != 72 || len(got.rows) != 3*72 || sum.Rows != 3*72 || sum.First != "2016-7" || sum.Last != "2016-9" {
		t.Errorf("got %+v and %d rows, want 72 series in 2016-7 to 2016-9", sum, len(got.rows))
	}
	var july, january float64
	for _, row := range got.rows {
		if lo, mid, hi := number(t, row, "lo-90"), number(t, row, "median"), number(t, row, "hi-90"); !(lo < mid && mid < hi) {
			t.Fatalf("got the interval %g to %g around %g", lo, hi, mid)
		}
		if row["month"] == "7" {
			july += number(t, row, "mean")
		}
	}
	got, _ = write(t, m, Options{Horizon: 9})
	for _, row := range got.rows {
		if row["year"] == "2017" && row["month"] == "1" {
			january += number(t, row, "mean")
		}
	}
	// The season is sin(2 pi m/12): 0 in January and July, but -0.5 in October.
	if math.Abs(july/january-1) > 0.15 {
		t.Errorf("got totals %g in July and %g in January", july, january)
	}

	// A forecast equals the prediction of its cell.
	p, err := m.Predict(t.Context(), []model.Cell{{"store": "s2", "item": "i3", "time": "2016-8"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range got.rows {
		if row["store"] == "s2" && row["item"] == "i3" && row["year"] == "2016" && row["month"] == "8" {
			if low, _ := p[0].Interval(0.9); float32(number(t, row, "mean")) != float32(p[0].Mean) || math.Abs(number(t, row, "lo-90")/low-1) > 1e-6 {
				t.Errorf("got %v, but the cell is predicted as %g from %g", row, p[0].Mean, low)
			}
		}
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	for _, c := range []struct {
		o    Options
		rows int
	}{
		{Options{Horizon: 1}, 72},
		{Options{Horizon: 2, Active: 6}, 2 * 66}, // without s11
		{Options{Horizon: 1, Only: []string{"store=s1"}}, 6},
		{Options{Horizon: 1, Only: []string{"store=s1,s2"}}, 12},
		{Options{Horizon: 1, Only: []string{"store=s1", "store=s2", "item=i0"}}, 2},
		{Options{Horizon: 1, Only: []string{"store=s11"}, Active: 12}, 6},
	} {
		if got, sum := write(t, m, c.o); len(got.rows) != c.rows || sum.Series*c.o.Horizon != c.rows {
			t.Errorf("%+v: got %d rows, want %d", c.o, len(got.rows), c.rows)
		}
	}
	got, _ := write(t, m, Options{Horizon: 1, Levels: []float64{80, 95}, Quantiles: []float64{0.1, 0.9}, Draws: 2})
	if want := "store,item,year,month,mean,median,lo-80,hi-80,lo-95,hi-95,q0.1,q0.9,sample_1,sample_2"; strings.Join(got.header, ",") != want {
		t.Errorf("got columns %v, want %s", got.header, want)
	}
	row := got.rows[0]
	if number(t, row, "lo-80") != number(t, row, "q0.1") || number(t, row, "hi-80") != number(t, row, "q0.9") || number(t, row, "lo-95") >= number(t, row, "lo-80") {
		t.Errorf("got %v", row)
	}
}

// TestTotals checks that draws of totals add up across groupings, and that the intervals of
// totals are narrower than sums of intervals.
func TestTotals(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	stores, sum := write(t, m, Options{Horizon: 2, By: "store", Draws: 60})
	all, _ := write(t, m, Options{Horizon: 2, By: "total", Draws: 60, Threads: 1})
	cells, _ := write(t, m, Options{Horizon: 2})
	if len(stores.rows) != 24 || len(all.rows) != 2 || sum.Draws != 60 || strings.Join(stores.header[:3], ",") != "store,year,month" || all.header[0] != "year" {
		t.Fatalf("got %d rows %v and %d rows %v", len(stores.rows), stores.header, len(all.rows), all.header)
	}
	for _, column := range []string{"mean", "sample_1", "sample_60"} {
		total := 0.0
		for _, row := range stores.rows {
			if row["month"] == "7" {
				total += number(t, row, column)
			}
		}
		if want := number(t, all.rows[0], column); math.Abs(total/want-1) > 1e-6 {
			t.Errorf("%s: the stores add up to %g, the total is %g", column, total, want)
		}
	}
	width, mean := 0.0, 0.0
	for _, row := range cells.rows {
		if row["month"] == "7" {
			width += number(t, row, "hi-90") - number(t, row, "lo-90")
			mean += number(t, row, "mean")
		}
	}
	if own := number(t, all.rows[0], "hi-90") - number(t, all.rows[0], "lo-90"); own > width/2 || math.Abs(mean/number(t, all.rows[0], "mean")-1) > 1e-6 {
		t.Errorf("got a total of %v for cells whose widths add up to %g and means to %g", all.rows[0], width, mean)
	}
}

func TestFuture(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	plan := func(text string) tableio.Source { return tableio.Reader("plans.csv", strings.NewReader(text)) }
	got, sum := write(t, m, Options{Future: plan("year,month,item,store,note\n2016,9,i3,s2,promo\n2016,7,i3,new,\n")})
	if want := `1 of 2 forecasts: an id is neither in the training data nor in a side table, such as store "new", and counts as an average one`; !slices.Contains(sum.Warnings, want) {
		t.Errorf("got the warnings %q, want %q", sum.Warnings, want)
	}
	if len(got.rows) != 2 || got.rows[0]["note"] != "promo" || sum.First != "2016-7" || sum.Last != "2016-9" || sum.Series != 0 || sum.Cells != 2 {
		t.Errorf("got %+v, %+v", got, sum)
	}
	for text, want := range map[string]string{
		"year,month,item,store\n2016,9,i3,s2\n2016,6,i3,s2\n":               `plans.csv, data row 2, column "year", value "2016-6": this is not a period after the last training period 2016-6`,
		"year,month,item,store\n2016,13,i3,s2\n":                            `value "2016-13": this is not a date or a period written as 2016-6 is; correct it or remove the row`,
		"year,month,item,store\n2016,9,,s2\n":                               `plans.csv, data row 1, column "item": the value is missing, and the forecast of the row depends on it`,
		"year,month,item,store\n2018,9,i3,s2\n":                             "this is 27 periods ahead, beyond the horizon of 3",
		"year,item,store\n2016,i3,s2\n":                                     `"month"`,
		"year,month,item,store\n2016,7,i3,s2\n2016,9,i3,s2\n":               `plans.csv, data row 1, value "s2, i3": this series has no row for 2016-8, one of the 3 periods of the horizon; add the rows`,
		"year,month,item,store\n2016,7,i3,s2\n2016,7,i2,s2\n2016,7,i1,s2\n": "one of the 3 periods of the horizon; 2 other series also lack rows; add the rows",
	} {
		var out bytes.Buffer
		_, err := Write(t.Context(), m, &out, Options{Horizon: 3, Future: plan(text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", text, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	for want, o := range map[string]Options{
		"the horizon is 0":                     {},
		"is longer than the 30 that the model": {Horizon: 31},
		"is not a level of an interval":        {Horizon: 1, Levels: []float64{0.9, 100}},
		"the level 90 appears twice":           {Horizon: 1, Levels: []float64{90, 90}},
		"quantiles: 1 is not between":          {Horizon: 1, Quantiles: []float64{1}},
		`no mode or group "shop"`:              {Horizon: 1, Only: []string{"shop=1"}},
		`"s99" is neither in the training`:     {Horizon: 1, Only: []string{"store=s99"}},
		"choose those of each mode separately": {Horizon: 1, Only: []string{"store=s1,item=i0"}},
		"does not distinguish series":          {Horizon: 1, Only: []string{"time=2016-1"}},
		`"store" does not choose series`:       {Horizon: 1, Only: []string{"store"}},
		"no series is left":                    {Horizon: 1, Only: []string{"store=s11"}, Active: 1},
		"-1 is not a number of periods":        {Horizon: 1, Active: -1},
		"totals are by period already":         {Horizon: 1, By: "time"},
		"the groups item.vendor are not known": {Horizon: 1, By: "item.vendor"},
		"5 draws of a total cannot give":       {Horizon: 1, By: "store", Draws: 5},
		"-1 is not a number of draws":          {Horizon: 1, Draws: -1},
	} {
		var out bytes.Buffer
		_, err := Write(t.Context(), m, &out, o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want %q", o, err, want)
		}
		if out.Len() > 0 {
			t.Errorf("%+v: wrote %q", o, out.String())
		}
	}
}

func TestGroupsOfTables(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	vendors := func() map[string]tableio.Source {
		text := "vendor,code\n" // the key is not the first column
		for i := range 8 {
			text += string(rune('A'+i%2)) + ",i" + string(rune('0'+i)) + "\n"
		}
		return map[string]tableio.Source{"items": tableio.Reader("items.csv", strings.NewReader(text))}
	}
	got, _ := write(t, m, Options{Horizon: 1, By: "item.vendor", Side: []string{"item=items[key=code]"}, Tables: vendors()})
	if len(got.rows) != 2 || got.rows[0]["item.vendor"] != "A" || got.header[0] != "item.vendor" {
		t.Errorf("got %v", got.rows)
	}
	got, _ = write(t, m, Options{Horizon: 1, Only: []string{"item.vendor=A"}, Side: []string{"item=items[key=code]"}, Tables: vendors()})
	if len(got.rows) != 36 {
		t.Errorf("got %d rows of vendor A, want 36", len(got.rows))
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	for format, magic := range map[string]string{"parquet": "PAR1", "arrow": "ARROW1"} {
		for _, by := range []string{"", "store"} {
			var out bytes.Buffer
			if _, err := Write(t.Context(), m, &out, Options{Horizon: 1, By: by, Output: tableio.Output{Format: format}}); err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(out.Bytes(), []byte(magic)) {
				t.Errorf("%s: got %q", format, out.Bytes()[:8])
			}
		}
	}
}

// TestDecimalCommas checks that forecasts of a table with decimal commas have them, and another delimiter.
func TestDecimalCommas(t *testing.T) {
	t.Parallel()
	s := salesSpec()
	s.Data.Decimal = "comma"
	m, _, err := search.Fit(t.Context(), s, sales(t), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan := "store;item;year;month\ns2;i3;2016;8\n"
	for _, c := range []struct {
		name  string
		o     Options
		field string // pattern of the first value
	}{
		{"cells", Options{Horizon: 1}, `^s0;i0;2016;7;\d+,\d+;`},
		{"totals", Options{Horizon: 1, By: "total"}, `^2016;7;\d+,\d+;`},
		{"a table", Options{Future: tableio.Reader("plan", strings.NewReader(plan))}, `^s2;i3;2016;8;\d+,\d+;`},
		{"given delimiter", Options{Horizon: 1, Output: tableio.Output{Delimiter: '\t'}}, `^s0\ti0\t2016\t7\t\d+,\d+\t`},
		{"comma as delimiter", Options{Horizon: 1, Output: tableio.Output{Delimiter: ','}}, `^s0,i0,2016,7,\d+\.\d+,`},
	} {
		var text strings.Builder
		if _, err := Write(t.Context(), m, &text, c.o); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if line := strings.Split(text.String(), "\n")[1]; !regexp.MustCompile(c.field).MatchString(line) {
			t.Errorf("%s: got %q, want %s", c.name, line, c.field)
		}
	}
}

// TestSavedModel checks that a model in a file gives the same forecasts.
func TestSavedModel(t *testing.T) {
	t.Parallel()
	m := salesModel(t)
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Read(&file, "model")
	if err != nil {
		t.Fatal(err)
	}
	var texts [2]bytes.Buffer
	for i, m := range []*model.Model{m, loaded} {
		if _, err := Write(t.Context(), m, &texts[i], Options{Horizon: 4, Draws: 3}); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Error("the forecasts of the loaded model differ")
	}
}

// Series that ended long ago are forecast after the end of the table, which is worth a warning if
// they are most of them.
func TestEndedSeries(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("id,year,value\n")
	for i := range 120 {
		fmt.Fprintf(&text, "y%d,%d,%d\n", i/30, 1940+i%30+15*(i/30), 100+i*i%17)
	}
	s := spec.Spec{Data: spec.Data{Target: "value", Modes: []string{"id", "time=year"}, Ends: "table"}, Split: "time:last=3", Terms: []string{"id", "series(id; time)"}, Fit: spec.Fit{Refit: "all"}}
	s.Fill()
	m, _, err := search.Fit(t.Context(), s, tableio.Reader("years.csv", strings.NewReader(text.String())), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for active, want := range map[int]bool{0: true, 10: false} {
		_, sum := write(t, m, Options{Horizon: 2, Active: active})
		if got := slices.ContainsFunc(sum.Warnings, func(w string) bool { return strings.HasPrefix(w, "3 of 4 series have no row in the last 4 periods") }); got != want {
			t.Errorf("active %d: got the warnings %q", active, sum.Warnings)
		}
	}
}

// Totals contain the forecasts of series that have ended and of rows that are absent, which their rows do not show.
func TestTotalsOfAbsentRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has    func(id, year int) bool
		absent string
		active int
		want   string
	}{
		"an ended series": {func(id, year int) bool { return id > 0 || year < 20 }, "", 0, "1 of 4 series have no row in the last 4 periods"},
		"left out":        {func(id, year int) bool { return id > 0 || year < 20 }, "", 4, ""},
		"all rows":        {func(int, int) bool { return true }, "", 0, ""},
		"sparse":          {func(id, year int) bool { return (year+id)%3 == 0 }, "", 0, "the totals contain all 4 series in each period, but the table has only 3"},
		"zeros":           {func(id, year int) bool { return (year+id)%3 == 0 }, "zero", 0, ""},
	} {
		var text strings.Builder
		text.WriteString("id,year,value\n")
		for i := range 120 {
			if c.has(i/30, i%30) {
				fmt.Fprintf(&text, "y%d,%d,%d\n", i/30, 1990+i%30, 100+i*i%17)
			}
		}
		s := spec.Spec{Data: spec.Data{Target: "value", Modes: []string{"id", "time=year"}, Ends: "table", Absent: c.absent}, Split: "time:last=3", Terms: []string{"id", "series(id; time)"}, Fit: spec.Fit{Refit: "all"}}
		s.Fill()
		m, _, err := search.Fit(t.Context(), s, tableio.Reader("years.csv", strings.NewReader(text.String())), train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, sum := write(t, m, Options{Horizon: 2, By: "total", Active: c.active})
		got := strings.Join(sum.Warnings, "\n")
		if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "totals") {
			t.Errorf("%s: got the warnings %q", name, got)
		}
	}
}

// TestOwnEnds forecasts lines of different lengths, each after its own last row, with a model from a file.
func TestOwnEnds(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("id,t,value\n")
	ends := map[string]int{}
	for i := range 12 {
		id, n := fmt.Sprint("y", i), 20+3*i
		ends[id] = n
		for k := 1; k <= n; k++ {
			fmt.Fprintf(&text, "%s,%d,%d\n", id, k, 100*i+10*k+k%2)
		}
	}
	s := spec.Spec{Data: spec.Data{Target: "value", Modes: []string{"id", "t"}}, Split: "time:last=3", Terms: []string{"id", "series(id; t; walk, drift)"}, Fit: spec.Fit{Refit: "all"}}
	s.Uncertainty.Inference = "mean-field"
	s.Fill()
	table := tableio.Reader("lines.csv", strings.NewReader(text.String()))
	fitted, report, err := search.Fit(t.Context(), s, table, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fitted.Spec().Data.Ends != "series" || report.Test.N != 3*12 || !slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.HasPrefix(w, "11 of 12 series end before") }) {
		t.Errorf("got data.ends %q, %d test rows, %q", fitted.Spec().Data.Ends, report.Test.N, report.Warnings)
	}
	var file bytes.Buffer
	if _, err := fitted.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	m, err := model.Read(&file, "model")
	if err != nil {
		t.Fatal(err)
	}
	got, sum := write(t, m, Options{Horizon: 2})
	if len(got.rows) != 24 || !sum.Own || len(sum.Warnings) > 0 {
		t.Errorf("got %d rows, %+v", len(got.rows), sum)
	}
	for i, row := range got.rows {
		var at int
		fmt.Sscan(row["id"][1:], &at)
		period := ends[row["id"]] + 1 + i%2
		if want := float64(100*at + 10*period); row["t"] != fmt.Sprint(period) || math.Abs(number(t, row, "mean")-want) > 12 {
			t.Errorf("got %v, want about %g in period %d", row, want, period)
		}
	}
	for future, want := range map[string]string{"id,t\ny0,21\n": "", "id,t\ny0,20\n": "after the last training period 20 of the series"} {
		_, err := Write(t.Context(), m, &bytes.Buffer{}, Options{Future: tableio.Reader("future.csv", strings.NewReader(future))})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", future, err, want)
		}
	}
	result, _, err := Backtest(t.Context(), s, tableio.Reader("lines.csv", strings.NewReader(text.String())), BacktestOptions{Windows: 2, Horizon: 2})
	if err != nil {
		t.Fatal(err)
	}
	if o := result.Origins[1]; o.ID != "end-2" || o.Tested != 24 || result.Scores[0].MAE > 10 {
		t.Errorf("got the origin %+v, MAE %g", o, result.Scores[0].MAE)
	}
}

// A missing number of a plan is reported by the name of its column.
func TestFutureCovariateMissing(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("month,store,price,units\n")
	for m := range 24 {
		for s := range 6 {
			price := 1 + (m*7+s*3)%5
			fmt.Fprintf(&text, "%d-%02d,s%d,%d,%d\n", 2014+m/12, m%12+1, s, price, 20+s-2*price)
		}
	}
	s := salesSpec()
	s.Data.Modes, s.Data.Covariates, s.Terms, s.Transform = []string{"store", "time=month"}, []string{"number(price)"}, []string{"store", "price"}, "identity"
	s.Fill()
	m, _, err := search.Fit(t.Context(), s, tableio.Reader("sales.csv", strings.NewReader(text.String())), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	_, err = Write(t.Context(), m, &out, Options{Future: tableio.Reader("plans.csv", strings.NewReader("month,store,price\n2016-01,s1,3\n2016-01,s2,\n"))})
	if want := `plans.csv, data row 2, column "price": the value is missing`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %q", err, want)
	}
}

// A model that keeps rows of the same cell forecasts several of them, which differ in covariates.
func TestFutureRowsOfOneCell(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("month,store,price,units\n")
	for m := range 24 {
		for s := range 6 {
			price := 1 + (m*7+s*3)%5
			fmt.Fprintf(&text, "%d-%02d,s%d,%d,%d\n%d-%02d,s%d,6,%d\n", 2014+m/12, m%12+1, s, price, 20+s-2*price, 2014+m/12, m%12+1, s, 8+s)
		}
	}
	s := salesSpec()
	s.Data.Modes, s.Data.Covariates, s.Terms, s.Transform, s.Data.Duplicates = []string{"store", "time=month"}, []string{"number(price)"}, []string{"store", "price"}, "identity", "keep"
	s.Fill()
	m, _, err := search.Fit(t.Context(), s, tableio.Reader("sales.csv", strings.NewReader(text.String())), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sum, err := Write(t.Context(), m, &out, Options{Future: tableio.Reader("plans.csv", strings.NewReader("month,store,price\n2016-01,s1,2\n2016-01,s1,6\n"))})
	if err != nil || sum.Rows != 2 {
		t.Fatalf("got %v, error %v, want two rows", sum, err)
	}
	lines := strings.Split(out.String(), "\n")
	var cheap, dear float64
	fmt.Sscanf(strings.Split(lines[1], ",")[3], "%g", &cheap)
	fmt.Sscanf(strings.Split(lines[2], ",")[3], "%g", &dear)
	if cheap < dear+6 {
		t.Errorf("got %g at the price 2 and %g at 6, want a difference of about 8\n%s", cheap, dear, out.String())
	}
	if _, err = Write(t.Context(), m, &out, Options{Horizon: 1}); err == nil || !strings.Contains(err.Error(), "the future values of price") {
		t.Errorf("got error %v without future prices", err)
	}
}
