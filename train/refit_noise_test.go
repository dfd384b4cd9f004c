package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestRefitLeavesMoreNoise checks that a refit takes its own noise where the first training
// left hardly any, because it had one row of each item.
func TestRefitLeavesMoreNoise(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("item,time,y\n")
	for i := range 40 {
		level := 100 + 10*rng.NormFloat64()
		for year := range 5 {
			fmt.Fprintf(&b, "i%d,%d,%.2f\n", i, 2020+year, level+5*rng.NormFloat64())
		}
	}
	for _, c := range []struct {
		split string
		own   bool
	}{{"time:last=2", true}, {"time:last=1", false}} { // 1 or 3 of 5 years for the training
		s := spec.Spec{Version: 1, Split: c.split, Terms: []string{"item"}}
		s.Data = spec.Data{Target: "y", Modes: []string{"item", "time"}}
		s.Uncertainty.Inference = "mean-field"
		s.Fit.Sweeps = 20
		s.Fill()
		data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(b.String())), Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		first, report, err := Fit(t.Context(), s, data, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if warned := slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, "single period of time") }); warned != c.own {
			t.Errorf("%s: got the warnings %q, want one of a single period: %t", c.split, report.Warnings, c.own)
		}
		m, again, err := Refit(t.Context(), first, report, data, spec.RefitAll, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		if again.Refit == nil || again.Refit.Noise != c.own {
			t.Fatalf("%s: got the refit %+v with %q, want its own noise: %t", c.split, again.Refit, again.Warnings, c.own)
		}
		one, two := first.Noise(), m.Noise()
		before, after := one.UnitVariance(100, nil, 0), two.UnitVariance(100, nil, 0)
		if !c.own && after != before || c.own && !(after > 12 && after < 50) {
			t.Errorf("%s: got a noise of variance %g before and %g after the refit, where the truth is 25", c.split, before, after)
		}
		// A second refit says so too, if it keeps that noise.
		if m, again, err = Refit(t.Context(), first, report, data, spec.RefitValid, Options{Threads: 1}); err == nil {
			_, again, err = Refit(t.Context(), m, again, data, spec.RefitAll, Options{Threads: 1})
		}
		if err != nil || again.Refit == nil || again.Refit.Noise != c.own {
			t.Errorf("%s, twice: got the refit %+v, %v, want its own noise: %t", c.split, again.Refit, err, c.own)
		}
	}
}

// TestRefitKeepsNoiseBySize checks that a few large rows, whose noise by size is uncertain, do not
// make the noise of the refit replace that of the first training, which the correction of its intervals goes with.
func TestRefitKeepsNoiseBySize(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(16, 6))
	var b strings.Builder
	b.WriteString("region,claims,amount\n")
	for range 1000 {
		claims, amount := 0, 0.0
		for rng.IntN(12) == 0 && claims < 3 {
			claims++
			amount += math.Exp(7 + 1.2*rng.NormFloat64())
		}
		fmt.Fprintf(&b, "r%d,%d,%.2f\n", rng.IntN(20), claims, amount)
	}
	s := spec.Spec{Version: 1, Terms: []string{"claims", "region"}, Transform: "power:0.04"}
	s.Data = spec.Data{Target: "amount", Modes: []string{"region", "claims"}, Duplicates: "keep"}
	s.Uncertainty = spec.Uncertainty{Inference: "mean-field", Noise: "power", NoiseUse: "fit"}
	s.Fit.Sweeps = 20
	s.Fill()
	data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(b.String())), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	first, report, err := Fit(t.Context(), s, data, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := Refit(t.Context(), first, report, data, spec.RefitAll, Options{Threads: 1})
	if err != nil || again.Refit == nil || again.Refit.Noise {
		t.Errorf("got the refit %+v, %v, want the noise of the first training", again.Refit, err)
	}
}
