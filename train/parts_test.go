package train

import (
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
)

// A smaller share of the training rows is a subset of a larger one. Other rows keep
// their part.
func TestShareOf(t *testing.T) {
	t.Parallel()
	split := &split.Split{Parts: make([]dataset.Part, 9000)}
	for i := range split.Parts {
		split.Parts[i] = dataset.Part(i % 3)
	}
	third, half := shareOf(split, 1./3, 1), shareOf(split, 0.5, 1)
	for i, p := range split.Parts {
		if p != dataset.Train && (third.Parts[i] != p || half.Parts[i] != p) || third.Parts[i] == dataset.Train && half.Parts[i] != dataset.Train {
			t.Fatalf("row %d of part %v: got %v with a third and %v with a half", i, p, third.Parts[i], half.Parts[i])
		}
	}
	if a, b := third.Count(dataset.Train), half.Count(dataset.Train); a < 900 || a > 1100 || b < 1400 || b > 1600 || split.Count(dataset.Train) != 3000 {
		t.Errorf("got %d and %d of %d training rows, want about 1000 and 1500 of 3000", a, b, split.Count(dataset.Train))
	}
	if slices.Equal(shareOf(split, 0.5, 2).Parts, half.Parts) {
		t.Error("another seed: got the same rows")
	}
}

func TestEmptyShare(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Data: spec.Data{Files: []string{testtable.WriteSales(t, 400)}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}}
	s.Fill()
	_, _, err := ReadAndFit(t.Context(), s, tableio.Source{}, Options{Threads: 2, Share: 1e-9})
	if err == nil || !strings.Contains(err.Error(), "too small to be reduced") {
		t.Errorf("got error %v, want one that says that the table is too small", err)
	}
}
