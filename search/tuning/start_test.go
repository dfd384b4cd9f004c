package tuning

import (
	"slices"
	"testing"
)

// A search of a specification without terms starts from what a fit would choose, and
// varies what was open.
func TestSearchStartsFromTheAutomaticChoice(t *testing.T) {
	t.Parallel()
	s := Search{Spec: ledgerSpec(t, "few-rows"), Threads: 2}
	if err := s.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Spec.Automatic() || len(s.Spec.Terms) == 0 {
		t.Errorf("got terms %q, want those of the automatic choice", s.Spec.Terms)
	}
	space, err := Space(s.Spec)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range space {
		names = append(names, p.Name)
	}
	for _, want := range []string{"transform", "inference"} {
		if !slices.Contains(names, want) {
			t.Errorf("the search varies %q, want also %s", names, want)
		}
	}
	values, err := givenValues(s.Spec)
	if err != nil || values["transform"] != s.Spec.Transform {
		t.Errorf("the first trial has the scale %q, %v, want %q", values["transform"], err, s.Spec.Transform)
	}
}
