package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Counts in proportion to a column called exposure get a likelihood of counts with it, unless another scale,
// likelihood or terms are given.
func TestGuessedExposure(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var region, year []string
	var exposure, claims []float64
	for i := range 20 {
		for y := range 10 {
			e := 1 + 9*r.Float64()
			region, year = append(region, fmt.Sprintf("R%d", i)), append(year, fmt.Sprint(2010+y))
			exposure, claims = append(exposure, e), append(claims, float64(int(e+2*r.Float64())))
		}
	}
	source, err := tableio.NewColumns(dataset.StringColumn("region", region), dataset.StringColumn("year", year),
		dataset.FloatColumn("exposure", exposure), dataset.FloatColumn("claims", claims))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change   func(*spec.Spec)
		exposure string
	}{
		"nothing given":     {func(*spec.Spec) {}, "exposure"},
		"counts given":      {func(s *spec.Spec) { s.Uncertainty.Likelihood = "poisson" }, "exposure"},
		"a scale":           {func(s *spec.Spec) { s.Transform = "log1p" }, ""},
		"a likelihood":      {func(s *spec.Spec) { s.Uncertainty.Likelihood = "gaussian" }, ""},
		"terms":             {func(s *spec.Spec) { s.Terms = []string{"region", "year"} }, ""},
		"a split by time":   {func(s *spec.Spec) { s.Split = "time:last=2" }, ""},
		"a point estimate":  {func(s *spec.Spec) { s.Uncertainty.Inference = "map" }, ""},
		"means of the rows": {func(s *spec.Spec) { s.Data.Duplicates = "mean" }, ""},
	} {
		var s spec.Spec
		c.change(&s)
		if _, err := Complete(&s, source, false); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Data.Exposure != c.exposure {
			t.Errorf("%s: exposure %q, want %q", name, s.Data.Exposure, c.exposure)
		}
		s.Fill()
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
