package model_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
)

// The mean of sampled sums agrees with the sum of the predicted means.
func TestSamplesOfSums(t *testing.T) {
	t.Parallel()
	m := fit(t, newSpec("mean-field"))
	requests := cells(6, 6, 2)
	const n = 2000
	samples, err := m.Samples(t.Context(), requests, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(samples) != len(requests) || len(samples[0]) != n {
		t.Fatalf("got %d x %d samples, want %d x %d", len(samples), len(samples[0]), len(requests), n)
	}
	predictions, err := m.Predict(t.Context(), requests, false)
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	sums := make([]float64, n)
	for c := range requests {
		want += predictions[c].Mean
		for k, v := range samples[c] {
			sums[k] += v
		}
	}
	mean, square := 0.0, 0.0
	for _, s := range sums {
		mean += s / n
	}
	for _, s := range sums {
		square += (s - mean) * (s - mean)
	}
	if se := math.Sqrt(square / (n - 1) / n); !(math.Abs(mean-want) < 4*se) || se == 0 {
		t.Errorf("mean of the sampled sums: got %v with standard error %v, want %v", mean, se, want)
	}
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
