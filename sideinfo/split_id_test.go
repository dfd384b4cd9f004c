package sideinfo

import (
	"slices"
	"testing"
)

func TestSplitID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id   string
		n    int
		want []string
	}{
		{"2015-7", 2, []string{"2015", "7"}},
		{"41.6--93.6", 2, []string{"41.6", "-93.6"}},
		{"-41.6--93.6", 2, []string{"-41.6", "-93.6"}},
		{"-1-2", 2, []string{"-1", "2"}},
		{"-1--2--3", 3, []string{"-1", "-2", "-3"}},
		{"1e-05-3", 2, []string{"1e-05", "3"}},
		{"-1.5E-05--3", 2, []string{"-1.5E-05", "-3"}},
		{"a-b-c", 2, nil},
		{"e-5-3", 2, nil},
		{"1-2", 3, nil},
		{"", 2, nil},
	} {
		if got := splitID(c.id, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s in %d: got %q, want %q", c.id, c.n, got, c.want)
		}
	}
}
