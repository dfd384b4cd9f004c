package spec

import (
	"reflect"
	"testing"
)

func TestFill(t *testing.T) {
	t.Parallel()
	s := Spec{Data: Data{Modes: []string{"store", "time=year+month", "hour(ts)"}}, Terms: []string{"store,time,hour:20"}, Fit: Fit{Solver: "adam", Epochs: 3}, Seed: 7}
	s.Fill()
	want := Default()
	want.Data.Modes, want.Seed, want.Fit.Solver, want.Fit.Epochs = s.Data.Modes, 7, "adam", 3
	want.Terms = []string{"store,time,hour:20"}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v\nwant %+v", s, want)
	}
	for text, want := range map[string]string{"true": "yes", "false": "no", "no": "no", "": "yes"} {
		s := Spec{Side: Side{Intercept: text}}
		if s.Fill(); s.Side.Intercept != want {
			t.Errorf("intercept %q: got %q, want %q", text, s.Side.Intercept, want)
		}
	}
	d, terms := Default(), []string{"store"}
	d.Terms = terms
	d.Fill()
	if d.Terms = nil; !reflect.DeepEqual(d, Default()) {
		t.Errorf("Fill changed the defaults: got %+v, want %+v", d, Default())
	}
}

func TestEveryFieldHasADefault(t *testing.T) {
	t.Parallel()
	s := Default()
	for _, section := range []any{s, s.Fit} {
		for tag, v := range fieldsOf(reflect.ValueOf(section)) {
			if v.IsZero() && tag.key != "terms" && tag.key != "lambda" && tag.key != "search" {
				t.Errorf("%s has no default", tag.key)
			}
		}
	}
}
