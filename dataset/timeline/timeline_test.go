package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
)

func parseMode(t *testing.T, text string) dataset.Mode {
	t.Helper()
	m, err := dataset.ParseMode(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   string
		ids    string // separated by commas
		unit   string
		steps  []int64
		next   string
		cycles string
	}{
		{"time=year+month", "2015-1,2016-2,2015-12", "month", []int64{0, 13, 11}, "2016-3,2016-4", "year 12"},
		{"time=year+month", "2016-10,2016-12,2016-11", "month", []int64{0, 2, 1}, "2017-1,2017-2", "year 12"},
		{"time=year+month", "2016-11,2016-12", "month", []int64{0, 1}, "2017-1", "year 12"},
		{"time=year+month", "2015-12,2016-02,2016-01", "month", []int64{0, 2, 1}, "2016-03,2016-04", "year 12"},
		{"time=month+year", "1-2015,2-2016,12-2015", "month", []int64{0, 13, 11}, "3-2016", "year 12"},
		{"yearmonth(at)", "2016-12,2015-01,2015-03", "month", []int64{23, 0, 2}, "2017-01,2017-02", "year 12"},
		{"month", "2015-01,2015-04,2016-01", "quarter", []int64{0, 1, 4}, "2016-04,2016-07", "year 4"},
		{"when", "Jan 2016,Feb 2016,Dec 2016", "month", []int64{0, 1, 11}, "Jan 2017", "year 12"},
		{"when", "11.2015,01.2017,12.2015", "month", []int64{0, 14, 1}, "02.2017", "year 12"},
		{"when", "11/2015,01/2017,12/2015,06/2016", "month", []int64{0, 14, 1, 7}, "02/2017", "year 12"},
		{"when", "2016M01,2016M06,2016M12", "month", []int64{0, 5, 11}, "2017M01", "year 12"},
		{"when", "30-Dec-2016,31-Dec-2016,02-Jan-2017", "day", []int64{0, 1, 3}, "03-Jan-2017", "week 7 year 365.25"},
		{"when", "30-Dec-16,31-Dec-16,02-Jan-17", "day", []int64{0, 1, 3}, "03-Jan-17", "week 7 year 365.25"},
		{"when", "Fri 2016-12-23,Sat 2016-12-24,Sun 2016-12-25,Mon 2016-12-26,Tue 2016-12-27,Wed 2016-12-28,Thu 2016-12-29", "day", []int64{0, 1, 2, 3, 4, 5, 6}, "Fri 2016-12-30,Sat 2016-12-31,Sun 2017-01-01", "week 7 year 365.25"},
		{"Datum", "Fr 23.12.2016,Sa 24.12.2016,So 25.12.2016,Mo 26.12.2016,Di 27.12.2016,Mi 28.12.2016,Do 29.12.2016", "day", []int64{0, 1, 2, 3, 4, 5, 6}, "Fr 30.12.2016", "week 7 year 365.25"},
		{"when", "23 Dec 2016 (Fri),26 Dec 2016 (Mon),30 Dec 2016 (Fri)", "day", []int64{0, 3, 7}, "", "week 7 year 365.25"},
		{"Monat", "Mär 2015,Mai 2015,Okt 2015,Dez 2015,Mär 2016", "month", []int64{0, 2, 7, 9, 12}, "Apr 2016,Mai 2016", "year 12"},
		{"when", "1Q15,4Q15,2Q16", "quarter", []int64{0, 3, 5}, "3Q16,4Q16,1Q17", "year 4"},
		{"when", "Q1'15,Q4'15,Q2'16", "quarter", []int64{0, 3, 5}, "Q3'16,Q4'16,Q1'17", "year 4"},
		{"when", "2015.1,2015.2,2015.3,2015.4,2016.1,2016.2,2016.3,2016.4", "quarter", []int64{0, 1, 2, 3, 4, 5, 6, 7}, "2017.1", "year 4"},
		{"when", "Nov-99,Jan-01,Dec-99", "month", []int64{0, 14, 1}, "Feb-01", "year 12"},
		{"month", "201611,201701,201612", "month", []int64{0, 2, 1}, "201702", "year 12"},
		{"x", "201611,201701,201612,201702,201703,201801", "month", []int64{0, 2, 1, 3, 4, 14}, "201802", "year 12"},
		{"when", "JANUARY_2016,MAY_2016", "month", []int64{0, 4}, "JUNE_2016", "year 12"},
		{"month", "2016-01-31,2016-02-29,2016-03-31", "month", []int64{0, 1, 2}, "2016-04-30,2016-05-31", "year 12"},
		{"quarter", "2015Q1,2015Q4,2016Q2", "quarter", []int64{0, 3, 5}, "2016Q3,2016Q4,2017Q1", "year 4"},
		{"half", "2015-H1,2015-H2,2016-H2,2017-H1,2017-H2,2018-H1", "quarter", []int64{0, 1, 3, 4, 5, 6}, "2018-H2,2019-H1,2019-H2", "year 2"},
		{"time=year+term", "2015-2,2016-1,2016-2,2017-1,2017-2", "quarter", []int64{0, 1, 2, 3, 4}, "2018-1,2018-2", "year 2"},
		{"time=year+term", "2015-1,2015-2,2016-1", "quarter", []int64{0, 1, 4}, "2016-2,2016-3", "year 4"},
		{"yearquarter(at)", "2016-Q4,2016-Q1", "quarter", []int64{3, 0}, "2017-Q1", "year 4"},
		{"when", "Q4/2015,Q1/2016", "quarter", []int64{0, 1}, "Q2/2016", "year 4"},
		{"time=year+week", "2015-53,2016-1,2016-30", "week", []int64{0, 1, 30}, "2016-31,2016-32", "year 52.18"},
		{"time=year+week", "2016-1,2016-2,2016-9", "week", []int64{0, 1, 8}, "2016-10", "year 52.18"},
		{"yearweek(at)", "2015-W52,2015-W53", "week", []int64{0, 1}, "2016-W01,2016-W02", "year 52.18"},
		{"yearweek(at)", "2016-W01,2016-W03,2016-W04", "week", []int64{0, 2, 3}, "2016-W05", "year 52.18"},
		{"week", "2016-02-01,2016-02-08,2016-02-29", "week", []int64{0, 1, 4}, "2016-03-07", "year 52.18"},
		{"date", "2016-02-28,2016-03-01,2016-03-02", "day", []int64{0, 2, 3}, "2016-03-03", "week 7 year 365.25"},
		{"date", "12/30/2016,12/31/2016,1/2/2017", "day", []int64{0, 1, 3}, "1/3/2017", "week 7 year 365.25"},
		{"date", "30.12.2016,31.12.2016", "day", []int64{0, 1}, "01.01.2017", "week 7 year 365.25"},
		{"date", "20161230,20161231", "day", []int64{0, 1}, "20170101", "week 7 year 365.25"},
		{"time=year+month+day", "2016-2-28,2016-3-1", "day", []int64{0, 2}, "2016-3-2", "week 7 year 365.25"},
		{"at", "2016-02-01 00:00,2016-02-01 05:00,2016-02-02 23:00", "hour", []int64{0, 5, 47}, "2016-02-03 00:00", "day 24 week 168"},
		{"at", "2016-02-01T22:00:00Z,2016-02-01T23:00:00Z", "hour", []int64{0, 1}, "2016-02-02T00:00:00Z", "day 24 week 168"},
		{"at", "2016-02-01 00:00:00.000,2016-02-01 01:00:00.000,2016-02-01 05:00:00.000", "hour", []int64{0, 1, 5}, "2016-02-01 06:00:00.000", "day 24 week 168"},
		{"at", "2016-02-01T00:00:00.000Z,2016-02-01T00:05:00.000Z,2016-02-01T00:10:00.000Z,2016-02-01T00:20:00.000Z", "minute", []int64{0, 1, 2, 4}, "2016-02-01T00:25:00.000Z", "day 288 week 2016"},
		{"at", "2016-02-01 00:00:00,2016-02-01 00:00:10,2016-02-01 00:00:20,2016-02-01 00:00:50", "second", []int64{0, 1, 2, 5}, "2016-02-01 00:01:00,2016-02-01 00:01:10", "day 8640"},
		{"at", "2016-02-01 00:00:03,2016-02-01 00:05:01,2016-02-01 00:10:02,2016-02-01 00:20:07", "minute", []int64{0, 1, 2, 4}, "2016-02-01 00:25:00", "day 288 week 2016"},
		{"at", "2016-02-01 22:00,2016-02-01 23:00,2016-02-01 24:00,2016-02-02 01:00", "hour", []int64{0, 1, 2, 3}, "2016-02-02 02:00", "day 24 week 168"},
		{"at", "2016-02-01 24:00,2016-02-02 22:00,2016-02-02 23:00", "hour", []int64{0, 22, 23}, "2016-02-02 24:00,2016-02-03 01:00", "day 24 week 168"},
		{"at", "20160201T220000Z,20160201T230000Z", "hour", []int64{0, 1}, "20160202T000000Z", "day 24 week 168"},
		{"at", "2016020122,2016020123", "hour", []int64{0, 1}, "2016020200", "day 24 week 168"},
		{"at", "201602012200,201602012300", "hour", []int64{0, 1}, "201602020000", "day 24 week 168"},
		{"at", "1480550400.0,1480554000.0,1480561200.0", "hour", []int64{0, 1, 3}, "1480564800.0", "day 24 week 168"},
		{"at", "2/1/2016 9:00 p.m.,2/1/2016 10:00 p.m.", "hour", []int64{0, 1}, "2/1/2016 11:00 p.m.,2/2/2016 12:00 a.m.", "day 24 week 168"},
		{"at", "2024-10-27T01:00:00+02:00,2024-10-27T02:00:00+02:00,2024-10-27T02:00:00+01:00,2024-10-27T04:00:00+01:00", "hour", []int64{0, 1, 2, 4}, "2024-10-27T05:00:00+01:00", "day 24 week 168"},
		{"at", "2024-03-31T01:00+01:00,2024-03-31T03:00+02:00,2024-03-31T04:00+02:00", "hour", []int64{0, 1, 2}, "2024-03-31T05:00+02:00", "day 24 week 168"},
		{"at", "2024-10-27 02:00 CEST,2024-10-27 02:00 CET,2024-10-27 03:00 CET", "hour", []int64{0, 1, 2}, "2024-10-27 04:00 CET", "day 24 week 168"},
		{"day", "2024-10-26T00:00:00+02:00,2024-10-27T00:00:00+02:00,2024-10-29T00:00:00+01:00", "day", []int64{0, 1, 3}, "2024-10-30T00:00:00+01:00", "week 7 year 365.25"},
		{"month", "2024-09-01T00:00:00+02:00,2024-10-01T00:00:00+02:00,2024-11-01T00:00:00+01:00", "month", []int64{0, 1, 2}, "2024-12-01T00:00:00+01:00", "year 12"},
		{"day", "2024-01-01T00:00:00+05:30,2024-01-02T00:00:00+05:30,2024-01-04T00:00:00+05:30", "day", []int64{0, 1, 3}, "2024-01-05T00:00:00+05:30", "week 7 year 365.25"},
		{"at", "2/1/2016 9:00 PM,2/1/2016 10:00 PM", "hour", []int64{0, 1}, "2/1/2016 11:00 PM,2/2/2016 12:00 AM", "day 24 week 168"},
		{"time=date+hour", "2015-12-31-22,2015-12-31-23", "hour", []int64{0, 1}, "2016-01-01-0", "day 24 week 168"},
		{"datehour(at)", "2016-12-31 23:00,2016-12-31 20:00", "hour", []int64{3, 0}, "2017-01-01 00:00", "day 24 week 168"},
		{"at", "1480550400,1480554000,1480561200", "hour", []int64{0, 1, 3}, "1480564800", "day 24 week 168"},
		{"at", "1480550400000,1480554000000,1480561200000", "hour", []int64{0, 1, 3}, "1480564800000", "day 24 week 168"},
		{"at", "2016-02-01 00:00,2016-02-01 00:15,2016-02-01 00:45,2016-02-01 01:00", "minute", []int64{0, 1, 3, 4}, "2016-02-01 01:15", "day 96 week 672"},
		{"year", "2014,2017,2016", "year", []int64{0, 3, 2}, "2018,2019", ""},
		{"year", "2014", "year", []int64{0}, "2015", ""},
		{"year", "98,99,00", "year", []int64{0, 1, 2}, "01,02", ""},
		{"year", "67,68,69,71", "year", []int64{0, 1, 2, 4}, "72,73", ""},
		{"year", "1998/99,1999/00,1997/98", "year", []int64{1, 2, 0}, "2000/01,2001/02", ""},
		{"year", "2018/19,2019/20", "year", []int64{0, 1}, "2020/21", ""},
		{"year", "2000/01,2001/02,2003/04", "year", []int64{0, 1, 3}, "2004/05", ""},
		{"season", "2010-11,2011-12,2009-10", "year", []int64{1, 2, 0}, "2012-13", ""},
		{"season", "2010-2011,2011-2012", "year", []int64{0, 1}, "2012-2013", ""},
		{"fy", "FY 1998/1999,FY 1999/2000", "year", []int64{0, 1}, "FY 2000/2001", ""},
		{"time=fy+quarter", "2020-21-3,2020-21-4,2021-22-1", "quarter", []int64{0, 1, 2}, "2021-22-2,2021-22-3", "year 4"},
		{"time=fy+quarter", "2020-21-2,2020-21-3,2020-21-4", "quarter", []int64{0, 1, 2}, "2021-22-1", "year 4"},
		{"time=period+fy", "P11-1998/99,P12-1998/99,P01-1999/00", "month", []int64{0, 1, 2}, "P02-1999/00", "year 12"},
		{"time=fy+quarter", "FY98-Q4,FY99-Q1,FY99-Q4", "quarter", []int64{0, 1, 4}, "FY00-Q1", "year 4"},
		{"season", "2010-11,2011-12,2012-01", "month", []int64{0, 13, 14}, "2012-02", "year 12"},
		{"yearmonth(at)", "2010-11,2011-12", "month", []int64{0, 13}, "2012-01", "year 12"},
		{"billed", "2016-01-15,2016-02-15,2016-03-15,2016-04-15,2016-06-15,2016-07-15", "month", []int64{0, 1, 2, 3, 5, 6}, "2016-08-15,2016-09-15", "year 12"},
		{"billed", "30.11.2015,30.12.2015,30.01.2016,29.02.2016,30.03.2016,30.04.2016", "month", []int64{0, 1, 2, 3, 4, 5}, "30.05.2016,30.06.2016", "year 12"},
		{"billed", "2016-01-15,2016-02-15,2016-03-15,2016-04-15,2016-05-15", "day", []int64{0, 31, 60, 91, 121}, "2016-05-16", "week 7 year 365.25"},
		{"close", "2018-01-31,2018-02-28,2018-03-29,2018-04-30,2018-05-31,2018-06-29", "month", []int64{0, 1, 2, 3, 4, 5}, "2018-07-31,2018-08-31,2018-09-28", "year 12"},
		{"open", "2018-01-02,2018-02-01,2018-03-01,2018-04-02,2018-05-01,2018-06-01", "month", []int64{0, 1, 2, 3, 4, 5}, "2018-07-02,2018-08-01,2018-09-03", "year 12"},
		{"quarter_date", "2018-01-15,2018-04-15,2018-07-15,2018-10-15,2019-01-15,2019-04-15", "quarter", []int64{0, 1, 2, 3, 4, 5}, "2019-07-15", "year 4"},
		{"date", "2013-06-28,2014-06-30,2015-06-30,2016-06-30,2017-06-30,2018-06-29", "year", []int64{0, 1, 2, 3, 4, 5}, "2019-06-28", ""},
		{"week", "202051,202053,202101,202052", "week", []int64{0, 2, 3, 1}, "202102", "year 52.18"},
		{"yearweek", "202350,202351,202352", "week", []int64{0, 1, 2}, "202401,202402", "year 52.18"},
		{"week", "202352,202351,202348,202336", "week", []int64{16, 15, 12, 0}, "202401", "year 52.18"},
		{"week", "202301,202302,202303,202304,202305,202312", "week", []int64{0, 1, 2, 3, 4, 11}, "202313", "year 52.18"},
		{"month", "202311,202312", "month", []int64{0, 1}, "202401", "year 12"},
		{"date", "01/10/2021,01/11/2021,01/12/2021,01/01/2022,01/02/2022,01/03/2022", "month", []int64{0, 1, 2, 3, 4, 5}, "01/04/2022", "year 12"},
		{"date", "01/02/2022,01/03/2022,01/04/2022,01/05/2022", "day", []int64{0, 1, 2, 3}, "01/06/2022", "week 7 year 365.25"},
		{"date", "45292,45323,45352,45383,45413,45444,45474,45505", "month", []int64{0, 1, 2, 3, 4, 5, 6, 7}, "45536", "year 12"},
		{"Datum", "45292,45293,45294,45295,45296,45299,45300,45301", "day", []int64{0, 1, 2, 3, 4, 7, 8, 9}, "45302,45303", "week 7 year 365.25"},
		{"period_no", "45292,45392,45492,45592,45692,45792,45892,45992", "", []int64{0, 1, 2, 3, 4, 5, 6, 7}, "46092", ""},
		{"time", "1973,1973.083,1973.25,1973.333,1973.417,1973.5,1973.583,1973.75", "month", []int64{0, 1, 3, 4, 5, 6, 7, 9}, "1973.833,1973.917,1974,1974.083", "year 12"},
		{"year", "1973.25,1973.50,1973.75,1974.00,1974.25,1974.50,1974.75,1975.25", "quarter", []int64{0, 1, 2, 3, 4, 5, 6, 8}, "1975.50,1975.75,1976.00", "year 4"},
		{"time=date(serial(day))", "2024-01-01,2024-01-02,2024-01-04", "day", []int64{0, 1, 3}, "2024-01-05", "week 7 year 365.25"},
		{"period", "7,9,8", "", []int64{0, 2, 1}, "10,11", ""},
		{"period", "-3,-2,0", "", []int64{0, 1, 3}, "1", ""},
		{"period", "10,20,40,50", "", []int64{0, 1, 3, 4}, "60,70", ""},
		{"t", "d_1,d_2,d_10", "", []int64{0, 1, 9}, "d_11", ""},
		{"t", "d_001,d_002,d_010", "", []int64{0, 1, 9}, "d_011", ""},
		{"time=year+week", "2015-60,2016-61,2016-63", "", []int64{0, 1, 3}, "2016-64", ""},
		{"month", "11,12,13", "month", []int64{0, 1, 2}, "14", "year 12"},
	} {
		ids := strings.Split(c.ids, ",")
		line, err := New(parseMode(t, c.mode), ids)
		if err != nil {
			t.Errorf("%s %q: %v", c.mode, ids, err)
			continue
		}
		if line.Unit() != c.unit || !slices.Equal(line.Steps(), c.steps) {
			t.Errorf("%s %q: got %q %v, want %q %v", c.mode, ids, line.Unit(), line.Steps(), c.unit, c.steps)
		}
		want := strings.Split(c.next, ",")
		if c.next == "" {
			want = nil // the name of the next weekday does not occur
			if _, err := line.Next(1); err == nil {
				t.Errorf("%s %q: got a next id", c.mode, ids)
			}
		}
		next, err := line.Next(len(want))
		if err != nil || !slices.Equal(next, want) {
			t.Errorf("%s %q: got the next ids %q, %v, want %q", c.mode, ids, next, err, want)
		}
		cycles := ""
		for _, cycle := range line.Cycles() {
			cycles += fmt.Sprintf(" %s %.4g", cycle.Name, cycle.Periods)
		}
		if want := strings.ReplaceAll(c.cycles, "365.25", "365.2"); strings.TrimSpace(cycles) != want {
			t.Errorf("%s %q: got cycles%s, want %s", c.mode, ids, cycles, want)
		}
		for i, id := range ids {
			if step, ok := line.Step(id); !ok || step != c.steps[i] {
				t.Errorf("%s: got step %d, %v for %s, want %d", c.mode, step, ok, id, c.steps[i])
			}
		}
		for k, id := range next {
			if step, ok := line.Step(id); !ok || step != line.Last()+int64(k)+1 {
				t.Errorf("%s: got step %d, %v for the future id %s", c.mode, step, ok, id)
			}
		}
	}
}

// TestRoundTrip writes 3,000 future periods of every unit and reads them back.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for mode, ids := range map[string]string{
		"time=year+month": "2015-1,2016-2", "yearweek(at)": "2015-W52,2015-W53", "date": "2016-02-28,2016-03-01", "at": "2016-02-01 00:00,2016-02-01 05:00",
		"quarter": "2015Q1,2015Q4", "period": "1,2,3", "time=year+month+day": "2016-2-28,2016-3-1", "time=date+hour": "2015-12-31-22,2015-12-31-23",
		"time=date+clock": "2016-12-31-11:00 AM,2016-12-31-12:00 PM", "time=day+at": "12/30/2016-09:30:00 p.m.,12/30/2016-10:00:00 p.m.", "time=d+t": "2016-12-31-11pm,2017-01-01-12am",
		"when": "Jan 2016,Feb 2016", "month": "2016-01-31,2016-02-29", "d": "12/30/2016,12/31/2016",
	} {
		line, err := New(parseMode(t, mode), strings.Split(ids, ","))
		if err != nil {
			t.Fatal(err)
		}
		next, err := line.Next(3000)
		if err != nil {
			t.Errorf("%s: %v", mode, err)
		}
		for k, id := range next {
			if step, ok := line.Step(id); !ok || step != line.Last()+int64(k)+1 {
				t.Fatalf("%s: %s has step %d, %v, want %d", mode, id, step, ok, line.Last()+int64(k)+1)
			}
		}
	}
}

func TestWeekdays(t *testing.T) {
	t.Parallel()
	var ids []string
	for day := time.Date(2016, 11, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2016; day = day.AddDate(0, 0, 1) {
		if day.Weekday() != time.Saturday && day.Weekday() != time.Sunday && day.Day() != 26 {
			ids = append(ids, day.Format("2006-01-02"))
		}
	}
	line, err := New(parseMode(t, "date"), ids)
	if err != nil {
		t.Fatal(err)
	}
	next, err := line.Next(6)
	if want := []string{"2017-01-02", "2017-01-03", "2017-01-04", "2017-01-05", "2017-01-06", "2017-01-09"}; err != nil || !slices.Equal(next, want) {
		t.Errorf("got %q, %v, want %q", next, err, want)
	}
	if a, _ := line.Step("2016-12-23"); line.Cycles()[0].Periods != 5 || line.Unit() != "day" {
		t.Errorf("got cycles %v, step %d", line.Cycles(), a)
	}
	monday, _ := line.Step("2016-12-12")
	if friday, _ := line.Step("2016-12-09"); monday != friday+1 {
		t.Errorf("Monday has step %d, the Friday before %d", monday, friday)
	}
	if why := line.WhyNone("2016-12-10"); why != "this is on a weekday that has no periods, which are written as 2016-12-30" {
		t.Errorf("got %q for a Saturday", why)
	}
	if step, ok := line.Step("2016-12-10"); ok {
		t.Errorf("got step %d for a Saturday, want none", step)
	}
	if id, err := line.ID(line.Last() - 4); id != "2016-12-26" || err != nil {
		t.Errorf("got %s, %v for a day without rows, want 2016-12-26", id, err)
	}
}

// TestMovedWeeks has Mondays of which some are moved by some days.
func TestMovedWeeks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		moved map[int]int // days by week
		unit  string
		next  string
	}{
		{nil, "week", "2021-11-01"},
		{map[int]int{7: 1, 20: -2, 42: 1}, "week", "2021-11-01"},
		{map[int]int{7: 1, 20: 1, 31: 1, 35: 1, 40: 1}, "day", "2021-11-01"},
		{map[int]int{7: 3}, "day", "2021-11-01"},
	} {
		var ids []string
		for week := range 43 {
			ids = append(ids, time.Date(2021, 1, 4+7*week+c.moved[week], 0, 0, 0, 0, time.UTC).Format(time.DateOnly))
		}
		line, err := New(parseMode(t, "date"), ids)
		if err != nil {
			t.Fatal(err)
		}
		if line.Unit() != c.unit {
			t.Errorf("%v: got the unit %s, want %s", c.moved, line.Unit(), c.unit)
		}
		if c.unit != "week" {
			continue
		}
		for week, id := range ids {
			if step, ok := line.Step(id); !ok || step != int64(week) || line.Steps()[week] != step {
				t.Errorf("%v: %s has step %d, %v, want %d", c.moved, id, step, ok, week)
			}
		}
		if next, err := line.Next(1); err != nil || next[0] != c.next {
			t.Errorf("%v: got the next week %q, %v, want %s", c.moved, next, err, c.next)
		}
	}
}

// Dates that are written in several ways have next periods, which are written like the latest date.
func TestDatesInSeveralForms(t *testing.T) {
	t.Parallel()
	for ids, want := range map[string]string{
		"2024-01-30,31/01/2024,2024-02-01,2024-02-02":                   "2024-02-03",
		"2024-01-29,30/01/2024,2024-01-31,01/02/2024":                   "02/02/2024",
		"2024-01-01,2024-01-01 12:00:00,2024-01-02,2024-01-02 12:00:00": "2024-01-03 00:00:00",
	} {
		line, err := New(parseMode(t, "day"), strings.Split(ids, ","))
		if err != nil {
			t.Fatal(err)
		}
		if next, err := line.Next(1); err != nil || next[0] != want {
			t.Errorf("%s: got %q, %v, want %s", ids, next, err, want)
		}
	}
}

func TestIrregular(t *testing.T) {
	t.Parallel()
	for mode, ids := range map[string]string{"period": "1.5,3.25,2", "time=year+week": "2015-0,2015-53,2016-1"} {
		line, err := New(parseMode(t, mode), strings.Split(ids, ","))
		if err != nil || line.Regular() {
			t.Fatalf("%s: got %+v, %v, want an order without a grid", mode, line, err)
		}
		if _, err := line.Next(1); err == nil || !strings.Contains(err.Error(), "not the period after the last") {
			t.Errorf("%s: got error %v for the next period", mode, err)
		}
	}
	if line, err := New(parseMode(t, "store"), []string{"north", "south"}); err == nil {
		t.Errorf("got %+v for ids without an order, want an error", line)
	}
	line, err := New(parseMode(t, "month"), []string{"10", "11", "12"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := line.Next(1); err == nil || !strings.Contains(err.Error(), "cyclic") {
		t.Errorf("got error %v for the month after 12, want that a month is cyclic", err)
	}
	for _, id := range []string{"", "x", "2016-13", "2016-12-31-1"} {
		line, _ := New(parseMode(t, "time=year+month"), []string{"2015-1", "2016-2"})
		if step, ok := line.Step(id); ok {
			t.Errorf("got step %d for %q, want none", step, id)
		}
	}
}

func TestWhyNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, ids, id, want string }{
		{"date", "2022-11-01,2022-12-01,2022-08-01", "2023-01-01", ""},
		{"date", "2022-11-01,2022-12-01,2022-08-01", "2023-01-15", "this does not name a period, which is a month written as 2022-12-01"},
		{"date", "2022-11-01,2022-12-01,2022-08-01", "2023-13-01", "this is not a date or a period written as 2022-12-01 is"},
		{"time=year+month", "2022-11,2022-12", "2022-13", "this is not a date or a period written as 2022-12 is"},
		{"year", "2018/19,2019/20", "2020/22", "this is not a date or a period written as 2019/20 is"},
		{"at", "2016-02-01 00:00,2016-02-01 00:15,2016-02-01 00:45,2016-02-01 01:00", "2016-02-01 01:20", "this is between two periods, which are 15 minutes apart and written as 2016-02-01 01:00"},
		{"at", "2024-06-01T01:00Z,2024-06-01T02:00Z", "2024-06-01T05:00+02:00", ""},
		{"at", "2024-06-01T01:00Z,2024-06-01T02:00Z", "2024-06-01T03:00", "this is not a date or a period written as 2024-06-01T02:00Z is"},
		{"period", "10,20,40,50", "55", "this is between two periods, which are written as 50"},
		{"period", "1.5,3.25,2", "4", "the ids of mode period, such as 3.25, give their order but no other periods"},
	} {
		line, err := New(parseMode(t, c.mode), strings.Split(c.ids, ","))
		if err != nil {
			t.Fatal(err)
		}
		if got := line.WhyNone(c.id); got != c.want {
			t.Errorf("%s in %s: got %q, want %q", c.id, c.ids, got, c.want)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mode, ids, want string }{
		{"time=year+month", "2016-11,2016-12", "2017,1"},
		{"yearmonth(at)", "2016-11,2016-12", "2017-01-01"},
		{"yearweek(at)", "2016-W51,2016-W52", "2017-01-02"},
		{"yearquarter(at)", "2016-Q3,2016-Q4", "2017-01-01"},
		{"year(at)", "2015,2016", "2017-01-01"},
		{"date(at)", "2016-12-30,2016-12-31", "2017-01-01"},
		{"datehour(at)", "2016-12-31 22:00,2016-12-31 23:00", "2017-01-01"},
		{"datehour(at)", "2016-12-31 21:00,2016-12-31 22:00", "2016-12-31 23:00"},
		{"period", "7,8", "9"},
	} {
		line, err := New(parseMode(t, c.mode), strings.Split(c.ids, ","))
		if err != nil {
			t.Fatal(err)
		}
		got, err := line.Columns(line.Last() + 1)
		if err != nil || strings.Join(got, ",") != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.mode, got, err, c.want)
		}
		if line.Mode().Func == "" {
			continue
		}
		id, _, err := line.Mode().ID(map[string]string{"at": got[0]})
		if want, _ := line.ID(line.Last() + 1); id != want || err != nil {
			t.Errorf("%s: %s makes the id %q, %v, want %q", c.mode, got[0], id, err, want)
		}
	}
}

func ExampleTimeline_Next() {
	mode, _ := dataset.ParseMode("time=year+month")
	line, _ := New(mode, []string{"2016-9", "2016-12"})
	next, _ := line.Next(2)
	step, _ := line.Step("2017-3")
	fmt.Println(line.Unit(), line.Steps(), next, step)
	// Output: month [0 3] [2017-1 2017-2] 6
}

func TestModeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		modes, ids string // ids of each mode, separated by semicolons
		of, along  int
	}{
		{"shop,time", "a,b;1,2,3", 1, 1},
		{"date,shop", "2016-01-01,2016-01-02;a,b", 0, 0},
		{"user,step", "u1,u2;1,2,3", 1, 1},
		{"user,x", "u1,u2;1,2,3", -1, 1},
		{"user,item", "u1,u2;1,2,3", -1, -1},
		{"user,x", "u1,u2;1,2,9", -1, -1},
	} {
		var modes []dataset.Mode
		for text := range strings.SplitSeq(c.modes, ",") {
			modes = append(modes, parseMode(t, text))
		}
		ids := func(mode int) []string { return strings.Split(strings.Split(c.ids, ";")[mode], ",") }
		if of, along := ModeOf(modes, ids), ModeAlong(modes, ids); of != c.of || along != c.along {
			t.Errorf("%s with %s: got modes %d and %d, want %d and %d", c.modes, c.ids, of, along, c.of, c.along)
		}
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"2024-01-01 00:00", "2024-01-01 00:30", "2024-01-01 01:00", "2024-01-01 01:30", "2024-01-01 02:00"}, "30-minute period"},
		{[]string{"2024-01-01", "2024-01-02", "2024-01-03"}, "day"},
		{[]string{"1", "2", "3"}, ""},
	} {
		line, err := New(dataset.Mode{Name: "time", Columns: []string{"at"}}, c.ids)
		if err != nil {
			t.Fatal(err)
		}
		if got := line.Period(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.ids, got, c.want)
		}
	}
}
