package tuning

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
)

// A trial without the side information of a mode keeps the columns whose groups terms
// use, and a table of groups only has nothing to vary.
func TestTrialsKeepGroups(t *testing.T) {
	t.Parallel()
	given := filledSpec(func(s *spec.Spec) {
		s.Terms = append(s.Terms, "a.kind*b")
		s.Side.Tables = []string{"a=a.csv", "b=b.csv"}
		s.Search = spec.Search{"side.a": {"none"}, "side.b": {"none"}}
	})
	values, err := givenValues(given)
	if err != nil {
		t.Fatal(err)
	}
	s, err := trialSpec(given, values)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a=a.csv:kind:group"}; !slices.Equal(s.Side.Tables, want) || s.Side.Variant != "plain" {
		t.Errorf("got tables %q and variant %s, want %q and plain", s.Side.Tables, s.Side.Variant, want)
	}
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	given = filledSpec(func(s *spec.Spec) {
		s.Terms, s.Side.Tables = append(s.Terms, "a.kind*b"), []string{"a=a.csv:kind:group"}
	})
	space, err := Space(given)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range space {
		if p.Name == "variant" || p.Name == "side.a" || p.Name == "kernel" {
			t.Errorf("got the parameter %s, want none of side information", p.Name)
		}
	}
}
