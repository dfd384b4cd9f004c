package tuning

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tune"
)

func TestSpace(t *testing.T) {
	t.Parallel()
	const ranks = `rank.1 log-integer 2 32|rank.3.1 log-integer 1 8|rank.3.2 log-integer 1 20`
	for name, c := range map[string]struct {
		change func(*spec.Spec)
		want   string
	}{
		"point estimate": {func(*spec.Spec) {}, ""},
		"adam":           {func(s *spec.Spec) { s.Fit.Solver = "adam" }, "|learning-rate log-uniform 0.001 0.1"},
		"posterior, automatic scale": {func(s *spec.Spec) {
			s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Transform = "mean-field", "auto", "auto"
		}, `|transform choice "identity" "log1p" "sqrt" "cbrt1p"|likelihood choice "gaussian" "poisson" "negative-binomial" "student"`},
		"side tables": {func(s *spec.Spec) { s.Side.Tables = []string{"a=a.csv"}; s.Uncertainty.Inference = "entity-covariance" },
			`|variant choice "plain" "side" "wlr" "ls" "additive"|kernel choice "rbf" "matern12" "matern32" "matern52"|columns log-integer 64 512`},
		"composed kernel": {func(s *spec.Spec) {
			s.Side.Tables, s.Side.Kernels, s.Uncertainty.Inference = []string{"a=a.csv"}, []string{"rbf+matern12", "a=rbf"}, "entity-covariance"
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"|columns log-integer 64 512`},
		"primal space": {func(s *spec.Spec) {
			s.Side.Tables, s.Side.Space, s.Uncertainty.Inference = []string{"a=a.csv"}, "primal", "entity-covariance"
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"`},
		"given lambda":                  {func(s *spec.Spec) { s.Fit.Ridge, s.Fit.Lambda = "uniform", spec.LambdaOf(2) }, "|lambda log-uniform 0.02 200"},
		"given lambda, automatic ridge": {func(s *spec.Spec) { s.Fit.Lambda = spec.LambdaOf(2) }, ""},
		"two tables, length-scales learned": {func(s *spec.Spec) {
			s.Side.Tables, s.Side.LengthScales, s.Side.Kernels = []string{"a=a.csv", "b=b.csv"}, "learn", []string{"rbf:ard"}
		}, `|variant choice "plain" "side" "wlr" "ls" "additive"|kernel choice "rbf" "matern12" "matern32" "matern52"|ard choice "no" "yes"|columns log-integer 64 512` +
			`|side.a choice "use" "none"|side.b choice "use" "none"`},
		"section search": {func(s *spec.Spec) {
			s.Side.Tables = []string{"a=a.csv"}
			s.Search = spec.Search{"variant": {"wlr", "additive"}, "kernel": {"matern32"}, "columns": {"fixed"}, "sweeps": {"10..40"}, "noise": {"constant", "entity:b"},
				"lambda": {"0.1", "1e1"}, "side.a": {"use", "none"}}
		}, `|variant choice "wlr" "additive"|kernel choice "matern32"|side.a choice "use" "none"|noise choice "constant" "entity:b"|sweeps log-integer 10 40|lambda choice "0.1" "10"`},
	} {
		space, err := Space(filledSpec(c.change))
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

func TestTrialSpec(t *testing.T) {
	t.Parallel()
	given := filledSpec(func(s *spec.Spec) {
		s.Side.Tables, s.Side.Kernels, s.Order = []string{"a=a.csv"}, []string{"b=rbf", "matern32"}, "auto"
	})
	before := string(given.JSON())
	got, err := trialSpec(given, tune.Values{"rank.1": "31", "order.1": "c,a,b", "order.3": "a,b,c", "rank.3.1": "1", "rank.3.2": "19", "variant": "ls", "kernel": "rbf", "columns": "64"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"c,a,b:31", "a", "a,b,c:1,19@plain"}; !slices.Equal(got.Terms, want) {
		t.Errorf("got terms %q, want %q", got.Terms, want)
	}
	if s := got.Side; s.Variant != "ls" || !slices.Equal(s.Kernels, []string{"b=rbf", "rbf"}) || s.Columns != 64 {
		t.Errorf("got side %+v, want variant ls, kernels b=rbf and rbf, 64 columns", s)
	}
	if got.Fit != given.Fit {
		t.Errorf("got fit %+v, want %+v", got.Fit, given.Fit)
	}
	if after := string(given.JSON()); after != before {
		t.Errorf("the specification was changed to %s", after)
	}
	for removed, want := range map[string][]string{"term.2": {"a,b,c:8", "a,b,c:2,5@plain"}, "term.3": {"a,b,c:8", "a"}, "term.2 term.3": {"a,b,c:8"}} {
		v, err := givenValues(given)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(removed) {
			v[name] = "none"
		}
		if got, err := trialSpec(given, v); err != nil || !slices.Equal(got.Terms, want) {
			t.Errorf("without %s: got terms %q, %v; want %q", removed, got.Terms, err, want)
		}
	}
	counts, err := trialSpec(filledSpec(func(s *spec.Spec) {
		s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Transform, s.Uncertainty.Noise = "mean-field", "auto", "auto", "power"
	}), tune.Values{"rank.1": "2", "order.1": "a,b,c", "order.3": "a,b,c", "rank.3.1": "2", "rank.3.2": "2", "transform": "sqrt", "likelihood": "poisson"})
	if err != nil || counts.Transform != "identity" || counts.Uncertainty.Noise != "constant" {
		t.Errorf("poisson: got transform %s, noise %s, error %v; want identity, constant", counts.Transform, counts.Uncertainty.Noise, err)
	}
}

// The given values reproduce the specification, if it lies in the space.
func TestGivenValues(t *testing.T) {
	t.Parallel()
	given := filledSpec(func(s *spec.Spec) {
		s.Side.Tables, s.Side.Kernels, s.Side.LengthScales, s.Side.Placebo = []string{"a=a.csv", "b=b.csv"}, []string{"b=rbf", "matern12:ard"}, "learn", "noise:b"
		s.Fit.Ridge, s.Fit.Lambda = "uniform", spec.LambdaOf(0.3)
	})
	reproduce := func() (tune.Values, spec.Spec) {
		t.Helper()
		v, err := givenValues(given)
		if err != nil {
			t.Fatal(err)
		}
		same, err := trialSpec(given, v)
		if err != nil {
			t.Fatal(err)
		}
		return v, same
	}
	if _, same := reproduce(); string(same.JSON()) != string(given.JSON()) {
		t.Errorf("got\n%s\nwant\n%s", same.JSON(), given.JSON())
	}
	given.Search = spec.Search{"rank.1": {"9..20"}, "rank.3.2": {"2", "6"}, "kernel": {"rbf", "matern52"}, "side.b": {"none"}, "side.a": {"none", "use"}}
	v, same := reproduce()
	if v["rank.1"] != "9" || v["rank.3.2"] != "6" || v["kernel"] != "rbf" || v["side.b"] != "none" || v["side.a"] != "use" {
		t.Errorf("got values %v", v)
	}
	if !slices.Equal(same.Side.Tables, []string{"a=a.csv"}) || !slices.Equal(same.Side.Kernels, []string{"rbf:ard"}) || same.Side.Placebo != "" || same.Search != nil {
		t.Errorf("got side %+v, want only the table of a, with kernel rbf:ard", same.Side)
	}
	v["side.a"] = "none"
	if plain, err := trialSpec(given, v); err != nil || len(plain.Side.Tables) > 0 || plain.Side.Variant != "plain" {
		t.Errorf("without tables: got side %+v, %v; want variant plain", plain.Side, err)
	}
}

// Every point of the space is a specification that can be fitted.
func TestEveryTrialIsValid(t *testing.T) {
	t.Parallel()
	given := filledSpec(func(s *spec.Spec) {
		s.Terms = append(s.Terms, "a,b:3@ls")
		s.Side.Tables, s.Transform, s.Fit.Solver = []string{"a=a.csv", "b=@year"}, "auto", "adam"
		s.Search = spec.Search{"inference": {"map", "mean-field"}, "length-scales": {"fixed", "learn"}, "ard": {"no", "yes"}, "batch": {"0.01..0.5"}, "space": {"dual", "primal-rff"}}
	})
	space, err := Space(given)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		c, err := trialSpec(given, tune.Random{Seed: 1}.Propose(space, n, nil))
		open := c.Transform == "power" || c.Transform == "auto" || c.Uncertainty.Likelihood == "auto" || c.Order == "auto"
		if err != nil || open {
			t.Fatalf("trial %d: got error %v, automatic fields: %v; want neither", n, err, open)
		}
	}
}
