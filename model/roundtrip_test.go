package model_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A model that was written and read again predicts the same bits, and writes the same
// bytes.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	variants := map[string]func(*spec.Spec){
		"map":                  func(s *spec.Spec) { s.Uncertainty.Inference = "map" },
		"mean-field":           func(s *spec.Spec) {},
		"multivariate":         func(s *spec.Spec) { s.Uncertainty.Inference = "multivariate" },
		"entity-covariance":    func(s *spec.Spec) { s.Uncertainty.Inference = "entity-covariance" },
		"negative binomial":    func(s *spec.Spec) { s.Transform, s.Uncertainty.Likelihood = "identity", "negative-binomial" },
		"noise by entity":      func(s *spec.Spec) { s.Uncertainty.Noise = "entity:store,item" },
		"noise by pair":        func(s *spec.Spec) { s.Uncertainty.Noise = "power:store,store*item" },
		"conformal correction": func(s *spec.Spec) { s.Uncertainty.Conformal = "group:mean" },
		"side information":     func(s *spec.Spec) { *s = withSide(*s) },
	}
	for name, change := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpec("mean-field")
			change(&s)
			s.Fit.Solver = ""
			s.Fill()
			m := fit(t, s)
			var file bytes.Buffer
			n, err := m.WriteTo(&file)
			if err != nil || n != int64(file.Len()) {
				t.Fatalf("WriteTo: got %d bytes, %v, want %d", n, err, file.Len())
			}
			read, err := model.Read(bytes.NewReader(file.Bytes()), "model")
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if _, err := read.WriteTo(&again); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(file.Bytes(), again.Bytes()) {
				t.Errorf("the model that was read writes other bytes (%d, want %d)", again.Len(), file.Len())
			}
			requests := append(cells(13, 4, 3), model.Cell{"store": "s99", "item": "i99", "time": "x"})
			want, err := m.Predict(t.Context(), requests, false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read.Predict(t.Context(), requests, false)
			if err != nil {
				t.Fatal(err)
			}
			for c := range want {
				if !reflect.DeepEqual(got[c], want[c]) {
					t.Fatalf("cell %v: got %+v, want %+v", requests[c], got[c], want[c])
				}
			}
		})
	}
}
