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

func TestMeantTruth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ids  []string
		id   string
		want int32
	}{
		{[]string{"True", "False"}, "1", 0},
		{[]string{"True", "False"}, "false", 1},
		{[]string{"false", "true", MissingID}, "yes", 1},
		{[]string{"0", "1"}, "TRUE", 1},
		{[]string{"N", "Y"}, "no", 0},
		{[]string{"0", "1"}, "2", -1},
		{[]string{"0", "1", "2"}, "true", -1},
		{[]string{"1", "2"}, "true", -1},
		{[]string{"true"}, "0", -1},
		{[]string{"T", "true", "no"}, "1", -1},
		{[]string{"m", "f"}, "0", -1},
	} {
		got, ok := NewDict(c.ids).Meant([]byte(c.id))
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%q of %q: got %d, want %d", c.id, c.ids, got, c.want)
		}
	}
}

func TestMeantMoment(t *testing.T) {
	t.Parallel()
	d := NewDict([]string{"2024-01-31", "2024-02-01 00:00:00", "2024-02-02T10:00", "2024-02-03 10:15:30"})
	for id, want := range map[string]int32{
		"2024-01-31T00:00:00": 0, "2024-01-31 00:00": 0, "2024-01-31 00:00:00.000": 0, "2024-02-01": 1, "2024-02-01T00:00": 1, "2024-02-01T00:00:00.000000": 1,
		"2024-02-02 10:00:00": 2, "2024-02-03T10:15:30": 3, "2024-02-03T10:15:30.000": 3,
		"2024-01-31T00:01:00": -1, "2024-02-02": -1, "2024-02-02T10": 2, "2024-02-03T10:15": -1, "2024-02-02T10:00:00Z": -1, "2024-01-31x": -1, "2024-01-31T": -1, "2024/01/31": -1,
	} {
		got, ok := d.Meant([]byte(id))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: got %d, want %d", id, got, want)
		}
	}
}
