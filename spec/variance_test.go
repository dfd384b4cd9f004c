package spec

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestVariance(t *testing.T) {
	for _, text := range []string{"auto", "0.5", "100"} {
		s, _, err := Parse([]byte("version: 1\nuncertainty: {inference: mean-field, noise-variance: "+text+", prior-variance: "+text+"}\n"), "kft.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Uncertainty.NoiseVariance.String() + " " + s.Uncertainty.PriorVariance.String(); got != text+" "+text {
			t.Errorf("%s: got %s", text, got)
		}
		var again Spec
		if err := json.Unmarshal(s.JSON(), &again); err != nil || again.Uncertainty != func() Uncertainty { s.Fill(); return s.Uncertainty }() {
			t.Errorf("%s: JSON gives %+v, %v", text, again.Uncertainty, err)
		}
		if back, _, err := Parse(s.YAML(), "kft.yaml"); err != nil || back.Uncertainty != again.Uncertainty {
			t.Errorf("%s: YAML gives %+v, %v", text, back.Uncertainty, err)
		}
	}
	for _, wrong := range []string{"0", "-1", "NaN", "Inf", "1e300", "much"} {
		_, _, err := Parse([]byte("version: 1\nuncertainty: {noise-variance: "+wrong+"}\n"), "kft.yaml")
		if err == nil || !strings.Contains(err.Error(), "uncertainty.noise-variance") || !strings.Contains(err.Error(), "kft.yaml:2") {
			t.Errorf("%s: got error %v, want one with the line and the field", wrong, err)
		}
	}
}

func TestVarianceNeedsPosterior(t *testing.T) {
	base := Spec{Data: Data{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a"}}
	for want, change := range map[string]func(u *Uncertainty){
		"": func(u *Uncertainty) {
			u.Inference, u.NoiseVariance, u.PriorVariance = "mean-field", VarianceOf(1), VarianceOf(2)
		},
		"uncertainty.noise-variance: 1 requires a posterior": func(u *Uncertainty) { u.NoiseVariance = VarianceOf(1) },
		"uncertainty.prior-variance: 2 requires a posterior": func(u *Uncertainty) { u.PriorVariance = VarianceOf(2) },
		"the gaussian likelihood": func(u *Uncertainty) {
			u.Inference, u.Likelihood, u.NoiseVariance = "mean-field", "poisson", VarianceOf(1)
		},
		"set uncertainty.noise to constant": func(u *Uncertainty) { u.Inference, u.Noise, u.NoiseVariance = "mean-field", "power", VarianceOf(1) },
	} {
		s := base
		change(&s.Uncertainty)
		s.Fill()
		if err := s.Validate(); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
}
