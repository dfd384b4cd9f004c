package automatic_test

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/evaluate"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// A model that was trained again has the parts of the final fit, as its scores have.
func TestRefitHasPartsOfFinalFit(t *testing.T) {
	t.Parallel()
	s := spec.Spec{
		Data:      spec.Data{Files: []string{testtable.WriteSales(t, 400)}, Target: "units", Modes: []string{"store", "item", "time=year+month"}},
		Transform: "log1p",
		Fit:       spec.Fit{Sweeps: 12},
	}
	s.Terms, s.Fit.Effort, s.Uncertainty.Conformal = []string{"auto"}, "thorough", "split"
	s.Fill()
	data, err := train.Read(t.Context(), s, tableio.Source{}, train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, r, err := search.FitData(t.Context(), s, data, train.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Refit == nil || r.Train.N <= data.Count(dataset.Train) {
		t.Fatalf("got the refit %v and %d training rows of %d", r.Refit, r.Train.N, data.Count(dataset.Train))
	}
	if got, want := evaluate.HeldOut(m), 50-r.Valid.N; got != want {
		t.Errorf("got %d rows held out of 50, of which %d were measured", got, r.Valid.N)
	}
}
