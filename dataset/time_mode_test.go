package dataset

import "testing"

func TestIsTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		ids  []string
		want bool
	}{
		{"time=year+month", []string{"2016-1", "2016-12", "2017-1"}, true},
		{"date", []string{"2016-01-05", "2016-02-05"}, true},
		{"d", []string{"2016-01-05", "2016-02-05"}, true},
		{"week", []string{"1", "2", "10"}, true},
		{"iyear", []string{"1970", "1971", "1973"}, true},
		{"Jahr", []string{"1970", "1971", "1973"}, true},
		{"yearling", []string{"1970", "1971", "1973"}, false},
		{"period", []string{"1", "2", "10"}, true},
		{"ds", []string{"1", "2", "10"}, true},
		{"at=date(when)", []string{"2016-01-05", "2016-02-05"}, true},
		{"hour=hour(when)", []string{"0", "13", "23"}, false},
		{"store", []string{"1", "2", "10"}, false},
		{"store", []string{"A", "B"}, false},
		{"time", []string{"A", "B"}, false},
		{"time", nil, false},
	} {
		m, err := ParseMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.IsTime(c.ids); got != c.want {
			t.Errorf("%s, ids %q: got %v, want %v", c.mode, c.ids, got, c.want)
		}
	}
}

// Whole numbers without gaps under the name of a quantity are no time, also if one is asked for.
func TestQuantitiesDoNotRun(t *testing.T) {
	t.Parallel()
	ids := []string{"8", "9", "10", "11", "12"}
	for name, want := range map[string]bool{"education_years": false, "educ": false, "age": false, "item": false, "n": true, "wave": true} {
		if got := (Mode{Name: name, Columns: []string{name}}).Runs(ids); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
