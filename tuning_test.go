package kft

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tune"
)

func tunedSpec(change func(*Spec)) Spec {
	s := Spec{Data: model.DataSpec{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b", "c"}}, Terms: []string{"a,b,c:8", "a", "a,b,c:2,5@plain"}}
	change(&s)
	s.Fill()
	return s
}

func TestSearchSpace(t *testing.T) {
	const ranks = "rank.1 log-integer 2 32|rank.3.1 log-integer 1 8|rank.3.2 log-integer 1 20"
	for name, c := range map[string]struct {
		change func(*Spec)
		want   string
	}{
		"a point": {func(*Spec) {}, ""},
		"adam":    {func(s *Spec) { s.Fit.Solver = "adam" }, "|rate log-uniform 0.001 0.1"},
		"a posterior": {func(s *Spec) {
			s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Transform = "mean-field", "auto", "auto"
		}, `|transform choice "identity" "log1p" "sqrt"|likelihood choice "gaussian" "poisson" "negative-binomial"`},
		"side tables": {func(s *Spec) { s.Side.Tables = []string{"a=a.csv"}; s.Uncertainty.Inference = "rows" },
			`|variant choice "plain" "side" "wlr" "ls" "additive"|kernel choice "rbf" "matern12" "matern32" "matern52"|columns log-integer 32 256`},
		"a kernel composed": {func(s *Spec) {
			s.Side.Tables, s.Side.Kernels, s.Uncertainty.Inference = []string{"a=a.csv"}, []string{"rbf+matern12", "a=rbf"}, "rows"
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"|columns log-integer 32 256`},
		"linear": {func(s *Spec) {
			s.Side.Tables, s.Side.Space, s.Uncertainty.Inference = []string{"a=a.csv"}, "primal", "rows"
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"`},
	} {
		space, err := SearchSpace(tunedSpec(c.change))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, p := range space {
			got = append(got, p.Name+" "+p.String())
		}
		if text := strings.Join(got, "|"); text != ranks+c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, text, ranks+c.want)
		}
	}
}

func TestCandidate(t *testing.T) {
	spec := tunedSpec(func(s *Spec) {
		s.Side.Tables, s.Side.Kernels = []string{"a=a.csv"}, []string{"b=rbf", "matern32"}
	})
	before := string(spec.JSON())
	got, err := Candidate(spec, tune.Values{"rank.1": "31", "rank.3.1": "1", "rank.3.2": "19", "variant": "ls", "kernel": "rbf", "columns": "64"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a,b,c:31", "a", "a,b,c:1,19@plain"}; !slices.Equal(got.Terms, want) {
		t.Errorf("terms %q", got.Terms)
	}
	if s := got.Side; s.Variant != "ls" || !slices.Equal(s.Kernels, []string{"b=rbf", "rbf"}) || s.Columns != 64 {
		t.Errorf("side %+v", s)
	}
	if got.Fit != spec.Fit {
		t.Errorf("fit %+v", got.Fit)
	}
	if after := string(spec.JSON()); after != before {
		t.Errorf("the specification was changed to %s", after)
	}
	counts, err := Candidate(tunedSpec(func(s *Spec) {
		s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Transform, s.Uncertainty.Noise = "mean-field", "auto", "auto", "power"
	}), tune.Values{"rank.1": "2", "rank.3.1": "2", "rank.3.2": "2", "transform": "sqrt", "likelihood": "poisson"})
	if err != nil || counts.Transform != "identity" || counts.Uncertainty.Noise != "constant" {
		t.Errorf("%+v, %v", counts, err)
	}
}

// Every draw of every space is a specification that can be fitted.
func TestEveryCandidateIsValid(t *testing.T) {
	spec := tunedSpec(func(s *Spec) {
		s.Side.Tables, s.Transform, s.Fit.Solver = []string{"a=a.csv"}, "auto", "adam"
	})
	space, err := SearchSpace(spec)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		c, err := Candidate(spec, tune.Random{Seed: 1}.Propose(space, n, nil))
		if err != nil || open(c) {
			t.Fatalf("trial %d: %v, open %v", n, err, open(c))
		}
	}
}
