package dataset

import "testing"

func TestAlikeIDs(t *testing.T) {
	t.Parallel()
	d := NewDict([]string{"12", "7.0", "x", "007", "1.5", "0"})
	for id, want := range map[string]int32{"12.0": 0, "12.00": 0, "7": 1, "7.00": 1, "0.0": 5, "007.0": -1, "1.50": -1, "x.0": -1, "13.0": -1, "13": -1, "12.": -1, ".0": -1, "": -1, "-12.0": -1} {
		got, ok := d.Alike([]byte(id))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q is alike %d, want %d", id, got, want)
		}
	}
}

func TestMeant(t *testing.T) {
	t.Parallel()
	d := NewDict([]string{"12", "7.0", "2016-5", "2016-10", "2017-05", "2016-05-01", "a-5"})
	for id, want := range map[string]int32{"12.0": 0, "7": 1, "2016-05": 2, "2017-5": 4} {
		if code, ok := d.Meant([]byte(id)); !ok || code != want {
			t.Errorf("%s: got %d, %v, want %d", id, code, ok, want)
		}
	}
	for _, id := range []string{"012", "2016-010", "2016-1", "2016-0", "2016-6", "2016-5-1", "a-05", "2016-", "2016-x", "", "20165", "0016-5"} {
		if code, ok := d.Meant([]byte(id)); ok {
			t.Errorf("%s: got %d, want none", id, code)
		}
	}
}
