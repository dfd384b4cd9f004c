package sideinfo

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// Periods are in the units of the table: months 12 apart have the same row.
func TestPeriodOfEncodedColumn(t *testing.T) {
	t.Parallel()
	var months, sizes []string
	for i := range 36 {
		months, sizes = append(months, fmt.Sprint(i+1)), append(sizes, "2")
	}
	sizes[3], sizes[15], sizes[27] = "3", "3", "3"
	_, f, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"size:cat": sizes, "month:num": months}, "size:cat", "month:num")
	k, err := kernel.Parse("periodic:12[month]")
	if err != nil {
		t.Fatal(err)
	}
	op, _, err := New("dual", f, k, Options{Backend: cpu.New(cpu.Generic, 1), Columns: 36})
	if err != nil {
		t.Fatal(err)
	}
	m := op.Columns()
	row := func(i int) []float32 { return op.Matrix()[i*m:][:m] }
	distance := func(a, b []float32) (sum float64) {
		for c := range a {
			sum += math.Pow(float64(a[c]-b[c]), 2)
		}
		return math.Sqrt(sum)
	}
	if same, other := distance(row(1), row(13)), distance(row(1), row(7)); same > 1e-3 || other < 0.1 {
		t.Errorf("got distance %g of months 12 apart and %g of months 6 apart, want about 0 and more than 0.1", same, other)
	}
}

// A kernel may name a whole category or cycle. A periodic factor in one gives a
// notice.
func TestKernelsOnEncodedColumns(t *testing.T) {
	t.Parallel()
	var months, cities, sizes []string
	for i := range 24 {
		months, cities, sizes = append(months, fmt.Sprint(i%12+1)), append(cities, []string{"Ames", "Boone", "Ely"}[i%3]), append(sizes, fmt.Sprint(i))
	}
	cities[4], sizes[5] = "", ""
	e, f, _ := fitColumns(t, EncodeOptions{}, map[string][]string{"month:cycle12": months, "city:cat": cities, "size:num": sizes}, "month:cycle12", "city:cat", "size:num")
	for text, want := range map[string]string{
		"rbf[city]": "", "rbf[month]+matern12[size]": "", "rbf*periodic:12[size]": "",
		"periodic:12":                   "periodic in month (cycle12), city (cat)",
		"rbf+rbf*periodic:12[city]":     "periodic in city (cat)",
		"periodic:7[size]+periodic:3.5": "periodic in month (cycle12), city (cat)",
	} {
		k, err := kernel.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.PeriodNotice(k)
		if err != nil || !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: got notice %q, %v; want one with %q", text, got, err, want)
		}
		op, _, err := New("dual", f, k, Options{Backend: cpu.New(cpu.Generic, 1), Columns: 24})
		if err != nil {
			t.Fatal(err)
		}
		meta, tensors := State(op)
		if _, err := Restore(cpu.New(cpu.Generic, 1), meta, tensors); err != nil {
			t.Errorf("%s: got %v, want the operator restored", text, err)
		}
	}
	e, _, _ = fitColumns(t, EncodeOptions{}, map[string][]string{"month:cycle12": months, "same:num": slices.Repeat([]string{"1"}, 24)}, "month:cycle12", "same:num")
	if k, err := kernel.Parse("rbf[same]"); err != nil {
		t.Fatal(err)
	} else if _, err := e.PeriodNotice(k); err == nil || !strings.Contains(err.Error(), `column "same" was dropped`) || fielderr.Path(err) != "side.kernels" {
		t.Errorf("column left out: got error %v (field %q), want one about side.kernels", err, fielderr.Path(err))
	}
	for _, name := range []string{"cities", "month tan"} {
		k, err := kernel.Parse("rbf[" + name + "]")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.PeriodNotice(k); err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%s: got error %v, want one that names the column", name, err)
		}
	}
	k, err := kernel.Parse("rbf[city]")
	if err != nil {
		t.Fatal(err)
	}
	if k, err = kernel.Bind(k, f.columns()); err != nil {
		t.Fatal(err)
	}
	for c, name := range f.Names {
		if kernel.UsesColumn(k, c) != strings.HasPrefix(name, "city") {
			t.Errorf("rbf[city], column %q: got use %v, want %v", name, kernel.UsesColumn(k, c), !kernel.UsesColumn(k, c))
		}
	}
}
