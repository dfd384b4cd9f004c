package dataset

import (
	"slices"
	"testing"
)

func TestDateFormats(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ids  []string
		want []string
	}{
		{[]string{"2016-01-05", "2016-12-31"}, []string{"yyyy-mm-dd"}},
		{[]string{"05.01.2016"}, []string{"dd.mm.yyyy"}},
		{[]string{"201601", "201612"}, []string{"yyyymm"}},
		{[]string{"2016-9", "2016-10"}, []string{"yyyy-m"}},
		{[]string{"2016-10", "2016-11"}, []string{"yyyy-mm", "yyyy-m"}},
		{[]string{"2016-09"}, []string{"yyyy-mm"}},
		{[]string{"01/02/2016"}, []string{"mm/dd/yyyy", "dd/mm/yyyy"}},
		{[]string{"01/02/2016", "13/02/2016"}, []string{"dd/mm/yyyy"}},
		{[]string{"1451606400"}, []string{unixSeconds}},
		{[]string{"S001"}, nil},
		{[]string{"417312"}, nil},
		{[]string{"2016-01-05", "S001"}, nil},
		{nil, nil},
	} {
		if got := DateFormats(c.ids); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.ids, got, c.want)
		}
	}
}
