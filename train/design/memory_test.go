package design

import (
	"errors"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// diagonalData returns n training rows, each with its own ids.
func diagonalData(modes []string, n int) Data {
	data := Data{Modes: modes, Other: make([][]int32, len(modes))}
	for range modes {
		codes := make([]int32, n)
		for i := range codes {
			codes[i] = int32(i)
		}
		data.Train, data.Sizes = append(data.Train, codes), append(data.Sizes, n)
	}
	return data
}

// A fit that cannot have enough memory is refused before anything is allocated for it:
// the inner core of rank 10,000 would take 74 TiB.
func TestFieldRefusesMemory(t *testing.T) {
	t.Parallel()
	modes := []string{"store", "item", "time"}
	for _, test := range []struct {
		term   string
		family tt.Family
		room   int64
		path   string // of the error; "" for none
		want   string
	}{
		{"store,item,time:10000", tt.Point, 1 << 40, "terms", "GiB"},
		{"store,item,time:10000", tt.MeanField, 1 << 40, "terms", "lower ranks"},
		{"store,item,time:20", tt.Point, 1 << 30, "", ""},
		{"store,item,time:20", tt.MeanField, 50 << 20, "terms", "available"},
		{"store,item:200", tt.MeanField, 1 << 30, "", ""},
		{"store,item:200", tt.EntityCovariance, 1 << 30, "uncertainty.inference", "mean-field"},
	} {
		term, err := spec.ParseTerm(test.term, modes)
		if err != nil {
			t.Fatal(err)
		}
		data := diagonalData(modes, 20000)
		data.Family, data.Room = test.family, func() int64 { return test.room }
		_, _, err = Field([]spec.Term{term}, data, Side{Variant: "plain"})
		if test.path == "" {
			if err != nil {
				t.Errorf("%s, %s: got error %v, want none", test.term, test.family, err)
			}
			continue
		}
		var field *fielderr.Error
		if !errors.As(err, &field) || field.Path != test.path || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s, %s: got %v, want an error at %s with %q", test.term, test.family, err, test.path, test.want)
		}
	}
}

// The estimate covers the arrays of the field and one copy of what is learned, and
// nothing that is not allocated.
func TestMemoryNeedIsWhatFieldsTake(t *testing.T) {
	t.Parallel()
	modes := []string{"store", "item", "time"}
	operators := []regression.Operator{ones{50, 7}, nil, ones{50, 4}}
	for _, text := range []string{"store,item,time:6@plain", "store,item,time:6@side", "store,item,time:6@wlr", "store*item,time:5@additive", "store,item,time:3@ls"} {
		for _, family := range []tt.Family{tt.Point, tt.MeanField, tt.Multivariate, tt.EntityCovariance} {
			term, err := spec.ParseTerm(text, modes)
			if err != nil {
				t.Fatal(err)
			}
			data := diagonalData(modes, 50)
			b := &builder{data: data, side: Side{Operators: operators, Variant: "plain"}, free: map[string]*entity.Index{}, informed: map[string]*entity.Index{}, rows: map[*entity.Index][]float32{}, field: &tt.Field{}}
			b.data.Family = family
			variant := term.Variant
			if err := b.add(term, variant); err != nil {
				t.Fatal(err)
			}
			if err := b.field.SetFamily(family); err != nil {
				t.Fatal(err)
			}
			need, took := b.need.weights+b.need.covariances, float64(fieldBytes(b.field))
			if family == tt.Multivariate {
				took -= float64(sigmaBytes(b.field)) // left out of the estimate
			}
			if need != took {
				t.Errorf("%s, %s: got an estimate of %g bytes, want the %g bytes of the field and its copy", text, family, need, took)
			}
		}
	}
}

// fieldBytes returns the bytes of the arrays of a field, and of a copy of its learned
// numbers.
func fieldBytes(f *tt.Field) int {
	seen, bytes := map[*float32]bool{}, 0
	add := func(a []float32) {
		if len(a) > 0 && !seen[&a[0]] {
			seen[&a[0]] = true
			bytes += 4 * len(a)
		}
	}
	for _, train := range f.Terms {
		for _, c := range train.Cores {
			for _, a := range [][]float32{c.Slices.Mean, c.Slices.Var, c.Slices.Cov, c.Free, c.Weight} {
				add(a)
			}
			if c.Variant != tt.Plain { // T and its variances, which the core hides
				bytes += 4 * c.Slices.Len()
				if c.WeightPosterior != nil {
					bytes += 4 * c.Slices.Len()
				}
			}
			for _, b := range c.Blocks() {
				bytes += 4 * len(b.Value)
				if b.Posterior == nil {
					continue
				}
				for _, a := range b.Posterior.Arrays()[1:] {
					add(a)
					bytes += 4 * len(a)
				}
			}
		}
	}
	return bytes
}

// sigmaBytes returns the part of fieldBytes that covariances over modes take.
func sigmaBytes(f *tt.Field) int {
	bytes := 0
	for _, train := range f.Terms {
		for _, c := range train.Cores {
			if c.WeightPosterior == nil {
				continue
			}
			for _, s := range c.WeightPosterior.Sigma {
				bytes += 8 * (len(s.Factor) + len(s.Diag))
			}
		}
	}
	return bytes
}
