package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestChronology(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		ids  string // in chronological order
		note bool
	}{
		{mode: "time=year+month", ids: "2015-2 2015-10 2016-1"},
		{mode: "time=month+year", ids: "2-2015 10-2015 1-2016"},
		{mode: "time=m+y", ids: "2-2015 10-2015 1-2016"},
		{mode: "time=day+month+year", ids: "31-1-2015 1-2-2015 2-1-2016"},
		{mode: "time=d+m+y", ids: "31-1-2015 1-2-2015 2-1-2016"},
		{mode: "time=hour+date", ids: "23-2015-01-01 1-2015-01-02"},
		{mode: "time=date+hour", ids: "2015-01-01-2 2015-01-01-10 2015-01-02-1"},
		{mode: "time=date+hour", ids: "12/31/2015-2 12/31/2015-10 1/1/2016-1"},
		{mode: "time=weekday+week+year", ids: "7-9-2015 1-10-2015"},
		{mode: "time=quarter+fiscalYear", ids: "4-2015 1-2016"},
		{mode: "when", ids: "12/31/2015 1/1/2016 11/1/2016"},
		{mode: "when", ids: "12-2015 01-2016 11-2016"},
		{mode: "when", ids: "Dec_2015 Jan_2016 Sept_2016"},
		{mode: "when", ids: "2015Q4 2016Q1"},
		{mode: "when", ids: "Q4/2015 Q1/2016"},
		{mode: "when", ids: "t2 t10 t11"},
		{mode: "when", ids: "-3 -2.5 0 11"},
		{mode: "when", ids: "19991231 20000101"},
		{mode: "year(when)", ids: "2015 2016"},
		{mode: "yearmonth(when)", ids: "2015-12 2016-01"},
		{mode: "date(when)", ids: "2015-12-31 2016-01-01"},
		{mode: "year", ids: "98 99 00 01"},
		{mode: "year", ids: "63 64 70 92"},
		{mode: "month", ids: "9 12 13"}, // a running number
		{mode: "month", ids: "2 10 12", note: true},
		{mode: "time=day+month", ids: "31-1 1-2", note: true},
	} {
		m, err := ParseMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(c.ids)
		ids := slices.Clone(want)
		slices.Reverse(ids)
		slices.Sort(ids[1:])
		got, err := m.Chronology(ids)
		if err != nil {
			t.Errorf("%s: %v", c.mode, err)
			continue
		}
		for i, code := range got.Order {
			if ids[code] != want[i] {
				t.Errorf("%s: got %s at position %d, want the order %v", c.mode, ids[code], i, want)
				break
			}
		}
		if (got.Note != "") != c.note {
			t.Errorf("%s %v: got note %q, want one: %t", c.mode, want, got.Note, c.note)
		}
	}
}

func TestChronologyErrors(t *testing.T) {
	t.Parallel()
	for mode, ids := range map[string]string{
		"when":                "b c a",
		"time=store+item":     "12-4 7-9",
		"time=year+hour":      "2015-7 2016-9",
		"time=year+weekday":   "2015-7 2016-1",
		"period":              "31.12.15 1.1.16",
		"time=year+name":      "2015-a 2016-b",
		"time=year+month+day": "2015-1-x 2016-2-y",
		"season":              "Winter2015 Spring2016",
	} {
		m, err := ParseMode(mode)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Chronology(strings.Fields(ids)); err == nil || !strings.Contains(err.Error(), "is ambiguous; make it from a year and a period within the year (time=year+month)") {
			t.Errorf("%s: got %v, error %v, want an error about an ambiguous order", mode, got, err)
		}
	}
	days := strings.Fields("01/31/22 02/01/22 02/02/22 02/03/22 02/04/22 02/05/22 02/06/22 02/07/22 02/08/22")
	if _, err := (Mode{Name: "day", Columns: []string{"day"}}).Chronology(append(days, "02/30/22")); err == nil || !strings.HasPrefix(err.Error(), `id "02/30/22" of mode day is not a date`) {
		t.Errorf("got error %v, want the bad date", err)
	}
	for _, f := range cyclicFunctions {
		m, err := ParseMode(f + "(at)")
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Chronology([]string{"1", "2", "3"})
		if want := fmt.Sprintf("mode %s is %s(at), which is cyclic and has no last %s; use a mode made of yearmonth(at) or date(at), or of columns such as time=year+month", f, f, f); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", f, err, want)
		}
	}
}

func TestMixedTimes(t *testing.T) {
	t.Parallel()
	m := Mode{Name: "month", Columns: []string{"month"}}
	for ids, want := range map[string]string{
		"2021-01 02/2021 2021-03 4/2021":                            `times in several forms, as "2021-01" and "02/2021"`,
		"2021-01-01T01:00Z 2021-01-01T02:00+01:00 2021-01-01T03:00": `times in several forms, as "2021-01-01T01:00Z" and "2021-01-01T03:00"`,
		"1.2.22 1.3.22 1.4.22 1.5.22 1.6.22 1.7.22 1.8.22 1.9.22":   "is ambiguous",
		"13/01/2023 14/01/2023 01/02/2023 02/13/2023":               `times in several forms, as "13/01/2023" and "02/13/2023"`,
		"a1 b2 c-3":   "is ambiguous",
		"7 12/2021 8": "is ambiguous",
	} {
		if _, err := m.Chronology(strings.Fields(ids)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", ids, err, want)
		}
	}
	for ids, want := range map[string]string{
		"1.2.22 1.3.22 1.4.22":                    "; if they are dates in the order dmy, write month=date(dmy(month))",
		"1.2.22 1.13.22":                          "; if they are dates in the order mdy, write month=date(mdy(month))",
		"2021-01-01T01:00Z 1.2.21 2021-01-01T3:0": "; if they are dates in the order dmy, write month=date(dmy(month))",
		"1.2.22 1.3":                              "2016-12-31",
	} {
		if _, err := m.Chronology(strings.Fields(ids)); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q at its end", ids, err, want)
		}
	}
	if _, _, mixed := m.MixedTimes([]string{"2021-01", "2021-02"}); mixed {
		t.Error("ids of one form are said to be mixed")
	}
	if a, b, mixed := (Mode{Name: "shop", Columns: []string{"shop"}}).MixedTimes([]string{"Store 0", "Store 1", "Store\u00a00"}); mixed {
		t.Errorf("%q and %q are said to be times", a, b)
	}
}
