package kft_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// Twelve errors of one series from one origin are alike, so those of a few origins do not tell the shape of their distribution.
// Intervals have that of Student's t then, of which those of 90 % are 2.4 to 3 times as wide as those of 50 %.
func TestIntervalsOfAlikeErrors(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var months []string
	var values []float64
	for m := range 72 {
		months, values = append(months, fmt.Sprintf("%d-%02d", 2018+m/12, m%12+1)), append(values, 100+30*float64(m/12)+rng.NormFloat64())
	}
	table, err := kft.Columns(kft.StringColumn("time", months), kft.FloatColumn("y", values))
	if err != nil {
		t.Fatal(err)
	}
	s := kft.Spec{Data: kft.DataSpec{Target: "y", Modes: []string{"time"}}, Terms: []string{"series(; time; ar)"}, Transform: "identity", Split: "time:last=12",
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field", Conformal: "horizon"}, Fit: kft.FitSpec{Refit: "all"}}
	m, _, err := kft.Fit(t.Context(), s, table, kft.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(t.Context(), []kft.Cell{{"time": "2024-12"}})
	if err != nil {
		t.Fatal(err)
	}
	low, high := p[0].Interval(0.5)
	least, most := p[0].Interval(0.9)
	if ratio := (most - least) / (high - low); ratio < 2.3 || ratio > 3.2 || m.Uncertainty().Conformal.Rows != 36 {
		t.Errorf("got intervals of widths %g (50 %%) and %g (90 %%), corrected by %+v; want those of Student's t from 36 rows", high-low, most-least, m.Uncertainty().Conformal)
	}
}
