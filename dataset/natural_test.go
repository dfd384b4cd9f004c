package dataset

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
)

func TestLess(t *testing.T) {
	t.Parallel()
	sorted := []string{"", "2", "007", "07", "7", "10", "2015-2", "2015-2-1", "2015-10", "2016-1", "a", "a2", "a2b", "a10", "b1"}
	// 007, 07 and 7 are equal as numbers and are ordered by their text.
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := Less(a, b), i < j; got != want {
				t.Errorf("Less(%q, %q) = %t, want %t", a, b, got, want)
			}
		}
	}
	shuffled := []string{"2016-1", "2015-10", "2015-2", "2015-12"}
	slices.SortFunc(shuffled, fieldtext.CompareNatural)
	if !slices.Equal(shuffled, []string{"2015-2", "2015-10", "2015-12", "2016-1"}) {
		t.Errorf("got order %q", shuffled)
	}
}
