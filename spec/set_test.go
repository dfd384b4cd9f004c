package spec

import (
	"strings"
	"testing"
)

func TestSet(t *testing.T) {
	t.Parallel()
	s := Spec{Fit: Fit{Lambda: LambdaOf(3)}}
	for _, c := range []struct {
		name   string
		list   bool
		values []string
		want   string // in the error; "" for none
	}{
		{"transform", false, []string{"sqrt"}, ""},
		{"fit.sweeps", false, []string{"7"}, ""},
		{"fit.lambda", false, []string{"auto"}, ""},
		{"terms", true, []string{"store,item:2", `it's "x"`}, ""},
		{"fit.sweeps", false, []string{"many"}, "not a whole number"},
		{"fit.sweps", false, []string{"7"}, `did you mean "sweeps"`},
		{"fit", false, []string{"7"}, "must be a section with indented keys"},
		{"terms", false, []string{"store"}, "must be a list"},
		{"fit.sweeps", true, []string{"1", "2"}, "must be a single value"},
		{"", false, []string{"1"}, "unknown key"},
		{"a.b.c", false, []string{"1"}, "unknown key"},
	} {
		_, err := s.Set(c.name, c.list, c.values...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("Set(%s, %q): got error %v, want %q", c.name, c.values, err, c.want)
		}
	}
	if _, given := s.Fit.Lambda.Value(); s.Transform != "sqrt" || s.Fit.Sweeps != 7 || given || len(s.Terms) != 2 || s.Terms[1] != `it's "x"` {
		t.Errorf("got %+v", s)
	}
}
