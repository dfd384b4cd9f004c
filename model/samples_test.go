package model_test

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/copula"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// The mean of sampled sums agrees with the sum of the predicted means, also if these are corrected, and if forecasts share
// surprises.
func TestSamplesOfSums(t *testing.T) {
	t.Parallel()
	curve, err := predictive.NewMeanCurve(false, []float64{1, 10}, []float64{1.4, 11})
	if err != nil {
		t.Fatal(err)
	}
	plain := fit(t, newSpec("mean-field"))
	shared := plain.WithMeanCurve(curve).WithCopula(&copula.Copula{All: copula.Shares{Origin: .1, Period: .1}, Keys: []copula.Shares{{Period: .1}, {Origin: .05}}})
	past := cells(6, 6, 2)
	future := cells(6, 6, 2)
	for c := range future {
		future[c]["time"] = strings.Replace(future[c]["time"], "2024", "2025", 1)
	}
	for name, c := range map[string]struct {
		m        *model.Model
		requests []model.Cell
		wider    float64 // than without the copula, at least
	}{
		"plain":            {plain, past, 1},
		"corrected means":  {plain.WithMeanCurve(curve), past, 1},
		"forecasts":        {plain.WithMeanCurve(curve), future, 1},
		"shared surprises": {shared, future, 1.2},
		"no forecasts":     {shared, past, 1},
	} {
		const n = 2000
		samples, err := c.m.Samples(t.Context(), c.requests, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(samples) != len(c.requests) || len(samples[0]) != n {
			t.Fatalf("%s: got %d x %d samples, want %d x %d", name, len(samples), len(samples[0]), len(c.requests), n)
		}
		predictions, err := c.m.Predict(t.Context(), c.requests, false)
		if err != nil {
			t.Fatal(err)
		}
		want, sums := 0.0, make([]float64, n)
		for cell, draws := range samples {
			want += predictions[cell].Mean
			for k, v := range draws {
				sums[k] += v
			}
			// Draws of a cell have its quantiles, moved as its mean is.
			slices.Sort(draws)
			move := predictions[cell].Mean / predictions[cell].Distribution().UncorrectedMean()
			for _, p := range []float64{.1, .5, .9} {
				if q := predictions[cell].Distribution().Quantile(p) * move; math.Abs(draws[int(p*n)]-q) > .1+.15*q {
					t.Errorf("%s: the %g quantile of the draws of cell %d is %.3g, want about %.3g", name, p, cell, draws[int(p*n)], q)
				}
			}
		}
		sd := deviation(sums)
		mean := 0.0
		for _, s := range sums {
			mean += s / n
		}
		if se := sd / math.Sqrt(n); !(math.Abs(mean-want) < 4*se) || se == 0 {
			t.Errorf("%s: mean of the sampled sums: got %v with standard error %v, want %v", name, mean, se, want)
		}
		alone, err := c.m.WithCopula(nil).Samples(t.Context(), c.requests, n)
		if err != nil {
			t.Fatal(err)
		}
		sums = make([]float64, n)
		for _, draws := range alone {
			for k, v := range draws {
				sums[k] += v
			}
		}
		if before := deviation(sums); sd < .999*c.wider*before || c.wider == 1 && sd > 1.001*before {
			t.Errorf("%s: the sd of sums is %v, that without shared surprises %v, want %g times that", name, sd, before, c.wider)
		}
	}
}

func deviation(values []float64) float64 {
	mean, squares := 0.0, 0.0
	for k, v := range values {
		d := v - mean
		mean += d / float64(k+1)
		squares += d * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}

// Samples depend only on the model, the cells and their number.
func TestSamplesAreReproducible(t *testing.T) {
	t.Parallel()
	for _, inference := range []string{"map", "mean-field"} {
		m := fit(t, newSpec(inference))
		requests := append(cells(2, 2, 2), model.Cell{"store": "s99", "item": "i01", "time": "2024-01"})
		first, err := m.Samples(t.Context(), requests, 20)
		if err != nil {
			t.Fatal(err)
		}
		second, err := m.Samples(t.Context(), requests, 20)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(first, second) {
			t.Errorf("%s: got %v, want %v as before", inference, second, first)
		}
		if first[0][0] == first[0][1] {
			t.Errorf("%s: the first two samples are equal: %v", inference, first[0][0])
		}
	}
}

func TestNumberOfSamples(t *testing.T) {
	t.Parallel()
	m := fit(t, newSpec("map"))
	for _, n := range []int{-1, 0, model.MaxSamples + 1} {
		_, err := m.Samples(t.Context(), cells(1, 1, 1), n)
		var samplesErr *model.SamplesError
		if !errors.As(err, &samplesErr) {
			t.Errorf("%d samples: got error %v, want a SamplesError", n, err)
		}
	}
}
