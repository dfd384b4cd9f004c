package kft_test

import (
	"io"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// TestAssumedColumns checks that a prediction reports the weight and exposure columns
// that a table lacks.
func TestAssumedColumns(t *testing.T) {
	t.Parallel()
	text := "s,i,w,y\n"
	for _, row := range []string{"a,x,1,3", "a,y,2,4", "b,x,1,5", "b,y,2,6", "c,x,1,2", "c,y,1,9", "d,x,2,7", "d,y,1,8"} {
		text += row + "\n"
	}
	table := writeFile(t, "counts.csv", text)
	for name, tc := range map[string]struct {
		data        kft.DataSpec
		uncertainty kft.UncertaintySpec
	}{
		"weight":   {kft.DataSpec{Weight: "w"}, kft.UncertaintySpec{}},
		"exposure": {kft.DataSpec{Exposure: "w"}, kft.UncertaintySpec{Inference: "mean-field", Likelihood: "poisson"}},
	} {
		spec := kft.Spec{Data: tc.data, Uncertainty: tc.uncertainty, Terms: []string{"s", "i"}, Split: "random:80/20"}
		spec.Data.Files, spec.Data.Target, spec.Data.Modes = []string{table}, "y", []string{"s", "i"}
		m, _ := fit(t, spec, kft.Options{})
		for file, want := range map[string][]string{table: nil, writeFile(t, "cells.csv", "s,i\na,x\nb,y\n"): {"w"}} {
			sum, err := m.PredictTable(t.Context(), kft.Files(file), io.Discard, kft.TableOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(sum.Assumed, want) {
				t.Errorf("%s: got assumed columns %q for %s, want %q", name, sum.Assumed, file, want)
			}
		}
	}
}
