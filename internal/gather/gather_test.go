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

func TestAllAndOrder(t *testing.T) {
	t.Parallel()
	numbers := []int32{2, 0, 2, 1, 0}
	order := Order(numbers)
	if want := []int32{1, 4, 3, 0, 2}; !slices.Equal(order, want) {
		t.Errorf("got the order %v, want %v", order, want)
	}
	if got := All([][]int32{numbers, {5, 6, 7, 8, 9}}, order); !slices.Equal(got[0], []int32{0, 0, 1, 2, 2}) || !slices.Equal(got[1], []int32{6, 9, 8, 5, 7}) {
		t.Errorf("got the columns %v", got)
	}
	if got := Order(nil); len(got) != 0 {
		t.Errorf("got the order %v of nothing", got)
	}
}
