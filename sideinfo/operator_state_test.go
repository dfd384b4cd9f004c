package sideinfo

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/kernel"
)

func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
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
			if rotated && op.Kind() != unwhitened {
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
				t.Errorf("got %s of %d x %d, want %s of %d x %d without matrix and parameters", again.Kind(), again.Rows(), again.Columns(), op.Kind(), op.Rows(), op.Columns())
			}
			rows, residual, err := op.NewRows(few)
			if err != nil {
				t.Fatal(err)
			}
			rows2, residual2, err := again.NewRows(few)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rows, rows2) || !slices.Equal(residual, residual2) {
				t.Errorf("got new rows that differ by %v and residual variances that differ by %v, want equal bits", maxDifference(rows, rows2), maxDifference(residual, residual2))
			}
			for i := range tensors {
				if _, err := Restore(b, meta, slices.Delete(slices.Clone(tensors), i, i+1)); err == nil && tensors[i].Name != "rotation" {
					t.Errorf("array %q missing: got no error, want one", tensors[i].Name)
				}
				short := slices.Clone(tensors)
				short[i].F32 = short[i].F32[1:]
				if _, err := Restore(b, meta, short); err == nil {
					t.Errorf("array %q too short: got no error, want one", tensors[i].Name)
				}
			}
			if op.Matrix() == nil {
				continue
			}
			if again, err = Restore(b, meta, append(tensors, MatrixTensors(op)...)); err != nil || !slices.Equal(again.Matrix(), op.Matrix()) {
				t.Errorf("got error %v or another matrix, want the matrix restored", err)
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

func TestRestoreErrors(t *testing.T) {
	t.Parallel()
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
			t.Fatalf("got state %s, want %s in it", text, from)
		}
		if _, err := Restore(b, map[string]string{"operator": strings.Replace(text, from, to, 1)}, tensors); err == nil {
			t.Errorf("%s in place of %s: got no error, want one", to, from)
		}
	}
	if _, err := Restore(b, nil, nil); err == nil {
		t.Error("empty state: got no error, want one")
	}
}

// In older model files the space dual-unwhitened has the name dual-paper.
func TestRestoreFormerName(t *testing.T) {
	t.Parallel()
	b := testBackend(t)
	op, _, err := DualUnwhitened(normalFeatures(6, 2, 33), kernel.RBF(), Options{Backend: b})
	if err != nil {
		t.Fatal(err)
	}
	meta, tensors := State(op)
	text := strings.Replace(meta["operator"], `"Kind":"dual-unwhitened"`, `"Kind":"dual-paper"`, 1)
	if text == meta["operator"] {
		t.Fatalf("got state %s, want the space dual-unwhitened in it", text)
	}
	again, err := Restore(b, map[string]string{"operator": text}, tensors)
	if err != nil || again.Kind() != "dual-unwhitened" {
		t.Errorf("got %v, %v; want a dual-unwhitened operator", again, err)
	}
}
