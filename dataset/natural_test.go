package dataset

import (
	"slices"
	"testing"
)

func TestLess(t *testing.T) {
	sorted := []string{"", "2", "007", "07", "7", "10", "2015-2", "2015-2-1", "2015-10", "2016-1", "a", "a2", "a2b", "a10", "b1"}
	// 007, 07 and 7 are equal as numbers and go by their text.
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := Less(a, b), i < j; got != want {
				t.Errorf("Less(%q, %q) = %v", a, b, got)
			}
		}
	}
	shuffled := []string{"2016-1", "2015-10", "2015-2", "2015-12"}
	slices.SortFunc(shuffled, compareNatural)
	if !slices.Equal(shuffled, []string{"2015-2", "2015-10", "2015-12", "2016-1"}) {
		t.Errorf("sorted to %q", shuffled)
	}
}
