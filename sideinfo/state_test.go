package sideinfo

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/kernel"
)

func TestStateRoundTrip(t *testing.T) {
	b := testBackend(t)
	f, few := normalFeatures(50, 3, 30), normalFeatures(7, 3, 31)
	f.Unit = []float64{1, .5, 2}
	check := func(t *testing.T, op Operator) {
		if theta := op.Theta(); theta != nil {
			theta[len(theta)-1] += .2
			if err := op.SetTheta(theta); err != nil {
				t.Fatal(err)
			}
		}
		for _, rotated := range []bool{false, true} {
			if rotated && op.Kind() != "dual-paper" {
				if err := Rotate(op, slices.Repeat([]float64{2}, f.N)); err != nil {
					t.Fatal(err)
				}
			}
			meta, tensors := State(op)
			again, err := Restore(b, meta, tensors)
			if err != nil {
				t.Fatal(err)
			}
			if again.Kind() != op.Kind() || again.Rows() != op.Rows() || again.Columns() != op.Columns() || again.Matrix() != nil || again.Theta() != nil {
				t.Errorf("%s of %d x %d came back as %s of %d x %d", op.Kind(), op.Rows(), op.Columns(), again.Kind(), again.Rows(), again.Columns())
			}
			rows, lost, err := op.NewRows(few)
			if err != nil {
				t.Fatal(err)
			}
			rows2, lost2, err := again.NewRows(few)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rows, rows2) || !slices.Equal(lost, lost2) {
				t.Errorf("new rows differ by %v, lost variance by %v", worst(rows, rows2), worst(lost, lost2))
			}
			for i := range tensors {
				if _, err := Restore(b, meta, slices.Delete(slices.Clone(tensors), i, i+1)); err == nil && tensors[i].Name != "rotation" {
					t.Errorf("array %q was not missed", tensors[i].Name)
				}
				short := slices.Clone(tensors)
				short[i].F32 = short[i].F32[1:]
				if _, err := Restore(b, meta, short); err == nil {
					t.Errorf("array %q may be short", tensors[i].Name)
				}
			}
			if op.Matrix() == nil {
				continue
			}
			if again, err = Restore(b, meta, append(tensors, MatrixTensors(op)...)); err != nil || !slices.Equal(again.Matrix(), op.Matrix()) {
				t.Errorf("the matrix did not come back: %v", err)
			}
		}
	}
	eachExample(t, func(t *testing.T, e operatorExample) { check(t, e.build(t, f)) })
	t.Run("intercept only", func(t *testing.T) {
		op, _, err := Dual(Features{N: 50, C: 3, X: make([]float32, 150)}, kernel.RBF(), Options{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		check(t, op)
	})
}

func TestRestoreRefuses(t *testing.T) {
	b := testBackend(t)
	f := normalFeatures(20, 2, 32)
	op, _, err := Dual(f, kernel.RBF(), Options{Backend: b, Columns: 5, Learn: true})
	if err != nil {
		t.Fatal(err)
	}
	meta, tensors := State(op)
	for from, to := range map[string]string{
		`"rbf"`: `"rfb"`, `"pivots"`: `"pivot"`, `"Width":2`: `"Width":0`, `"Rows":20`: `"Rows":-1`,
		`"Params":[`: `"Params":[1,`, `{`: `[`,
	} {
		text := meta["operator"]
		if !strings.Contains(text, from) {
			t.Fatalf("%s is not in %s", from, text)
		}
		if _, err := Restore(b, map[string]string{"operator": strings.Replace(text, from, to, 1)}, tensors); err == nil {
			t.Errorf("%s in place of %s was taken", to, from)
		}
	}
	if _, err := Restore(b, nil, nil); err == nil {
		t.Error("an empty state was taken")
	}
}
