package dataset

import (
	"reflect"
	"testing"
)

func TestParseMode(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want Mode
	}{
		{"store", Mode{Name: "store", Columns: []string{"store"}}},
		{"time=year+month", Mode{Name: "time", Columns: []string{"year", "month"}}},
		{"year+month", Mode{Name: "year+month", Columns: []string{"year", "month"}}},
		{"hour(timestamp)", Mode{Name: "hour", Columns: []string{"timestamp"}, Func: "hour"}},
		{"h=hour(timestamp)", Mode{Name: "h", Columns: []string{"timestamp"}, Func: "hour"}},
		{"shop=store", Mode{Name: "shop", Columns: []string{"store"}}},
		{"s=a:b", Mode{Name: "s", Columns: []string{"a:b"}}},
		{`"a+b"`, Mode{Name: "a+b", Columns: []string{"a+b"}}},
		{`p="price, (USD)"`, Mode{Name: "p", Columns: []string{"price, (USD)"}}},
		{`time="year=fiscal"+month`, Mode{Name: "time", Columns: []string{"year=fiscal", "month"}}},
		{`hour("at (UTC)")`, Mode{Name: "hour", Columns: []string{"at (UTC)"}, Func: "hour"}},
		{`q="a ""b"""`, Mode{Name: "q", Columns: []string{`a "b"`}}},
		{"month(dmy(day))", Mode{Name: "month", Columns: []string{"day"}, Func: "month", Dates: "dmy"}},
		{`day=date(mdy("day (US)"))`, Mode{Name: "day", Columns: []string{"day (US)"}, Func: "date", Dates: "mdy"}},
		{"joint(lat+lon)", Mode{Name: "joint", Columns: []string{"lat", "lon"}, Func: "joint"}},
		{"linear(lat+lon)", Mode{Name: "linear", Columns: []string{"lat", "lon"}, Func: "linear"}},
		{"place=joint(lat+lon)", Mode{Name: "place", Columns: []string{"lat", "lon"}, Func: "joint"}},
		{`"12"" disc"`, Mode{Name: `12" disc`, Columns: []string{`12" disc`}}},
	} {
		got, err := ParseMode(tc.text)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("ParseMode(%q) = %+v, %v, want %+v", tc.text, got, err, tc.want)
		}
		if got.String() != tc.text {
			t.Errorf("%+v is written %q, want %q", got, got.String(), tc.text)
		}
	}
	if m, err := ParseMode(" time = year + month "); err != nil || m.String() != "time=year+month" {
		t.Errorf("with spaces: got %v, %v, want time=year+month", m, err)
	}
	if m, err := ParseMode("day=dmy(day)"); err != nil || m.String() != "day=date(dmy(day))" {
		t.Errorf("got %v, %v, want the date of a day-first column", m, err)
	}
	for text, want := range map[string]string{
		"number(dmy(a))": `mode "number(dmy(a))": a function takes one column, as in hour(timestamp)`,
		"":               `mode "": the name of a column is missing; write store, time=year+month or hour(timestamp)`,
		"a+":             `mode "a+": the name of a column is missing; write store, time=year+month or hour(timestamp)`,
		"=a":             `mode "=a": the name before '=' is missing; write it as time=year+month`,
		"hour(t":         `mode "hour(t": the parenthesis is not closed; write it as hour(timestamp)`,
		"hour()":         `mode "hour()": the name of a column is missing; write store, time=year+month or hour(timestamp)`,
		"hour(a+b)":      `mode "hour(a+b)": a function takes one column, as in hour(timestamp)`,
		"joint(lat)":     `mode "joint(lat)": joint needs two covariates or more, as in joint(lat+other); one alone is number(lat)`,
		"linear(lat)":    `mode "linear(lat)": linear needs two covariates or more, as in linear(lat+other); one alone is number(lat)`,
		"huor(t)":        `mode "huor(t)": unknown function "huor" (did you mean "hour"?); the functions are clock, date, datehour, day, hour, minute, month, monthday, quarter, week, weekday, workday, workdays, year, yearmonth, yearquarter, yearweek, and those of periods of some minutes, such as date10min and near10min; a column with that name is written in quotes: "huor(t)"`,
		"mont(t)":        `mode "mont(t)": unknown function "mont" (did you mean "month"?); the functions are clock, date, datehour, day, hour, minute, month, monthday, quarter, week, weekday, workday, workdays, year, yearmonth, yearquarter, yearweek, and those of periods of some minutes, such as date10min and near10min; a column with that name is written in quotes: "mont(t)"`,
		"a:b":            `mode "a:b": the name of a mode may not contain any of ",*:=()"; give it a name, as in time=a:b`,
		"store,item":     `mode "store,item": the name of a mode may not contain any of ",*:=()"; give it a name, as in time="store,item"`,
		`"a,b"`:          `mode "\"a,b\"": the name of a mode may not contain any of ",*:=()"; give it a name, as in time="a,b"`,
		`"a+b`:           `mode "\"a+b": a quote is not closed; write "a+b", and double each quote within quotes`,
		`"a"b`:           `mode "\"a\"b": a quote is not closed; write "a+b", and double each quote within quotes`,
		"a*b=store+item": `mode "a*b=store+item": the name of a mode may not contain any of ",*:=()"; give it a name, as in time=store+item`,
	} {
		if _, err := ParseMode(text); err == nil || err.Error() != want {
			t.Errorf("ParseMode(%q): got error %v, want %s", text, err, want)
		}
	}
	if got, err := ParseModes(`"a+b",p="x, y",c`); err != nil || len(got) != 3 || got[0].Columns[0] != "a+b" || got[1].Columns[0] != "x, y" || got[2].Name != "c" {
		t.Errorf("ParseModes with quotes: got %+v, %v", got, err)
	}
	if _, err := ParseModes("a,b,a"); err == nil || err.Error() != `two modes have the name "a"; rename one of them, as in other=a` {
		t.Errorf("ParseModes with a repeated name: got error %v", err)
	}
}

func TestModeID(t *testing.T) {
	t.Parallel()
	values := map[string]string{"year": "2016", "month": " 1", "at": "2016-12-31 23:59", "bad": "x"}
	for text, want := range map[string]string{"time=year+month": "2016-1", "hour(at)": "23", "year": "2016", "time=year+week": "", "store": ""} {
		m, err := ParseMode(text)
		if err != nil {
			t.Fatal(err)
		}
		id, ok, err := m.ID(values)
		if err != nil || id != want || ok != (want != "") {
			t.Errorf("%s: got id %q, %t, %v, want %q", text, id, ok, err, want)
		}
	}
	m, _ := ParseMode("hour(bad)")
	if _, _, err := m.ID(values); err == nil {
		t.Error("x is accepted as a moment")
	}
}
