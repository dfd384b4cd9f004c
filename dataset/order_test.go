package dataset

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode string
		ids  []string
		want []int32
	}{
		{"time=year+month", []string{"2016-10", "2016-9", "2015-12"}, []int32{2, 1, 0}},
		{"store", []string{"s10", "s9", "a"}, []int32{2, 1, 0}},
		{"hour(at)", []string{"7", "10", "0"}, []int32{2, 0, 1}},
		{"store", nil, nil},
	} {
		mode, err := ParseMode(c.mode)
		if err != nil {
			t.Fatal(err)
		}
		if got := mode.Order(c.ids); !slices.Equal(got, c.want) {
			t.Errorf("%s: ids %v: got order %v, want %v", c.mode, c.ids, got, c.want)
		}
	}
}
