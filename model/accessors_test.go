package model_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// scramble changes everything that can be reached from v: elements of slices, values
// of maps, targets of pointers, and fields.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			changed := reflect.New(v.Type().Elem()).Elem()
			changed.Set(v.MapIndex(key))
			scramble(changed)
			v.SetMapIndex(key, changed)
		}
		if v.Len() > 0 {
			v.SetMapIndex(v.MapKeys()[0], reflect.Value{}) // delete one
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scramble(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(v.String() + "changed")
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(v.Int() + 1000)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1000)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(-12345)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	}
}

// Changing what accessors return does not change the model.
func TestAccessorsReturnCopies(t *testing.T) {
	t.Parallel()
	s := withSide(newSpec("mean-field"))
	s.Transform, s.Uncertainty.Conformal = "auto", "split"
	s.Search = spec.Search{"rank.1": {"2", "4"}}
	m, report, err := search.Fit(t.Context(), s, tableio.Columns(sales().table),
		train.Options{Threads: 1, Tables: map[string]tableio.Source{"stores": tableio.Columns(sales().stores)}})
	if err != nil {
		t.Fatal(err)
	}
	accessors := map[string]func() any{
		"Spec":        func() any { v := m.Spec(); return &v },
		"Modes":       func() any { v := m.Modes(); return &v },
		"IDs":         func() any { v := m.IDs(0); return &v },
		"Terms":       func() any { v := m.Terms(); return &v },
		"Record":      func() any { v := m.Record(); return &v },
		"Uncertainty": func() any { v := m.Uncertainty(); return &v },
		"NoiseModes":  func() any { v := m.NoiseModes(); return &v },
	}
	text := func(v any) string { // as JSON, because NaN does not equal itself
		t.Helper()
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	before := map[string]string{}
	for name, get := range accessors {
		before[name] = text(get())
	}
	record := m.Record()
	if len(record.Choices) == 0 || len(record.Side) == 0 || len(record.Baseline) == 0 || record.Test.Calibration == nil || len(record.History) == 0 {
		t.Fatalf("the record has too little to test: %+v", record)
	}
	scramble(reflect.ValueOf(report))
	scramble(reflect.ValueOf(&s))
	for name, get := range accessors {
		scramble(reflect.ValueOf(get()))
		if got := text(get()); got != before[name] {
			t.Errorf("%s after a change of its result: got %s, want %s", name, got, before[name])
		}
	}
	for name, get := range accessors { // nor does one change what another one returns
		if got := text(get()); got != before[name] {
			t.Errorf("%s after changes of all results: got %s, want %s", name, got, before[name])
		}
	}
}

// A model keeps its own copy of a record.
func TestWithRecordCopies(t *testing.T) {
	t.Parallel()
	m := fit(t, newSpec("map"))
	r := m.Record()
	r.Warnings = []string{"one"}
	changed := m.WithRecord(r)
	r.Warnings[0] = "two"
	if got := changed.Record().Warnings[0]; got != "one" {
		t.Errorf("got warning %q, want one", got)
	}
	if got := (model.Record{}).Clone(); !reflect.DeepEqual(got, model.Record{}) {
		t.Errorf("clone of the zero record: got %+v", got)
	}
}
