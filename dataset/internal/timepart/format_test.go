package timepart

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column, texts string
		units         []Unit
		first         []float64 // numbers of the first text
		other         string    // another time of the format
		numbers       []float64
	}{
		{"when", "2015Q4 2016Q1", []Unit{Year, Quarter}, []float64{2015, 4}, "2017Q3", []float64{2017, 3}},
		{"week", "202101 202113", []Unit{Year, Week}, []float64{2021, 1}, "202252", []float64{2022, 52}},
		{"when", "31-Jan-99 01-Feb-00", []Unit{Year, Month, Day}, []float64{99, 1, 31}, "02-Mar-01", []float64{101, 3, 2}},
		{"step", "t2 t10", []Unit{None}, []float64{2}, "t11", []float64{11}},
	} {
		texts := strings.Fields(c.texts)
		r, ok := Read([]string{c.column}, [][]string{texts})
		if !ok {
			t.Errorf("%q: not read", c.texts)
			continue
		}
		var units []Unit
		var first []float64
		for k, p := range r.Parts {
			units, first = append(units, p.Unit), append(first, r.Values[k][0])
		}
		if !slices.Equal(units, c.units) || !slices.Equal(first, c.first) {
			t.Errorf("%q: got %v, %v, want %v, %v", c.texts, units, first, c.units, c.first)
		}
		if got, ok := r.Format.Read([]string{c.other}); !ok || !slices.Equal(got, c.numbers) {
			t.Errorf("%q: got %v, %v, want %v", c.other, got, ok, c.numbers)
		}
		if got, ok := r.Format.Read([]string{"x"}); ok {
			t.Errorf("%q: x is read as %v", c.texts, got)
		}
	}
	if r, ok := ReadYearPairs("season", []string{"1998/99", "1999/00"}); !ok || !r.Parts[0].Pair || !slices.Equal(r.Values[0], []float64{1998, 1999}) {
		t.Errorf("got %+v, %v", r, ok)
	}
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	for texts, want := range map[string][2]bool{
		"d_1 d_2": {true, false}, "2016-W05 2016-W06": {false, true}, "01/2016 12/2016": {false, true}, "1/2016 4/2016": {false, false}, "Jan_16 Feb_29": {false, true}, "Jan_03 Feb_28": {false, false}, "a b": {false, false},
	} {
		if counted, dated := Periods(strings.Fields(texts)); counted != want[0] || dated != want[1] {
			t.Errorf("%q: got %v, %v, want %v", texts, counted, dated, want)
		}
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"201602": "2016-02-01", "Feb 2016": "2016-02-01", "2/2016": "2016-02-01", "2016Q2": "2016-04-01", "2016-W05": "2016-02-01", "31-Jan-16": "2016-01-31", "Sun 2016-01-31": "2016-01-31", "week 5": "",
	} {
		if got, ok := Moment(text); ok != (want != "") || ok && got.Format(time.DateOnly) != want {
			t.Errorf("%q: got %v, %v, want %q", text, got, ok, want)
		}
	}
}
