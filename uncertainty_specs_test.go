package kft_test

import (
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// uncertaintySpecs returns specifications that cover the inferences, noise models,
// likelihoods and conformal corrections.
func uncertaintySpecs() map[string]kft.UncertaintySpec {
	return map[string]kft.UncertaintySpec{
		"point":                     {},
		"point, split":              {Conformal: "split"},
		"mean-field, entity noise":  {Inference: "mean-field", Noise: "entity:store,item"},
		"mean-field, pair noise":    {Inference: "mean-field", Noise: "power:store,store*item"},
		"mean-field, power noise":   {Inference: "mean-field", Noise: "power", Conformal: "group:mean"},
		"entity-covariance, split":  {Inference: "entity-covariance", Conformal: "split"},
		"multivariate, group:store": {Inference: "multivariate", Conformal: "group:store"},
		"poisson":                   {Inference: "mean-field", Likelihood: "poisson"},
		"negative-binomial, split":  {Inference: "entity-covariance", Likelihood: "negative-binomial", Conformal: "split"},
	}
}

// threeLevels returns the levels of a 90 % interval and the median.
func threeLevels() []float64 { return []float64{.05, .5, .95} }

// fitUncertain fits a small model to the sales table. change may be nil.
func fitUncertain(t testing.TB, table string, u kft.UncertaintySpec, change func(*kft.Spec)) *kft.Model {
	t.Helper()
	spec := salesSpec(table)
	spec.Uncertainty, spec.Fit.Sweeps, spec.Terms = u, 5, []string{"store,item,time:3", "store*item"}
	if u.Counts() {
		spec.Transform = "identity"
	}
	if u.Inference == "multivariate" { // requires side information
		spec.Side.Tables = []string{"time=@year,@month:cycle12"}
	}
	if change != nil {
		change(&spec)
	}
	m, _ := fit(t, spec, kft.Options{})
	return m
}
