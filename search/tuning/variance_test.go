package tuning

import (
	"math"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/tune"
)

// A search can vary the noise variance and the prior variance of a posterior.
func TestSearchOfVariances(t *testing.T) {
	t.Parallel()
	s := filledSpec(func(s *spec.Spec) {
		s.Uncertainty.Inference = "mean-field"
		s.Search = spec.Search{"noise-variance": {"0.001..100"}, "prior-variance": {"0.5", "2"}, "inference": {"map", "mean-field"}}
	})
	v, err := givenValues(s)
	if err != nil {
		t.Fatal(err)
	}
	v["noise-variance"], v["prior-variance"], v["inference"] = "0.25", "2", "mean-field"
	got, err := trialSpec(s, v)
	if err != nil || got.Uncertainty.NoiseVariance != spec.VarianceOf(0.25) || got.Uncertainty.PriorVariance != spec.VarianceOf(2) {
		t.Errorf("got %+v, %v", got.Uncertainty, err)
	}
	v["inference"] = "map"
	if got, err = trialSpec(s, v); err != nil || got.Uncertainty.NoiseVariance != (spec.Variance{}) {
		t.Errorf("point estimate: got %+v, %v", got.Uncertainty, err)
	}
	for n := range 50 {
		space, err := Space(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := trialSpec(s, tune.Random{Seed: 1}.Propose(space, n, nil)); err != nil {
			t.Fatal(err)
		}
	}
	s.Search = spec.Search{"noise-variance": {"0..1"}}
	if _, err := Space(s); err == nil || !strings.Contains(err.Error(), "search.noise-variance") {
		t.Errorf("variance 0: got error %v", err)
	}
}

// A model has the given noise variance, relative to the variance of the target.
func TestFitWithGivenVariances(t *testing.T) {
	t.Parallel()
	s := syntheticSpec(t)
	s.Fit = spec.Fit{Sweeps: 5}
	s.Uncertainty.Inference, s.Uncertainty.NoiseVariance, s.Uncertainty.PriorVariance = "mean-field", spec.VarianceOf(0.25), spec.VarianceOf(1)
	m, r := mustFit(t, s, train.Options{Threads: 1})
	spread := m.Scale().Spread
	if c := m.Noise().Constant; c == nil || math.Abs(c.Variance-0.25*spread*spread) > 1e-12 {
		t.Errorf("got noise %+v, want the variance %g", c, 0.25*spread*spread)
	}
	for i := 1; i < len(r.History); i++ {
		if r.History[i].Bound < r.History[i-1].Bound-1e-6 {
			t.Errorf("sweep %d: the bound decreased from %g to %g", i+1, r.History[i-1].Bound, r.History[i].Bound)
		}
	}
	if got := m.Spec().Uncertainty; got.NoiseVariance != spec.VarianceOf(0.25) || got.PriorVariance != spec.VarianceOf(1) {
		t.Errorf("the model's specification has %+v", got)
	}
}
