package spec

import (
	"errors"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	valid := Spec{Data: Data{Target: "y", Modes: []string{"store", "item", "time=year+month"}}}
	valid.Fill()
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*Spec)
		want   []string
	}{
		{"version", func(s *Spec) { s.Version = 3 }, []string{"version: 3 requires a newer kft"}},
		{"target", func(s *Spec) { s.Data.Target = "" }, []string{"data.target: missing"}},
		{"weight", func(s *Spec) { s.Data.Weight = "y" }, []string{`data.weight: column "y" is already the target`}},
		{"exposure", func(s *Spec) { s.Data.Exposure = "y" }, []string{`data.exposure: column "y" is already the target`}},
		{"exposure without counts", func(s *Spec) { s.Data.Exposure = "days" }, []string{"data.exposure: an exposure requires a likelihood of counts"}},
		{"nonnegative", func(s *Spec) { s.Data.NonNegative = "true" }, []string{"data.nonnegative", "use auto, yes or no"}},
		{"target as mode", func(s *Spec) { s.Data.Target = "item" }, []string{`data.modes[1]: column "item" is already the target`}},
		{"no modes", func(s *Spec) { s.Data.Modes, s.Terms = nil, nil }, []string{"data.modes: missing"}},
		{"mode twice", func(s *Spec) { s.Data.Modes[1] = "store" }, []string{`data.modes[1]: two modes have the name "store"`}},
		{"mode without column", func(s *Spec) { s.Data.Modes[2] = "time=" }, []string{"data.modes[2]", "name of a column is missing"}},
		{"mode without name", func(s *Spec) { s.Data.Modes[2] = "=year" }, []string{"data.modes[2]", "name before '=' is missing"}},
		{"mode with syntax", func(s *Spec) { s.Data.Modes[0] = "a: b" }, []string{"data.modes[0]", "=a: b"}},
		{"file", func(s *Spec) { s.Data.Files = []string{"a", ""} }, []string{"data.files[1]: the name is empty"}},
		{"delimiter", func(s *Spec) { s.Data.Delimiter = "coma" }, []string{`data.delimiter: "coma" cannot be a delimiter`, "comma"}},
		{"delimiter character", func(s *Spec) { s.Data.Delimiter = "\n" }, []string{`data.delimiter: "\n" cannot be`}},
		{"header", func(s *Spec) { s.Data.Header = "true" }, []string{"data.header", "use auto, yes or no"}},
		{"duplicates", func(s *Spec) { s.Data.Duplicates = "first" }, []string{"data.duplicates"}},
		{"split", func(s *Spec) { s.Split = "randm:60/20/20" }, []string{`split: split "randm`, "random"}},
		{"transform", func(s *Spec) { s.Transform = "log" }, []string{`transform: unknown value "log"; use identity, log1p, sqrt, cbrt1p, power, power:P or auto`}},
		{"power", func(s *Spec) { s.Transform = "power:1.5" }, []string{`transform: the power "1.5" is not a number from 0 to 1`}},
		{"power without number", func(s *Spec) { s.Transform = "power:P" }, []string{`transform: the power "P" is not a number`}},
		{"unit", func(s *Spec) { s.Transform = "power:0.5:0" }, []string{`transform: the unit "0" is not a number above 0`}},
		{"power of counts", func(s *Spec) {
			s.Transform, s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Fit.Solver = "power:0.3", "mean-field", "poisson", "cavi"
		}, []string{"uncertainty.likelihood: poisson models the target itself"}},
		{"no terms", func(s *Spec) { s.Terms = nil }, []string{"terms: missing; write auto, or at least one term, such as store,item,time:20"}},
		{"term", func(s *Spec) { s.Terms = []string{"store", "stores,item:3"} },
			[]string{`terms[1]: unknown mode "stores" (did you mean "store"?)`}},
		{"term twice", func(s *Spec) { s.Terms = []string{"store,item:3", "store, item:3"} }, []string{"terms[1]: store,item:3 repeats terms[0]"}},
		{"solver", func(s *Spec) { s.Fit.Solver = "adan" }, []string{`fit.solver: unknown value "adan"`, `"adam"`}},
		{"ridge", func(s *Spec) { s.Fit.Ridge = "" }, []string{"fit.ridge"}},
		{"counts", func(s *Spec) { s.Fit.Sweeps, s.Fit.Patience, s.Fit.CGSteps, s.Fit.Epochs = -1, 0, 0, 0 },
			[]string{"fit.sweeps: -1 must be 1 or more", "fit.patience", "fit.cg-steps", "fit.epochs"}},
		{"learning rate", func(s *Spec) { s.Fit.LearningRate = -1 }, []string{"fit.learning-rate: -1"}},
		{"batch", func(s *Spec) { s.Fit.Batch = 1.5 }, []string{"fit.batch: 1.5 is not a share from 0.01 to 1"}},
		{"schedule", func(s *Spec) { s.Fit.Schedule = "blocks" }, []string{"fit.schedule", `"block"`}},
		{"refit", func(s *Spec) { s.Fit.Refit = "test" }, []string{`fit.refit: unknown value "test"; use auto, none, valid or all`}},
		{"seed", func(s *Spec) { s.Seed = 0 }, []string{"seed: must be 1 or more"}},
		{"bytes", func(s *Spec) { s.Data.Files = []string{"a\xff"} }, []string{`data.files[0]: "a\xff" is not valid UTF-8`}},
	} {
		s := valid
		s.Data.Modes = append([]string(nil), valid.Data.Modes...)
		c.change(&s)
		err := s.Validate()
		if err == nil {
			t.Errorf("%s: got no error, want %q", c.name, c.want)
			continue
		}
		if strings.Contains(err.Error(), "--") {
			t.Errorf("%s: the error %v names a flag", c.name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error\n%v\nwant one with %q", c.name, err, want)
			}
		}
	}
}

func TestValidateListsEveryProblem(t *testing.T) {
	t.Parallel()
	err := Spec{}.Validate()
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got an error of type %T, want Problems", err)
	}
	var paths []string
	for _, p := range problems {
		paths = append(paths, p.Path)
	}
	want := "version data.target data.modes data.header data.nonnegative data.duplicates data.absent split transform order " +
		"side.variant side.space side.intercept side.length-scales side.columns " +
		"uncertainty.inference uncertainty.likelihood uncertainty.noise-use uncertainty.heaping uncertainty.mixing uncertainty.moments uncertainty.noise uncertainty.conformal " +
		"fit.solver fit.ridge fit.sweeps fit.patience fit.cg-steps fit.epochs fit.learning-rate fit.batch fit.prune fit.schedule fit.effort fit.refit seed"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("got problems of\n%s\nwant\n%s", got, want)
	}
}
