package dataset

import (
	"slices"
	"testing"
)

func TestTimeline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		ids  []string
		unit string
		want []int32
	}{
		{"time=year+month", []string{"2015-1", "2016-2", "2015-12"}, "month", []int32{0, 13, 11}},
		{"yearmonth(at)", []string{"2015-01", "2015-03", "2016-01"}, "month", []int32{0, 2, 12}},
		{"month", []string{"2015-01", "2015-04", "2016-01"}, "quarter", []int32{0, 1, 4}},
		{"quarter", []string{"2015Q1", "2015Q4", "2016Q2"}, "quarter", []int32{0, 3, 5}},
		{"time=year+week", []string{"2015-53", "2016-1", "2016-30"}, "week", []int32{0, 1, 30}},
		{"day", []string{"2016-02-28", "2016-03-01", "2016-03-02"}, "day", []int32{0, 2, 3}},
		{"week", []string{"2016-02-01", "2016-02-08", "2016-02-29"}, "week", []int32{0, 1, 4}},
		{"at", []string{"2016-02-01 00:00", "2016-02-01 05:00", "2016-02-02 00:00"}, "hour", []int32{0, 5, 24}},
		{"at", []string{"2016-02-01 00:00", "2016-02-01 00:15", "2016-02-01 01:00"}, "", []int32{0, 1, 4}},
		{"year", []string{"2014", "2017", "2016"}, "year", []int32{0, 3, 2}},
		{"period", []string{"7", "9", "8"}, "", []int32{0, 2, 1}},
		{"period", []string{"1.5", "3.25", "2"}, "", []int32{0, 2, 1}},
	} {
		mode, err := ParseMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		got, err := mode.Timeline(c.ids)
		if err != nil || got.Unit != c.unit || !slices.Equal(got.Index, c.want) {
			t.Errorf("%s %q: got %+v, %v, want %q %v", c.mode, c.ids, got, err, c.unit, c.want)
		}
	}
	mode, _ := ParseMode("store")
	if line, err := mode.Timeline([]string{"north", "south"}); err == nil {
		t.Errorf("got %+v for ids without an order, want an error", line)
	}
}
