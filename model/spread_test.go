package model_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// A correction whose bins are divided by spread is part of the file, and one that is not
// consistent is an error.
func TestCorrectionBySpreadInFile(t *testing.T) {
	t.Parallel()
	rng := randstream.New(3, "spread")
	var z, location, spread []float64
	for range 4000 {
		z, location, spread = append(z, rng.NormFloat64()), append(location, rng.NormFloat64()), append(spread, rng.Float64())
	}
	c, err := conformal.NewBySpread(nil, 2, z, location, spread, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	m, err := fit(t, newSpec("mean-field")).WithCorrection("group:mean", c)
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if _, err := m.WriteTo(&whole); err != nil {
		t.Fatal(err)
	}
	read, err := model.Read(bytes.NewReader(whole.Bytes()), "file")
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Predict(t.Context(), cells(5, 4, 3), false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read.Predict(t.Context(), cells(5, 4, 3), false); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	f, err := modelfile.Decode(slices.Clone(whole.Bytes()), "file")
	if err != nil {
		t.Fatal(err)
	}
	for i, tensor := range f.Tensors {
		if tensor.Name == "conformal/parts" {
			f.Tensors[i] = modelfile.NewTensor("conformal/parts", []int64{1 << 60, 3, 3, 3}, 4)
		}
	}
	var b bytes.Buffer
	if _, err := f.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := model.Read(&b, "file"); err == nil || !strings.Contains(err.Error(), "parts, with 8 edges left") {
		t.Errorf("got %v, want an error about the parts", err)
	}
}
