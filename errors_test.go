package kft_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// asError reports whether err's chain contains an E, as errors.As finds it.
func asError[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// fitError returns the error of fitting a small table with the columns a, b and y.
func fitError(t testing.TB, table string, change func(*kft.Spec)) error {
	t.Helper()
	spec := kft.Spec{Data: kft.DataSpec{Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a", "b"}, Split: "random:80/20/0"}
	if change != nil {
		change(&spec)
	}
	_, _, err := kft.Fit(t.Context(), spec, kft.Reader("table.csv", strings.NewReader(table)), kft.Options{})
	return err
}

// TestErrorsOfFit checks sentinels, types and field paths.
func TestErrorsOfFit(t *testing.T) {
	t.Parallel()
	const (
		good     = "a,b,y\n1,1,1\n2,2,2\n1,2,3\n2,1,4\n1,3,5\n2,3,6\n"
		negative = "a,b,y\n1,1,1\n2,2,-2\n1,2,3\n2,1,4\n1,3,5\n2,3,6\n"
		constant = "a,b,y\n1,1,7\n2,2,7\n1,2,7\n2,1,7\n1,3,7\n2,3,7\n"
	)
	for _, test := range []struct {
		name   string
		table  string
		change func(*kft.Spec)
		is     error // sentinel, nil for none
		as     func(error) bool
		path   string // of the field, "" if it does not matter
	}{
		{"outside the domain of log1p", negative, func(s *kft.Spec) { s.Transform = "log1p" }, kft.ErrDomain, asError[*kft.DomainError], "transform"},
		{"negative count", negative, func(s *kft.Spec) {
			s.Uncertainty = kft.UncertaintySpec{Inference: "mean-field", Likelihood: "poisson"}
		}, kft.ErrDomain, asError[*kft.DomainError], "uncertainty.likelihood"},
		{"constant target", constant, nil, kft.ErrConstantTarget, asError[*kft.ConstantError], "data.target"},
		{"mode with one id", "a,b,y\n1,1,1\n1,2,2\n1,3,3\n", nil, nil, asError[*kft.FieldError], "data.modes"},
		{"missing target column", good, func(s *kft.Spec) { s.Data.Target = "z" }, nil, asError[*kft.InputError], "data.target"},
		{"missing weight column", good, func(s *kft.Spec) { s.Data.Weight = "z" }, nil, asError[*kft.InputError], "data.weight"},
		{"missing mode column", good, func(s *kft.Spec) { s.Data.Modes, s.Terms = []string{"a", "c"}, nil }, nil, asError[*kft.InputError], "data.modes"},
		{"text in the target", good + "1,1,many\n", nil, nil, asError[*kft.InputError], ""},
		{"missing file", good, func(s *kft.Spec) { s.Side.Tables = []string{"a=none.csv"} }, os.ErrNotExist, asError[*kft.InputError], ""},
		{"invalid specification", good, func(s *kft.Spec) { s.Terms = []string{"a", "c"} }, nil, asError[kft.Problems], ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := fitError(t, test.table, test.change)
			if err == nil {
				t.Fatal("got no error, want one")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got error %q, want one that is %q", err, test.is)
			}
			if !test.as(err) {
				t.Errorf("got error %q of type %T, want another type in its chain", err, err)
			}
			if got := kft.FieldPath(err); test.path != "" && got != test.path {
				t.Errorf("got field path %q of error %q, want %q", got, err, test.path)
			}
			if strings.Contains(err.Error(), "--") {
				t.Errorf("got error %q, want no command line flag in it", err)
			}
		})
	}
}

// TestInputErrorHasPlace checks the fields of an error about a value.
func TestInputErrorHasPlace(t *testing.T) {
	t.Parallel()
	var got *kft.InputError
	err := fitError(t, "a,b,y\n1,1,1\n2,2,many\n", nil)
	if !errors.As(err, &got) {
		t.Fatalf("got error %v, want a *kft.InputError", err)
	}
	if got.File != "table.csv" || got.Line != 3 || got.Column != "y" || got.Value != "many" {
		t.Errorf("got file %q, line %d, column %q, value %q, want table.csv, 3, y and many", got.File, got.Line, got.Column, got.Value)
	}
}

// TestProblemsOfParseSpec checks that all unknown keys and wrong types are returned, with
// field paths and places in the file.
func TestProblemsOfParseSpec(t *testing.T) {
	t.Parallel()
	const text = "version: 1\ndata:\n  target: y\n  colour: red\n  modes: [a, b]\nfit:\n  sweeps: many\nsseed: 2\n"
	_, _, err := kft.ParseSpec([]byte(text), "kft.yaml")
	var got kft.Problems
	if !errors.As(err, &got) {
		t.Fatalf("got error %v, want kft.Problems", err)
	}
	for i := range got {
		if got[i].Message == "" {
			t.Errorf("%s: got no message, want one", got[i].Path)
		}
		got[i].Message = ""
	}
	want := kft.Problems{
		{File: "kft.yaml", Line: 4, Column: 3, Path: "data.colour"},
		{File: "kft.yaml", Line: 7, Column: 11, Path: "fit.sweeps"},
		{File: "kft.yaml", Line: 8, Column: 1, Path: "sseed"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got problems %+v, want %+v; the error is\n%v", got, want, err)
	}
}

// TestProblemsOfFit checks that all invalid values of a specification are returned, with
// field paths.
func TestProblemsOfFit(t *testing.T) {
	t.Parallel()
	err := fitError(t, "", func(s *kft.Spec) {
		s.Terms = []string{"a", "a,c:2"}
		s.Transform = "log"
		s.Fit.Solver = "newton"
		s.Uncertainty.Conformal = "groups"
	})
	var problems kft.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got error %v, want kft.Problems", err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Path)
	}
	slices.Sort(got)
	if want := []string{"fit.solver", "terms[1]", "transform", "uncertainty.conformal"}; !slices.Equal(got, want) {
		t.Errorf("got problems of %q, want %q; the error is\n%v", got, want, err)
	}
}

// TestErrorsOfModel checks sentinels and types of the errors of a model's methods.
func TestErrorsOfModel(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 500)
	m := fitUncertain(t, table, kft.UncertaintySpec{Conformal: "split"}, nil)
	known := kft.Cell{"store": "s1", "item": "i1", "time": "2015-1"}
	unseen := kft.Cell{"store": "new", "item": "i1", "time": "2015-1"}
	predict := func(cells ...kft.Cell) error { _, err := m.Predict(t.Context(), cells); return err }
	fewRows := strings.Join(strings.SplitAfter(readFile(t, table), "\n")[:6], "")
	_, _, recalibrate := m.Recalibrate(t.Context(), kft.Reader("few rows", strings.NewReader(fewRows)), "split", kft.TableOptions{})
	_, strict := m.PredictStrict(t.Context(), []kft.Cell{known, unseen})
	_, strictTable := m.PredictTable(t.Context(), kft.Reader("new", strings.NewReader("store,item,year,month\nnew,i1,2015,1\n")), io.Discard, kft.TableOptions{Strict: true})
	_, samples := m.Samples(t.Context(), []kft.Cell{known}, -1)
	_, _, part := m.EvaluatePart(t.Context(), kft.Reader("few rows", strings.NewReader(fewRows)), kft.Test, kft.TableOptions{})
	_, side := m.WithSide(t.Context(), []string{"store=new.csv"}, nil)
	_, sideMode := m.WithSide(t.Context(), []string{"stor=new.csv"}, nil)
	_, _, groupMode := m.Recalibrate(t.Context(), kft.Files(table), "group:stor", kft.TableOptions{})
	_, mapMode := m.Map(t.Context(), kft.Files(table), kft.MapOptions{Rows: "stor", Part: kft.Unused})
	for _, test := range []struct {
		name string
		err  error
		is   error // sentinel, nil for none
		as   func(error) bool
	}{
		{"PredictStrict", strict, kft.ErrUnseenID, asError[*kft.UnseenError]},
		{"PredictTable, strict", strictTable, kft.ErrUnseenID, asError[*kft.UnseenError]},
		{"cell without a mode", predict(kft.Cell{"store": "s1"}), nil, asError[*kft.CellError]},
		{"cell with an unknown mode", predict(known, kft.Cell{"store": "s1", "item": "i1", "tme": "2015-1"}), nil, asError[*kft.CellError]},
		{"level outside (0, 1)", m.CheckQuantiles([]float64{2}), nil, asError[*kft.QuantileError]},
		{"level beyond the calibration set", m.CheckQuantiles([]float64{.9999}), kft.ErrTooFewRows, asError[*kft.TooFewRowsError]},
		{"Recalibrate", recalibrate, kft.ErrTooFewRows, asError[*kft.TooFewRowsError]},
		{"Samples", samples, nil, asError[*kft.SamplesError]},
		{"EvaluatePart", part, nil, asError[*kft.NotFittedError]},
		{"WithSide", side, nil, asError[*kft.SideError]},
		{"WithSide, unknown mode", sideMode, nil, asError[*kft.SideError]},
		{"Recalibrate, unknown mode", groupMode, nil, asError[kft.Problems]},
		{"Map, unknown mode", mapMode, nil, asError[*kft.ModeError]},
	} {
		if test.err == nil {
			t.Errorf("%s: got no error, want one", test.name)
			continue
		}
		if test.is != nil && !errors.Is(test.err, test.is) {
			t.Errorf("%s: got error %q, want one that is %q", test.name, test.err, test.is)
		}
		if !test.as(test.err) {
			t.Errorf("%s: got error %q of type %T, want another type in its chain", test.name, test.err, test.err)
		}
	}
	if err := predict(known, unseen); err != nil {
		t.Errorf("Predict of an unseen id: got error %v, want none", err)
	}
	var cell *kft.CellError
	if err := predict(known, kft.Cell{"store": "s1"}); !errors.As(err, &cell) || cell.Cell != 1 || cell.Mode != "item" {
		t.Errorf("cell without item and time: got %+v, want an error about mode item of cell 1", cell)
	}
	var row *kft.UnseenError
	if want := (&kft.UnseenError{Row: 2, Unit: "cell", Mode: "store", ID: "new"}); !errors.As(strict, &row) || !reflect.DeepEqual(row, want) {
		t.Errorf("PredictStrict: got %v, want %v", strict, want)
	}
	if got, want := kft.FieldPath(side), "side.tables"; got != want {
		t.Errorf("WithSide: got field path %q, want %q", got, want)
	}
}

// TestDamagedFileIsErrFormat checks truncated, changed and foreign model files, from a
// path and from a reader.
func TestDamagedFileIsErrFormat(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, salesSpec(testtable.WriteSales(t, 300)), kft.Options{})
	file := modelBytes(t, m)
	changed := bytes.Clone(file)
	changed[len(changed)/2] ^= 1
	for name, content := range map[string][]byte{
		"empty":             {},
		"text":              []byte("store,item,units\n"),
		"truncated header":  file[:20],
		"truncated":         file[:len(file)-1],
		"one bit changed":   changed,
		"a byte at the end": append(bytes.Clone(file), 0),
	} {
		path := writeFile(t, "damaged.kft", string(content))
		_, fromPath := kft.Load(path)
		_, fromReader := kft.ReadModel(bytes.NewReader(content))
		for function, err := range map[string]error{"Load": fromPath, "ReadModel": fromReader} {
			if !errors.Is(err, kft.ErrFormat) || !asError[*kft.FormatError](err) {
				t.Errorf("%s of %s: got error %v, want a *kft.FormatError that is ErrFormat", function, name, err)
			}
		}
		checkErrorText(t, fromPath, path)
	}
	if _, err := kft.Load(filepath.Join(t.TempDir(), "none.kft")); !errors.Is(err, os.ErrNotExist) || errors.Is(err, kft.ErrFormat) {
		t.Errorf("missing file: got error %v, want os.ErrNotExist and not ErrFormat", err)
	}
}

// Every kind of error has a code, also inside of others.
func TestErrorCode(t *testing.T) {
	t.Parallel()
	const table = "a,b,y\n1,1,1\n2,2,2\n1,2,3\n2,1,4\n1,3,5\n2,3,6\n"
	for _, c := range []struct {
		err  error
		want string
	}{
		{fitError(t, table, func(s *kft.Spec) { s.Data.Target = "z" }), "unknown_column"},
		{fitError(t, table, func(s *kft.Spec) { s.Fit.Solver = "z" }), "specification"},
		{fitError(t, "a,b,y\n1,1,x\n", nil), "input"},
		{fitError(t, strings.ReplaceAll(table, ",5", ",-5"), func(s *kft.Spec) { s.Transform = "log1p" }), "domain"},
		{fmt.Errorf("outer: %w", &kft.UnseenError{Row: 1, Mode: "a", ID: "x"}), "unseen_id"},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, "missing_file"},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, "disk_full"},
		{context.Canceled, "interrupted"},
		{errors.New("other"), "failed"},
	} {
		if got := kft.ErrorCode(c.err); got != c.want {
			t.Errorf("%v: got %s, want %s", c.err, got, c.want)
		}
	}
}
