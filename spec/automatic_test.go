package spec

import "testing"

// What is not given is left open if the terms are, unless a field that is given decides
// it.
func TestFillLeavesOpen(t *testing.T) {
	t.Parallel()
	modes := []string{"store", "item"}
	for _, c := range []struct {
		name                                    string
		spec                                    Spec
		transform, inference, likelihood, noise string
		variant, solver                         string
	}{
		{"nothing", Spec{}, Auto, Auto, Auto, Auto, "plain", "cavi"},
		{"terms", Spec{Terms: []string{"store"}}, "identity", "map", "gaussian", "constant", "plain", "als"},
		{"auto", Spec{Terms: []string{Auto}}, Auto, Auto, Auto, Auto, "plain", "cavi"},
		{"scale", Spec{Transform: "log1p"}, "log1p", Auto, "gaussian", Auto, "plain", "cavi"},
		{"point estimate", Spec{Uncertainty: Uncertainty{Inference: "map"}}, Auto, "map", "gaussian", Auto, "plain", "als"},
		{"als", Spec{Fit: Fit{Solver: "als"}}, Auto, "map", "gaussian", Auto, "plain", "als"},
		{"adam", Spec{Fit: Fit{Solver: "adam"}}, Auto, "map", "gaussian", Auto, "plain", "adam"},
		{"counts", Spec{Uncertainty: Uncertainty{Likelihood: "poisson"}}, "identity", Auto, "poisson", "constant", "plain", "cavi"},
		{"exposure", Spec{Data: Data{Exposure: "days"}}, "identity", Auto, "negative-binomial", "constant", "plain", "cavi"},
		{"side", Spec{Side: Side{Tables: []string{"store=s.csv"}}}, Auto, Auto, Auto, Auto, Auto, "cavi"},
		{"noise variance", Spec{Uncertainty: Uncertainty{NoiseVariance: VarianceOf(1)}}, Auto, Auto, Auto, "constant", "plain", "cavi"},
	} {
		s := c.spec
		s.Data.Target, s.Data.Modes = "y", modes
		s.Fill()
		got := [...]string{s.Transform, s.Uncertainty.Inference, s.Uncertainty.Likelihood, s.Uncertainty.Noise, s.Side.Variant, s.Fit.Solver}
		if want := [...]string{c.transform, c.inference, c.likelihood, c.noise, c.variant, c.solver}; got != want {
			t.Errorf("%s: got %q, want %q", c.name, got, want)
		}
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A mode that is called auto is a mode.
func TestModeCalledAuto(t *testing.T) {
	t.Parallel()
	s := Spec{Data: Data{Target: "y", Modes: []string{"auto", "item"}}, Terms: []string{"auto"}}
	s.Fill()
	if s.Automatic() || s.Transform != "identity" || s.Validate() != nil {
		t.Errorf("got automatic %v, transform %s, %v, want an effect of the mode", s.Automatic(), s.Transform, s.Validate())
	}
}

// The text of an automatic specification, brief or in full, means the same.
func TestAutomaticYAML(t *testing.T) {
	t.Parallel()
	for _, s := range []Spec{
		{Data: Data{Target: "y", Modes: []string{"a", "b"}}},
		{Data: Data{Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a", "b"}, Uncertainty: Uncertainty{Inference: "mean-field"}, Transform: "power:0.2"},
	} {
		s.Fill()
		for _, text := range [][]byte{s.YAML(), s.BriefYAML()} {
			again, _, err := Parse(text, "kft.yaml")
			if err != nil {
				t.Fatal(err)
			}
			if again.Fill(); string(again.JSON()) != string(s.JSON()) {
				t.Errorf("got\n%s\nwant\n%s\nfrom\n%s", again.JSON(), s.JSON(), text)
			}
		}
	}
}
