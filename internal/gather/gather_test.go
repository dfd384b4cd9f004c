package gather

import (
	"slices"
	"testing"
)

func TestRows(t *testing.T) {
	t.Parallel()
	if got := Rows([]string{"a", "b", "c"}, []int32{2, 0, 2}); !slices.Equal(got, []string{"c", "a", "c"}) {
		t.Errorf("got %q", got)
	}
	if got := Rows([]float32(nil), []int{1, 2}); got != nil {
		t.Errorf("got %v of nil, want nil", got)
	}
	if got := Rows([]int{1}, []int(nil)); got == nil || len(got) != 0 {
		t.Errorf("got %v of no rows, want an empty slice", got)
	}
}
