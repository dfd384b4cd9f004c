package model_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// A mean correction is part of the file, and one that is not consistent is an error.
func TestMeanCorrectionInFile(t *testing.T) {
	t.Parallel()
	curve, err := predictive.NewMeanCurve(false, []float64{1, 2}, []float64{1.5, 2.5})
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if _, err := fit(t, newSpec("mean-field")).WithMeanCurve(curve).WriteTo(&whole); err != nil {
		t.Fatal(err)
	}
	// read changes the file and reads the model.
	read := func(change func(*modelfile.File)) (*model.Model, error) {
		f, err := modelfile.Decode(slices.Clone(whole.Bytes()), "file")
		if err != nil {
			t.Fatal(err)
		}
		change(f)
		var b bytes.Buffer
		if _, err := f.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return model.Read(&b, "file")
	}
	m, err := read(func(*modelfile.File) {})
	if err != nil || m.MeanCurve() == nil || m.MeanCurve().At(4) != 5 || m.MeanCurve().Signed() {
		t.Fatalf("got curve %v, %v, want the one that was written", m, err)
	}
	if m, err = read(func(f *modelfile.File) { delete(f.Meta, "means") }); err != nil || m.MeanCurve() != nil {
		t.Errorf("older file: got curve %v, %v, want none", m.MeanCurve(), err)
	}
	replace := func(name string, values ...float64) func(*modelfile.File) {
		return func(f *modelfile.File) {
			for i, tensor := range f.Tensors {
				if tensor.Name == name {
					f.Tensors[i] = modelfile.NewTensor(name, values, len(values))
				}
			}
		}
	}
	edges := m.DecileEdges()
	for name, c := range map[string]struct {
		change func(*modelfile.File)
		want   string
	}{
		"kind": {func(f *modelfile.File) { f.Meta["means"] = "odd" }, `unknown kind "odd"`},
		"missing": {func(f *modelfile.File) {
			f.Tensors = slices.DeleteFunc(f.Tensors, func(t modelfile.Tensor) bool { return t.Name == "means/corrected" })
		}, "means/corrected"},
		"length": {replace("means/corrected", 1), "means/corrected"},
		"order":  {replace("means/predicted", 2, 1), "not sorted"},
		"sign":   {replace("means/predicted", -1, 1), "negative"},
		"edges": {func(f *modelfile.File) {
			f.Meta["training"] = strings.Replace(f.Meta["training"], `"decile_edges":[`, `"decile_edges":[-9e9,`, 1)
		}, "10 edges of deciles"},
	} {
		if _, err := read(c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
		}
	}
	if len(edges) != 9 {
		t.Errorf("got edges %g, want 9", edges)
	}
}
