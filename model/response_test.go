package model_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// The factor by which draws are widened survives the file. Files of earlier versions have
// none.
func TestResponseInFile(t *testing.T) {
	t.Parallel()
	const factor = 1.75
	fitted := fit(t, newSpec("mean-field"))
	fitted.Field().Response = factor
	var whole bytes.Buffer
	if _, err := fitted.WriteTo(&whole); err != nil {
		t.Fatal(err)
	}
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
	again, err := read(func(*modelfile.File) {})
	if err != nil || again.Field().Response != factor {
		t.Fatalf("got %v, %v, want factor %g", again, err, factor)
	}
	earlier, err := read(func(f *modelfile.File) { delete(f.Meta, "response") })
	if err != nil {
		t.Fatal(err)
	}
	spread := func(m *model.Model) (sum float64) {
		all, err := m.Samples(t.Context(), cells(3, 4, 2), 100)
		if err != nil {
			t.Fatal(err)
		}
		totals := make([]float64, 100)
		for _, cell := range all {
			for k, v := range cell {
				totals[k] += v
			}
		}
		mean := 0.0
		for _, v := range totals {
			mean += v / 100
		}
		for _, v := range totals {
			sum += (v - mean) * (v - mean)
		}
		return sum
	}
	if wide, narrow := spread(again), spread(earlier); !(wide > narrow) {
		t.Errorf("got variance %g of a total with the factor and %g without, want more", wide, narrow)
	}
	for _, bad := range []string{"0.5", "-1", "11", "1e400", `"2"`, "{"} {
		if _, err := read(func(f *modelfile.File) { f.Meta["response"] = bad }); err == nil || !strings.Contains(err.Error(), "response") && !strings.Contains(err.Error(), "widened") {
			t.Errorf("response %s: got error %v, want one that names it", bad, err)
		}
	}
}
