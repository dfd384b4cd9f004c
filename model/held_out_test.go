package model_test

import (
	"bytes"
	"math"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A file keeps the predictions of test rows from before they were used, and a wrong one is refused.
func TestHeldOut(t *testing.T) {
	t.Parallel()
	m := fit(t, newSpec("mean-field"))
	test := 0
	for row := range m.FittedRows() {
		if m.Part(row) == dataset.Test {
			test++
		}
	}
	ones := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = 1 + float32(i)
		}
		return v
	}
	for _, c := range []struct {
		name  string
		z     tt.Moments
		valid bool
	}{
		{"none", tt.Moments{}, true},
		{"of each test row", tt.Moments{Mean: ones(test), Var: ones(test)}, true},
		{"point estimates", tt.Moments{Mean: ones(test)}, true},
		{"of merged rows", tt.Moments{Mean: ones(test - 1), Var: ones(test - 1)}, true},
		{"of more rows", tt.Moments{Mean: ones(test + 1), Var: ones(test + 1)}, false},
		{"negative variance", tt.Moments{Mean: []float32{1}, Var: []float32{-1}}, false},
		{"not finite", tt.Moments{Mean: []float32{float32(math.NaN())}, Var: []float32{1}}, false},
	} {
		var file bytes.Buffer
		if _, err := m.WithHeldOut(c.z).WriteTo(&file); err != nil {
			if c.valid {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		read, err := model.Read(&file, "model")
		if !c.valid {
			if err == nil {
				t.Errorf("%s: no error", c.name)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(read.HeldOut(), c.z) {
			t.Errorf("%s: got %v, %v", c.name, read.HeldOut(), err)
		}
	}
}
