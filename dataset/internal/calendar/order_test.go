package calendar

import (
	"slices"
	"testing"
	"time"
)

func TestOrderOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		texts []string
		order Order
		last  string // date of the last text, "" if the texts are not dates
		other Order  // of ambiguous dates
	}{
		{[]string{"01/02/22", "01/31/22"}, ByText, "2022-01-31", ""},
		{[]string{"1/2/2022", "1/31/2022"}, ByText, "2022-01-31", ""},
		{[]string{"01/02/22", "31/01/22"}, DayFirst, "2022-01-31", ""},
		{[]string{"1/2/2022", "31/1/2022 14:05"}, DayFirst, "2022-01-31", ""},
		{[]string{"01.02.22", "31.01.22"}, ByText, "2022-01-31", ""},
		{[]string{"01.02.22", "01.31.22"}, MonthFirst, "2022-01-31", ""},
		{[]string{"31-01-2022", "01-02-2022"}, DayFirst, "2022-02-01", ""},
		{[]string{"01-31-22", "02-01-22"}, MonthFirst, "2022-02-01", ""},
		{[]string{"22/01/30", "22/01/31"}, YearFirst, "2022-01-31", ""},
		{[]string{"01/01/22", "02/02/22"}, ByText, "2022-02-02", ""}, // alike in both orders
		{[]string{"01/01/22", "01/02/22"}, ByText, "2022-01-02", DayFirst},
		{[]string{"01/09/2021", "01/10/2021", "01/11/2021", "01/12/2021", "01/01/2022", "01/02/2022"}, DayFirst, "2022-02-01", MonthFirst},           // months
		{[]string{"09-01-2021", "10-01-2021", "11-01-2021", "12-01-2021", "01-01-2022", "02-01-2022"}, MonthFirst, "2022-02-01", DayFirst},           // months
		{[]string{"01/01/2022", "01/02/2022", "01/03/2022", "01/04/2022", "01/05/2022", "01/06/2022", "01/07/2022"}, ByText, "2022-01-07", DayFirst}, // days without gaps
		{[]string{"01/08/2021", "01/10/2021", "01/11/2021", "01/12/2021", "01/01/2022", "01/02/2022"}, ByText, "2022-01-02", DayFirst},               // a month is missing
		{[]string{"01.02.2022"}, ByText, "2022-02-01", MonthFirst},
		{[]string{"01-02-2022"}, DayFirst, "2022-02-01", MonthFirst},
		{[]string{"2022-01-02", "01/02/2022"}, ByText, "2022-01-02", DayFirst},
		{[]string{"01022022", "31012022"}, DayFirst, "2022-01-31", ""},
		{[]string{"01022022", "01312022"}, MonthFirst, "2022-01-31", ""},
		{[]string{"01022022", "20220131"}, DayFirst, "2022-01-31", MonthFirst},
		{[]string{"20220201", "20220131"}, ByText, "2022-01-31", ""},
		{[]string{"20102010", "20201020"}, DayFirst, "2020-10-20", ""},
		{[]string{"31022022"}, "", "", ""},
		{[]string{"01022122"}, "", "", ""},
		{[]string{"01/31/22", "31/01/22"}, "", "", ""},
		{[]string{"1.2.22", "1.2.23"}, "", "", ""}, // versions
		{[]string{"a"}, "", "", ""},
		{nil, "", "", ""},
	} {
		order, ok := OrderOf(tc.texts)
		if !ok || tc.last == "" {
			if ok || tc.last != "" {
				t.Errorf("OrderOf(%q) = %q, %t, want %q", tc.texts, order, ok, tc.order)
			}
			continue
		}
		last, _ := order.Parse([]byte(tc.texts[len(tc.texts)-1]))
		if order != tc.order || last.Format(time.DateOnly) != tc.last {
			t.Errorf("OrderOf(%q) = %q, which reads the last text as %v, want %q and %s", tc.texts, order, last, tc.order, tc.last)
		}
		example, other, ambiguous := order.Ambiguous(tc.texts)
		if other != tc.other || ambiguous != (other != "") || ambiguous != slices.Contains(tc.texts, example) {
			t.Errorf("%q: ambiguous %t, other order %q of %q, want %q", tc.texts, ambiguous, other, example, tc.other)
		}
	}
}

func TestLayoutOfShortYears(t *testing.T) {
	t.Parallel()
	for _, texts := range [][]string{{"31/01/22", "01/02/22"}, {"1/31/22", "2/1/22"}, {"31.01.22", "01.02.22"}, {"31-01-22", "01-02-22"}, {"22/01/31", "22/02/01"}, {"31012022", "01022022"}, {"01312022", "02012022"}} {
		order, ok := OrderOf(texts)
		if !ok {
			t.Fatalf("%q are not dates", texts)
		}
		layout, ok := LayoutOf(texts, order)
		if got := layout.Format(time.Date(2022, 2, 1, 0, 0, 0, 0, time.UTC)); !ok || got != texts[1] {
			t.Errorf("%q: 1 February is written %q", texts, got)
		}
	}
}
