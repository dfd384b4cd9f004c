package tuning

import (
	"errors"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
)

func TestSearchSectionProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ values, want string }{
		"rnk.1":     {"4", `search.rnk.1: unknown parameter (did you mean "rank.1"?); this specification has rank.1,`},
		"variant":   {"wlr", "search.variant: unknown parameter"},
		"rank.1":    {"4..x", `search.rank.1: "x" is not a whole number`},
		"rank.3.1":  {"64..4", "search.rank.3.1: parameter rank.3.1: the range from 64 to 4 is empty"},
		"rank.3.2":  {"4..20000", "search.rank.3.2: 20000: terms[2]: "},
		"transform": {"identity..sqrt", "search.transform: this parameter has choices, not a range; list values in [ ], such as identity, log1p, sqrt"},
		"patience":  {"0", "search.patience: 0: fit.patience: 0 must be 1 or more"},
		"noise":     {"entity:d", `search.noise: entity:d: uncertainty.noise: unknown mode "d"`},
		"ridge":     {"uniform,uniform", `search.ridge: parameter ridge: "uniform" is listed twice`},
		"lambda":    {"-1..3", "search.lambda: "},
	} {
		_, err := Space(filledSpec(func(s *spec.Spec) { s.Search = spec.Search{name: strings.Split(c.values, ",")} }))
		var problems spec.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want Problems with %q", name, err, c.want)
		}
	}
}

// A parameter with two choices accepts no other.
func TestParameterWithTwoChoices(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"term.2": `"no" is neither use nor none`, "side.a": `"no" is neither use nor none`, "ard": ""} {
		_, err := Space(filledSpec(func(s *spec.Spec) {
			s.Side.Tables, s.Side.LengthScales = []string{"a=a.csv"}, "learn"
			s.Search = spec.Search{name: {"no"}}
		}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", name, err, want)
		}
	}
}
