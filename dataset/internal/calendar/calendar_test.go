package calendar

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1260759144":                "2009-12-14 02:52",
		"1260759144.9":              "2009-12-14 02:52",
		"1260759144000":             "2009-12-14 02:52",
		"1260759144000000":          "2009-12-14 02:52",
		"1260759144000000000":       "2009-12-14 02:52",
		"20161231":                  "2016-12-31 00:00",
		"2016-12-31":                "2016-12-31 00:00",
		"2016-2-3":                  "2016-02-03 00:00",
		"2016-12":                   "2016-12-01 00:00",
		"2016/12/31":                "2016-12-31 00:00",
		"2016-12-31 23:59":          "2016-12-31 23:59",
		"2016-12-31T23:59:58.123Z":  "2016-12-31 23:59",
		"2016-12-31T23:59:58+02:00": "2016-12-31 23:59",
		"2016-12-31 24:00":          "2017-01-01 00:00",
		"20161231T235958Z":          "2016-12-31 23:59",
		"20161231T2359":             "2016-12-31 23:59",
		"20161231 23:59":            "2016-12-31 23:59",
		"2016123123":                "2016-12-31 23:00",
		"201612312359":              "2016-12-31 23:59",
		"20161231235958":            "2016-12-31 23:59",
		"1704070800":                "2024-01-01 01:00",
		"1/2/2016 1:05 p.m.":        "2016-01-02 13:05",
		"12/31/2016":                "2016-12-31 00:00",
		"1/2/2016 1:05 PM":          "2016-01-02 13:05",
		"1/2/2016 12:05 am":         "2016-01-02 00:05",
		"2016-02-29":                "2016-02-29 00:00",
		"31.12.2016":                "2016-12-31 00:00",
		"1.2.2016 7:30":             "2016-02-01 07:30",
		"12/31/16":                  "2016-12-31 00:00",
		"1/2/68":                    "2068-01-02 00:00",
		"01/02/69":                  "1969-01-02 00:00",
		"31.12.16":                  "2016-12-31 00:00",
	} {
		got, ok := Parse([]byte(text))
		if !ok || got.Format("2006-01-02 15:04") != want {
			t.Errorf("Parse(%q) = %v, %t, want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", "12", "1234567", "20161301", "2015-02-29", "31/12/2016", "31/12/16", "1.2.16", "16/12/31", "01-02-16", "1/2/016", "2016-13-01",
		"2016-12-31 24:01", "2016-12-31 12:60", "2016-12-31 noon", "-", "--", "2016-", "2016-12-31-01", "12-31-2016"} {
		if got, ok := Parse([]byte(text)); ok {
			t.Errorf("Parse(%q) = %v, want no moment", text, got)
		}
	}
}

func TestFunctions(t *testing.T) {
	t.Parallel()
	moment := time.Date(2016, 12, 31, 18, 5, 0, 0, time.UTC) // a Saturday
	want := map[string]string{"year": "2016", "quarter": "4", "month": "12", "week": "52", "day": "31", "weekday": "6", "monthday": "-1", "workday": "0",
		"hour": "18", "date": "2016-12-31", "yearmonth": "2016-12", "minute": "5", "clock": "18:05", "datehour": "2016-12-31 18:00",
		"yearquarter": "2016-Q4", "yearweek": "2016-W52", "workdays": "22"}
	functions := functions()
	if len(functions) != len(want) {
		t.Errorf("got %d functions, but the test has %d", len(functions), len(want))
	}
	for name, id := range want {
		if got := string(functions[name](nil, moment)); got != id {
			t.Errorf("%s gives %q, want %q", name, got, id)
		}
	}
}

func TestWorkdays(t *testing.T) {
	t.Parallel()
	for date, want := range map[string]int{"2015-02-01": 20, "2016-02-29": 21, "2016-08-31": 23, "2016-10-01": 21, "2014-10-15": 23} {
		at, err := time.Parse(time.DateOnly, date)
		if got := workdays(at); err != nil || got != want {
			t.Errorf("the month of %s has %d workdays, want %d", date, got, want)
		}
	}
}

// TestDaysOfMonth checks the first and last days and workdays of months of different lengths, and that all months of 30 days or more have
// all numbers of workdays.
func TestDaysOfMonth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{
		"2021-02-01": {"1", "1"},   // a Monday; 28 days with 20 workdays
		"2021-02-24": {"24", "-3"}, // a Wednesday
		"2021-02-25": {"-4", "-2"},
		"2021-02-19": {"19", "15"},
		"2021-02-28": {"-1", "0"},  // a Sunday
		"2021-03-27": {"27", "0"},  // a Saturday
		"2021-03-24": {"24", "15"}, // the 18th of 23 workdays
		"2021-03-25": {"25", "-5"},
		"2021-03-28": {"-4", "0"},
		"2021-12-31": {"-1", "-1"},
		"2024-02-29": {"-1", "-1"},
	} {
		moment, _ := Parse([]byte(text))
		for i, name := range []string{"monthday", "workday"} {
			if got := string(ByName(name)(nil, moment)); got != want[i] {
				t.Errorf("%s of %s is %s, want %s", name, text, got, want[i])
			}
		}
	}
	for month := range time.Month(36) {
		seen := map[string]bool{}
		for day := time.Date(2021, 1+month, 1, 0, 0, 0, 0, time.UTC); day.Month() == 1+month%12; day = day.AddDate(0, 0, 1) {
			seen[string(ByName("workday")(nil, day))] = true
		}
		if len(seen) != midWorkdays+lastWorkdays+1 {
			t.Errorf("month %d has %d different workdays, want %d", month, len(seen), midWorkdays+lastWorkdays+1)
		}
	}
}
