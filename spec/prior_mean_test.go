package spec

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPriorMean(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"auto", "0", "-0.5", "3"} {
		s, _, err := Parse([]byte("version: 1\nuncertainty: {inference: mean-field, prior-mean: "+text+"}\n"), "kft.yaml")
		if err != nil || s.Uncertainty.PriorMean.String() != text {
			t.Fatalf("%s: got %v, %v", text, s.Uncertainty.PriorMean, err)
		}
		var again Spec
		if err := json.Unmarshal(s.JSON(), &again); err != nil || again.Uncertainty.PriorMean != s.Uncertainty.PriorMean {
			t.Errorf("%s: JSON gives %v, %v", text, again.Uncertainty.PriorMean, err)
		}
		if back, _, err := Parse(s.YAML(), "kft.yaml"); err != nil || back.Uncertainty.PriorMean != s.Uncertainty.PriorMean {
			t.Errorf("%s: YAML gives %v, %v", text, back.Uncertainty.PriorMean, err)
		}
	}
	for _, wrong := range []string{"NaN", "Inf", "1e300", "much"} {
		_, _, err := Parse([]byte("version: 1\nuncertainty: {prior-mean: "+wrong+"}\n"), "kft.yaml")
		if err == nil || !strings.Contains(err.Error(), "uncertainty.prior-mean") {
			t.Errorf("%s: got error %v, want one with the field", wrong, err)
		}
	}
	s := Spec{Data: Data{Files: []string{"t.csv"}, Target: "y", Modes: []string{"a", "b"}}, Uncertainty: Uncertainty{Inference: "map", PriorMean: PriorMeanOf(1)}}
	s.Fill()
	if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "uncertainty.prior-mean: 1 requires a posterior") {
		t.Errorf("point estimate: got error %v", err)
	}
}
