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
