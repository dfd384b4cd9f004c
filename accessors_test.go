package kft_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// overwrite changes every value that can be reached from v by exported fields, pointers,
// slices and maps.
func overwrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			overwrite(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			overwrite(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
		// Elements between length and capacity may belong to another slice.
		if v.CanInterface() && v.Len() < v.Cap() {
			for full, i := v.Slice(0, v.Cap()), v.Len(); i < v.Cap(); i++ {
				overwrite(full.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			overwrite(v.Index(i))
		}
	case reflect.Map:
		if !v.CanInterface() {
			return
		}
		for _, key := range v.MapKeys() {
			overwrite(v.MapIndex(key)) // what the value points to
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			overwrite(value)
			v.SetMapIndex(key, value)
		}
	default:
		if v.CanSet() {
			overwriteScalar(v)
		}
	}
}

func overwriteScalar(v reflect.Value) {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(v.String() + " changed")
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float() + 1)
	}
}

// TestModelSharesNothingWithCallers changes everything that accessors of a model return,
// and what a caller of Fit holds. The model saves to the same bytes and returns the same
// values as before.
func TestModelSharesNothingWithCallers(t *testing.T) {
	t.Parallel()
	// The specification fills as many fields of the record as possible.
	newModel := func(t *testing.T) (m *kft.Model, spec *kft.Spec, r *kft.Report) {
		t.Helper()
		s := newShop(t, 12, 16, nil)
		given := s.spec("wlr", "dual")
		given.Data.Modes[2] = "month=month"
		given.Transform = "auto"
		given.Split = "time:last=2"
		given.Side.Tables = append(given.Side.Tables, "month=@month:num")
		given.Side.Kernels, given.Side.LengthScales = []string{"matern32"}, "learn"
		given.Uncertainty = kft.UncertaintySpec{Inference: "mean-field", Noise: "entity:store", Conformal: "split"}
		given.Search = kft.SearchSpec{"fit.lambda": {"1", "2"}}
		s.write(t, "stores.csv", addColumn(s.read(t, "stores.csv"), "x", func(int, string) string { return "1" }))
		m, r = fit(t, given, kft.Options{})
		if len(r.Choices) == 0 || len(r.Periods) == 0 || len(r.History) == 0 || len(r.Warnings) == 0 || len(r.Side) == 0 || len(r.Side[0].Learned) == 0 {
			t.Errorf("got record %s, want choices, periods, history, warnings and side reports with learned parameters", jsonOf(t, r.Record))
		}
		return m, &given, r
	}
	m, _, _ := newModel(t)
	want := modelBytes(t, m)
	for name, get := range map[string]func(*kft.Model) any{
		"Spec":        func(m *kft.Model) any { v := m.Spec(); return &v },
		"Record":      func(m *kft.Model) any { v := m.Record(); return &v },
		"Modes":       func(m *kft.Model) any { return m.Modes() },
		"IDs":         func(m *kft.Model) any { return m.IDs(0) },
		"Terms":       func(m *kft.Model) any { return m.Terms() },
		"Uncertainty": func(m *kft.Model) any { v := m.Uncertainty(); return &v },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := loadBytes(t, want)
			before := jsonOf(t, get(m))
			value := get(m)
			overwrite(reflect.ValueOf(value))
			if jsonOf(t, value) == before {
				t.Fatalf("got %s after overwriting it, want other values; the test has no effect", before)
			}
			if got := jsonOf(t, get(m)); got != before {
				t.Errorf("got %s after the returned value was changed, want %s", got, before)
			}
			if !bytes.Equal(modelBytes(t, m), want) {
				t.Error("got other bytes of the model file after the returned value was changed, want equal bytes")
			}
		})
	}
	t.Run("IDs of a mode out of range", func(t *testing.T) {
		t.Parallel()
		for _, mode := range []int{-1, len(m.Modes())} {
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "model: mode ") {
						t.Errorf("IDs(%d): got panic %q, want one about the mode", mode, got)
					}
				}()
				m.IDs(mode)
			}()
		}
	})
	t.Run("specification given to Fit", func(t *testing.T) {
		t.Parallel()
		m, spec, _ := newModel(t)
		want := modelBytes(t, m)
		overwrite(reflect.ValueOf(spec))
		if !bytes.Equal(modelBytes(t, m), want) {
			t.Error("got other bytes of the model file after the specification was changed, want equal bytes")
		}
	})
	t.Run("report of Fit", func(t *testing.T) {
		t.Parallel()
		m, _, r := newModel(t)
		want := modelBytes(t, m)
		overwrite(reflect.ValueOf(r))
		if !bytes.Equal(modelBytes(t, m), want) {
			t.Error("got other bytes of the model file after the report was changed, want equal bytes")
		}
	})
}
