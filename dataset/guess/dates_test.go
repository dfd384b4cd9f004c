package guess_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/internal/datasettest"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
)

// datedSales is a table of three stores over some days, whose dates are written by format.
func datedSales(days int, format func(day time.Time) string) string {
	var b strings.Builder
	b.WriteString("store,day,sales\n")
	for i := range 3 * days {
		fmt.Fprintf(&b, "S%d,%s,%d.5\n", i%3, format(time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i/3)), i*i%17)
	}
	return b.String()
}

func TestDateOrder(t *testing.T) {
	t.Parallel()
	for _, layout := range []string{"01/02/06", "02/01/06", "1/2/2006", "2/1/2006", "02.01.06", "2.1.2006", "02-01-06", "01-02-2006", "06/01/02", "1/2/06 15:04"} {
		path := datasettest.WriteFile(t, "t.csv", datedSales(40, func(day time.Time) string { return day.Format(layout) }))
		g, err := tableio.GuessColumns(tableio.Files(path), tableio.Format{})
		if err != nil {
			t.Errorf("%s: %v", layout, err)
			continue
		}
		if g.Columns[1].Kind != guess.KindDate || !slices.Equal(g.Modes, []string{"store", "time=day"}) || g.Notes != nil {
			t.Errorf("%s: got kind %s, modes %q, notes %q; want a date, which is the time", layout, g.Columns[1].Kind, g.Modes, g.Notes)
		}
	}
}

// Months with a point are no numbers, and neither is a number a month because it has one.
func TestMonths(t *testing.T) {
	t.Parallel()
	month := func(layout string) func(time.Time) string {
		return func(day time.Time) string {
			return time.Date(2020, time.Month(day.YearDay()), 1, 0, 0, 0, 0, time.UTC).Format(layout)
		}
	}
	for _, layout := range []string{"01.2006", "1.2006", "2006.01", "01/2006", "01-2006", "2006M01", "Jan-06", "02-Jan-2006", "Jan 2, 2006", "02-Jan-06", "Mon 2006-01-02", "Monday 2 January 2006", "02.01.2006 (Mon)"} {
		text := strings.ReplaceAll(datedSales(30, month(strings.ReplaceAll(layout, ", ", "; "))), "; ", " ")
		g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text)), tableio.Format{})
		if err != nil || g.Columns[1].Kind != guess.KindDate || !slices.Equal(g.Modes, []string{"store", "time=day"}) || g.Target != "sales" {
			t.Errorf("%s: got modes %q, target %q, %v; want the time", layout, g.Modes, g.Target, err)
		}
	}
	for _, layout := range []string{"2006.1", "13.2006", "2006.20"} {
		g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", datedSales(30, month(layout)))), tableio.Format{})
		if err != nil || g.Columns[1].Kind == guess.KindDate {
			t.Errorf("%s: got a date, %v; want numbers", layout, err)
		}
	}
}

// Dates whose order of day and month is ambiguous are read by their separator, and the guess says so.
func TestAmbiguousDates(t *testing.T) {
	t.Parallel()
	for layout, want := range map[string]string{
		"01/02/06": "the order of day and month in column day is ambiguous: 01/02/22 is read as 2022-01-02; dmy(day) in place of the column reads 2022-02-01",
		"02.01.06": "the order of day and month in column day is ambiguous: 02.01.22 is read as 2022-01-02; mdy(day) in place of the column reads 2022-02-01",
	} {
		path := datasettest.WriteFile(t, "t.csv", datedSales(12, func(day time.Time) string { return day.Format(layout) }))
		g, err := tableio.GuessColumns(tableio.Files(path), tableio.Format{})
		if err != nil || !slices.Contains(g.Notes, want) {
			t.Errorf("%s: got notes %q, %v, want\n%s", layout, g.Notes, err, want)
		}
	}
}

// Functions of a column with the day first name the order.
func TestFunctionOfDayFirst(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("at,units\n")
	for i := range 400 {
		fmt.Fprintf(&b, "%s,%d\n", day(0).Add(time.Duration(i*i%977)*time.Hour+time.Duration(i)*time.Minute).Format("02/01/2006 15:04"), i%7)
	}
	path := datasettest.WriteFile(t, "t.csv", b.String())
	g, err := tableio.GuessColumns(tableio.Files(path), tableio.Format{})
	if err != nil || !slices.Contains(g.Modes, "date(dmy(at))") {
		t.Fatalf("got modes %q, %v, want date(dmy(at)) among them", g.Modes, err)
	}
	schema := dataset.Schema{Target: g.Target, Duplicates: "sum"}
	for _, text := range g.Modes {
		m, err := dataset.ParseMode(text)
		if err != nil {
			t.Fatal(err)
		}
		schema.Modes = append(schema.Modes, m)
	}
	table, err := tableio.Read(t.Context(), tableio.Files(path), schema, g.Format, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range table.Modes {
		if ids := table.Dicts[i].IDs(); m.Func == "date" && ids[0] != "2015-01-05" {
			t.Errorf("the first date is %s, want 2015-01-05", ids[0])
		}
	}
}

// Numbers of days are dates by the name of their column and their distances.
func TestSerialDates(t *testing.T) {
	t.Parallel()
	serial := func(day time.Time) string {
		return fmt.Sprint(int(day.Sub(time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)).Hours() / 24))
	}
	text := datedSales(40, serial)
	g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text)), tableio.Format{})
	want := []string{"the numbers of column day are read as dates of a spreadsheet: 44562 is 2022-01-01"}
	if err != nil || !slices.Equal(g.Modes, []string{"store", "time=day"}) || !slices.Equal(g.Notes, want) {
		t.Errorf("got modes %q, notes %q, %v", g.Modes, g.Notes, err)
	}
	g, err = tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", strings.Replace(text, ",day,", ",code,", 1))), tableio.Format{})
	if err != nil || g.Columns[1].Kind == guess.KindDate {
		t.Errorf("a code is a date, %v", err)
	}
}

// The hour in which clocks are put back occurs twice; its rows are not added up.
func TestPutBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hour, value string // the repeated hour and the form of values
		repeats     int    // rows of the table before the repeated one
		want        string
	}{
		"measurements": {"2024-10-27 02:00", "%d.5", 400, "mean"},
		"counts":       {"2024-10-27 02:00", "%d", 400, "last"},
		"other hour":   {"2024-10-27 07:00", "%d", 400, "sum"},
		"other day":    {"2024-10-26 02:00", "%d.5", 400, "sum"},
		"large table":  {"2024-10-27 02:00", "%d", 150_000, "last"},
	} {
		var b strings.Builder
		b.WriteString("at,load\n")
		start := time.Date(2024, 10, 20, 0, 0, 0, 0, time.UTC)
		for i := range c.repeats {
			at := start.Add(time.Duration(i) * time.Hour).Format("2006-01-02 15:04")
			fmt.Fprintf(&b, "%s,"+c.value+"\n", at, i%17)
			if at == c.hour {
				fmt.Fprintf(&b, "%s,"+c.value+"\n", at, 18)
			}
		}
		g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", b.String())), tableio.Format{})
		if err != nil || g.Duplicates != c.want || g.Repeated != 1 {
			t.Errorf("%s: got rule %q for %d rows, %v; want %q for 1", name, g.Duplicates, g.Repeated, err, c.want)
		}
	}
}

// Times of which only some have an offset from UTC have no order.
func TestSomeOffsets(t *testing.T) {
	t.Parallel()
	row := 0
	text := datedSales(40, func(day time.Time) string {
		row++
		return day.Format("2006-01-02T15:04") + map[bool]string{true: "+01:00"}[row < 100]
	})
	_, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text)), tableio.Format{})
	want := `t.csv, line 101, column "day", value "2022-02-03T00:00": it has no offset from UTC, and 2022-01-01T00:00+01:00 in line 2 has one, so their order in time is unknown; write all times of the column with an offset or all without`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got error\n%v\nwant\n%s", err, want)
	}
}

func TestBadDate(t *testing.T) {
	t.Parallel()
	good := datedSales(170, func(day time.Time) string { return day.Format("2006-01-02") })
	for _, bad := range []string{"2022-02-30", "2022-02-0x", "unknown"} {
		text := strings.Replace(good, "2022-03-01", bad, 1)
		_, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text)), tableio.Format{})
		want := fmt.Sprintf(`t.csv, line 179, column "day", value %q: this is not a date, but the other values of the column are, such as 2022-01-01; correct it or remove the row; or name the columns that identify a cell as data.modes`, bad)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got error\n%v\nwant\n%s", err, want)
		}
	}
	// Totals of each year among the months.
	var months strings.Builder
	months.WriteString("store,month,sales\n")
	for i := range 10 * 26 {
		month := fmt.Sprintf("%d-%02d", 2022+i%26/13, 1+i%13)
		if i%13 == 12 {
			month = fmt.Sprintf("%d total", 2022+i%26/13)
		}
		fmt.Fprintf(&months, "s%d,%s,%.1f\n", i/26, month, 100+float64(i*i%97))
	}
	_, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "m.csv", months.String())), tableio.Format{})
	if err == nil || !strings.Contains(err.Error(), `line 14, column "month", value "2022 total": this is not a date`) {
		t.Errorf("got error %v, want the line and the value of the first total", err)
	}
	// A single series, in which no id repeats.
	var b strings.Builder
	b.WriteString("date,y\n")
	for i := range 501 {
		fmt.Fprintf(&b, "%s,%d\n", day(i).Format("01/02/2006"), i%13)
	}
	_, err = tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "s.csv", strings.Replace(b.String(), day(300).Format("01/02/2006"), "13/32/2015", 1))), tableio.Format{})
	if err == nil || !strings.Contains(err.Error(), `line 302, column "date", value "13/32/2015": this is not a date`) {
		t.Errorf("got error %v, want the line and the value of the bad date", err)
	}
}

// A row of totals has no ids, and is left out; without those columns every sum would be of a
// whole store.
func TestEmptyID(t *testing.T) {
	t.Parallel()
	text := datedSales(30, func(day time.Time) string { return day.Format("2006-01-02") })
	g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text+"Total,,9999\n")), tableio.Format{})
	if err != nil || !slices.Equal(g.Modes, []string{"store", "time=day"}) {
		t.Errorf("got modes %q, %v", g.Modes, err)
	}
	// Both columns of ids may be empty, each in a few rows.
	g, err = tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", text+"Total,,9999\n,2024-01-05,7\n")), tableio.Format{})
	if err != nil || !slices.Equal(g.Modes, []string{"store", "time=day"}) {
		t.Errorf("with two empty ids: got modes %q, %v", g.Modes, err)
	}
	// Stores that many rows lack are no mode, which the guess says.
	many := strings.ReplaceAll(text, "\nS1,", "\n,")
	g, err = tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", many)), tableio.Format{})
	if err != nil || !slices.Equal(g.Modes, []string{"time=day"}) || !slices.ContainsFunc(g.Notes, func(note string) bool {
		return strings.HasPrefix(note, "column store is not a mode, because 30 of 90 rows")
	}) {
		t.Errorf("without ids in a third of the rows: got modes %q, notes %q, %v", g.Modes, g.Notes, err)
	}
	// The line that a comment makes look wrong names it.
	_, err = tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", "# made by hand\n"+text)), tableio.Format{})
	if want := "t.csv, line 1: this is not the header, which seems to be in line 2; remove the lines above the header: tail -n +2 FILE"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("with a comment above the header: got error\n%v\nwant\n%s", err, want)
	}
	// A remark that most rows have identifies nothing.
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines[1:] {
		lines[i+1] += ",remark " + fmt.Sprint(i%2)
	}
	remarks := lines[0] + ",note\n" + strings.Join(lines[1:], "\n") + "\nS9,2022-01-30,3,\n"
	if g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "r.csv", remarks)), tableio.Format{}); err != nil || !slices.Equal(g.Modes, []string{"store", "time=day"}) {
		t.Errorf("got modes %q, %v", g.Modes, err)
	}
}

// Years with fractions are months by the name of their column and their distances; prices are not.
func TestDecimalYears(t *testing.T) {
	t.Parallel()
	table := func(column string, decimals int) string {
		text := "store," + column + ",units\n"
		for store := range 3 {
			for month := range 40 {
				text += fmt.Sprintf("s%d,%.*f,%d\n", store, decimals, 1973+float64(month)/12, 20+7*store+month*month%11)
			}
		}
		return text
	}
	for _, c := range []struct {
		column   string
		decimals int
		want     string // mode of time, "" for none
	}{{"time", 3, "time"}, {"year", 3, "time=year"}, {"Time", 2, "time=Time"}, {"price", 3, ""}, {"length", 2, ""}, {"time", 1, ""}} {
		g, err := tableio.GuessColumns(tableio.Files(datasettest.WriteFile(t, "t.csv", table(c.column, c.decimals))), tableio.Format{})
		if err != nil {
			t.Fatal(err)
		}
		noted := slices.ContainsFunc(g.Notes, func(s string) bool { return strings.Contains(s, "are read as months of decimal years: 1973.08") })
		if c.want != "" && (!slices.Equal(g.Modes, []string{"store", c.want}) || !noted) || c.want == "" && (noted || g.Columns[1].Kind == guess.KindDate) {
			t.Errorf("%s with %d decimals: got modes %q, notes %q", c.column, c.decimals, g.Modes, g.Notes)
		}
	}
}
