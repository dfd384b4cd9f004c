package kft

import (
	"errors"
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
		}, `|transform choice "identity" "log1p" "sqrt" "cbrt1p"|likelihood choice "gaussian" "poisson" "negative-binomial"`},
		"side tables": {func(s *Spec) { s.Side.Tables = []string{"a=a.csv"}; s.Uncertainty.Inference = "entity-covariance" },
			`|variant choice "plain" "side" "wlr" "ls" "additive"|kernel choice "rbf" "matern12" "matern32" "matern52"|columns log-integer 32 256`},
		"a kernel composed": {func(s *Spec) {
			s.Side.Tables, s.Side.Kernels, s.Uncertainty.Inference = []string{"a=a.csv"}, []string{"rbf+matern12", "a=rbf"}, "entity-covariance"
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"|columns log-integer 32 256`},
		"linear": {func(s *Spec) {
			s.Side.Tables, s.Side.Space, s.Uncertainty.Inference = []string{"a=a.csv"}, "primal", "entity-covariance"
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"`},
		"a weight that is given":            {func(s *Spec) { s.Fit.Ridge, s.Fit.Lambda = "uniform", model.LambdaOf(2) }, "|lambda log-uniform 0.02 200"},
		"a weight of a penalty to be found": {func(s *Spec) { s.Fit.Lambda = model.LambdaOf(2) }, ""},
		"two tables, length-scales learned": {func(s *Spec) {
			s.Side.Tables, s.Side.LengthScales, s.Side.Kernels = []string{"a=a.csv", "b=b.csv"}, "learn", []string{"rbf:ard"}
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"|kernel choice "rbf" "matern12" "matern32" "matern52"|ard choice "no" "yes"|columns log-integer 32 256` +
			`|side.a choice "use" "none"|side.b choice "use" "none"`},
		"as the section says": {func(s *Spec) {
			s.Side.Tables = []string{"a=a.csv"}
			s.Search = model.SearchSpec{"variant": {"wlr", "additive"}, "kernel": {"matern32"}, "columns": {"fixed"}, "sweeps": {"10..40"}, "noise": {"constant", "entity:b"},
				"lambda": {"0.1", "1e1"}, "side.a": {"use", "none"}}
		}, `|variant choice "wlr" "additive"|kernel choice "matern32"|side.a choice "use" "none"|noise choice "constant" "entity:b"|sweeps log-integer 10 40|lambda choice "0.1" "10"`},
	} {
		space, err := SearchSpace(tunedSpec(c.change))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, p := range space {
			got = append(got, p.Name+" "+p.String())
		}
		if text, want := strings.Join(got, "|"), ranks+c.want+`|term.3 choice "use" "none"|term.2 choice "use" "none"`; text != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, text, want)
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
	for given, want := range map[string][]string{"term.2": {"a,b,c:8", "a,b,c:2,5@plain"}, "term.3": {"a,b,c:8", "a"}, "term.2 term.3": {"a,b,c:8"}} {
		v, err := GivenValues(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(given) {
			v[name] = "none"
		}
		if got, err := Candidate(spec, v); err != nil || !slices.Equal(got.Terms, want) {
			t.Errorf("without %s: %q, %v", given, got.Terms, err)
		}
	}
	counts, err := Candidate(tunedSpec(func(s *Spec) {
		s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Transform, s.Uncertainty.Noise = "mean-field", "auto", "auto", "power"
	}), tune.Values{"rank.1": "2", "rank.3.1": "2", "rank.3.2": "2", "transform": "sqrt", "likelihood": "poisson"})
	if err != nil || counts.Transform != "identity" || counts.Uncertainty.Noise != "constant" {
		t.Errorf("%+v, %v", counts, err)
	}
}

func TestSearchSectionProblems(t *testing.T) {
	for name, c := range map[string]struct{ values, want string }{
		"rnk.1":     {"4", `search.rnk.1: this specification has no such parameter (did you mean "rank.1"?); there are rank.1,`},
		"variant":   {"wlr", "search.variant: this specification has no such parameter"},
		"rank.1":    {"4..x", `search.rank.1: "x" is not a whole number`},
		"rank.3.1":  {"64..4", "search.rank.3.1: parameter rank.3.1: the range from 64 to 4 is empty"},
		"rank.3.2":  {"4..20000", "search.rank.3.2: 20000: terms[2]: "},
		"transform": {"identity..sqrt", "search.transform: this is a choice and has no range; give values in [ ], such as identity, log1p, sqrt"},
		"patience":  {"0", "search.patience: 0: fit.patience: 0 must be 1 or more"},
		"noise":     {"entity:d", `search.noise: entity:d: uncertainty.noise: mode "d" is not among the modes`},
		"ridge":     {"uniform,uniform", `search.ridge: parameter ridge: "uniform" is listed twice`},
		"lambda":    {"-1..3", "search.lambda: "},
	} {
		_, err := SearchSpace(tunedSpec(func(s *Spec) { s.Search = model.SearchSpec{name: strings.Split(c.values, ",")} }))
		var problems model.Problems
		if !errors.As(err, &problems) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The values that are given make the specification that was.
func TestGivenValues(t *testing.T) {
	spec := tunedSpec(func(s *Spec) {
		s.Side.Tables, s.Side.Kernels, s.Side.LengthScales, s.Side.Replace = []string{"a=a.csv", "b=b.csv"}, []string{"b=rbf", "matern12:ard"}, "learn", "noise:b"
		s.Fit.Ridge, s.Fit.Lambda = "uniform", model.LambdaOf(0.3)
	})
	given := func() (tune.Values, Spec) {
		v, err := GivenValues(spec)
		if err != nil {
			t.Fatal(err)
		}
		same, err := Candidate(spec, v)
		if err != nil {
			t.Fatal(err)
		}
		return v, same
	}
	if _, same := given(); string(same.JSON()) != string(spec.JSON()) {
		t.Errorf("got\n%s\nwant\n%s", same.JSON(), spec.JSON())
	}
	spec.Search = model.SearchSpec{"rank.1": {"9..20"}, "rank.3.2": {"2", "6"}, "kernel": {"rbf", "matern52"}, "side.b": {"none"}, "side.a": {"none", "use"}}
	v, same := given()
	if v["rank.1"] != "9" || v["rank.3.2"] != "6" || v["kernel"] != "rbf" || v["side.b"] != "none" || v["side.a"] != "use" {
		t.Errorf("%v", v)
	}
	if !slices.Equal(same.Side.Tables, []string{"a=a.csv"}) || !slices.Equal(same.Side.Kernels, []string{"rbf:ard"}) || same.Side.Replace != "" || same.Search != nil {
		t.Errorf("%+v", same.Side)
	}
	v["side.a"] = "none"
	if plain, err := Candidate(spec, v); err != nil || len(plain.Side.Tables) > 0 || plain.Side.Variant != "plain" {
		t.Errorf("%+v, %v", plain.Side, err)
	}
}

// Every draw of every space is a specification that can be fitted.
func TestEveryCandidateIsValid(t *testing.T) {
	spec := tunedSpec(func(s *Spec) {
		s.Terms = append(s.Terms, "a,b:3@ls")
		s.Side.Tables, s.Transform, s.Fit.Solver = []string{"a=a.csv", "b=@year"}, "auto", "adam"
		s.Search = model.SearchSpec{"inference": {"map", "mean-field"}, "lengthscales": {"fixed", "learn"}, "ard": {"no", "yes"}, "batch": {"0.01..0.5"}, "space": {"dual", "primal-rff"}}
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
