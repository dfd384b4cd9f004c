package kft_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// TestSaveAndLoad checks that a loaded model saves to the same bytes and predicts the
// same values.
func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	table := testtable.WriteSales(t, 2000)
	m, _ := fit(t, salesSpec(table), kft.Options{})
	file := modelBytes(t, m)
	loaded := loadBytes(t, file)
	if !bytes.Equal(modelBytes(t, loaded), file) {
		t.Error("a loaded model: got other bytes when saved again, want equal bytes")
	}
	if got, want := predictFile(t, loaded, table, kft.TableOptions{}), predictFile(t, m, table, kft.TableOptions{}); got != want {
		t.Error("a loaded model: got other predictions than before saving, want equal ones")
	}
	var buffer bytes.Buffer
	if n, err := m.WriteTo(&buffer); err != nil || n != int64(len(file)) || !bytes.Equal(buffer.Bytes(), file) {
		t.Errorf("WriteTo: got %d bytes and error %v, want the %d bytes of the file", n, err, len(file))
	}
	read, err := kft.ReadModel(&buffer)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(modelBytes(t, read), file) {
		t.Error("a model from ReadModel: got other bytes when saved, want equal bytes")
	}
}

// TestSaveAndLoadUncertainty checks that means, quantiles and samples of a loaded model
// are the same bit for bit, for each kind of uncertainty and any number of threads.
func TestSaveAndLoadUncertainty(t *testing.T) {
	t.Parallel()
	fitted := testtable.WriteSales(t, 1200)
	table := writeFile(t, "some.csv", strings.Join(strings.SplitAfter(readFile(t, fitted), "\n")[:200], ""))
	for name, u := range uncertaintySpecs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := fitUncertain(t, fitted, u, nil)
			loaded := reload(t, m)
			want := predictFile(t, m, table, kft.TableOptions{Threads: 1, Quantiles: threeLevels(), Samples: 3})
			for _, threads := range []int{1, 2, 8} {
				if got := predictFile(t, loaded, table, kft.TableOptions{Threads: threads, Quantiles: threeLevels(), Samples: 3}); got != want {
					t.Errorf("%d threads: got other predictions from the loaded model, want equal ones", threads)
				}
			}
			header, _, _ := strings.Cut(want, "\n")
			if suffix := "sd_noise,q0.05,q0.5,q0.95,sample_1,sample_2,sample_3,unseen"; !strings.HasSuffix(header, suffix) {
				t.Errorf("got header %q, want one that ends with %q", header, suffix)
			}
			// The first samples do not depend on the number of samples.
			three, five := numberColumns(t, want), numberColumns(t, predictFile(t, m, table, kft.TableOptions{Samples: 5}))
			if got, want := five["sample_3"], three["sample_3"]; !slices.Equal(got, want) {
				t.Errorf("sample_3 of five: got %v, want %v as of three", got, want)
			}
		})
	}
}

// TestLoadRejectsInconsistentUncertainty changes parts of a model file and writes it
// with a valid checksum.
func TestLoadRejectsInconsistentUncertainty(t *testing.T) {
	t.Parallel()
	m := fitUncertain(t, testtable.WriteSales(t, 600), kft.UncertaintySpec{Inference: "entity-covariance", Conformal: "split"}, nil)
	file := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	read := func() *modelfile.File {
		t.Helper()
		f, err := modelfile.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	checkRejected := func(change string, apply func(f *modelfile.File)) {
		t.Helper()
		f := read()
		apply(f)
		damaged := filepath.Join(t.TempDir(), "damaged.kft")
		if err := modelfile.Write(damaged, f); err != nil {
			t.Fatal(err)
		}
		var format *kft.FormatError
		if _, err := kft.Load(damaged); !errors.As(err, &format) {
			t.Errorf("%s: got error %v, want a *kft.FormatError", change, err)
		}
	}
	for i, tensor := range read().Tensors {
		name := tensor.Name
		if !strings.HasPrefix(name, "conformal/") && !strings.HasPrefix(name, "seen/") && !strings.HasSuffix(name, "variance") {
			continue
		}
		checkRejected(name+" missing", func(f *modelfile.File) { f.Tensors = slices.Delete(f.Tensors, i, i+1) })
		if tensor.DType() == "F32" {
			checkRejected(name+" too short", func(f *modelfile.File) { f.Tensors[i] = modelfile.NewTensor(name, []float32{1}, 1) })
		}
	}
	for key, texts := range map[string][]string{
		"uncertainty": {"", "{}", "[]", `{"constant":{"variance":"large"}}`},
		"conformal":   {"splits"},
	} {
		for _, text := range texts {
			checkRejected(fmt.Sprintf("text %s set to %q", key, text), func(f *modelfile.File) { f.Meta[key] = text })
		}
	}
	for _, knots := range [][]float64{{math.NaN()}, {2, 1}, {}} {
		checkRejected(fmt.Sprint("conformal/knots set to ", knots), func(f *modelfile.File) {
			for i, tensor := range f.Tensors {
				if tensor.Name == "conformal/knots" {
					f.Tensors[i] = modelfile.NewTensor(tensor.Name, knots, len(knots))
				}
			}
		})
	}
}
