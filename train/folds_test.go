package train

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Every training and validation row is in the validation set of one fold, no test row is.
func TestFolds(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Data: spec.Data{Files: []string{testtable.WriteSales(t, 400)}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}}
	read := func(how string) *Data {
		t.Helper()
		s.Split = how
		s.Fill()
		data, err := Read(t.Context(), s, tableio.Source{}, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	data := read("random:60/20/20")
	before := slices.Clone(data.split.Parts)
	folds, err := data.Folds(4, 7)
	if err != nil {
		t.Fatal(err)
	}
	for row, part := range before {
		times := 0
		for _, f := range folds {
			if f.split.Parts[row] == dataset.Valid {
				times++
			}
			if (part == dataset.Test) != (f.split.Parts[row] == dataset.Test) {
				t.Fatalf("row %d of part %v is in part %v", row, part, f.split.Parts[row])
			}
		}
		if want := 1; part != dataset.Test && times != want {
			t.Fatalf("row %d is in the validation sets of %d folds, want %d", row, times, want)
		}
	}
	if !slices.Equal(before, data.split.Parts) {
		t.Error("the division of the data has changed")
	}
	if others, err := data.Folds(4, 8); err != nil || slices.Equal(folds[0].split.Parts, others[0].split.Parts) {
		t.Error("another seed gives the same folds")
	}
	if share := data.Familiar(); share < 0.9 {
		t.Errorf("got %g familiar validation rows of a random split, want most of them", share)
	}
	if share := read("time:last=2").Familiar(); share != 0 {
		t.Errorf("got %g familiar validation rows of a split by time, want 0", share)
	}
}

// Of the validation rows as many as asked for stay, the others are training rows.
func TestKeepValid(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Data: spec.Data{Files: []string{testtable.WriteSales(t, 400)}, Target: "units", Modes: []string{"store", "item", "time=year+month"}}}
	s.Fill()
	data, err := Read(t.Context(), s, tableio.Source{}, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(data.split.Parts)
	const keep = 30
	larger, err := data.KeepValid(keep, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, moved := larger.Count(dataset.Train)-data.Count(dataset.Train), data.Count(dataset.Valid)-keep; larger.Count(dataset.Valid) != keep || got != moved {
		t.Errorf("got %d validation rows and %d more training rows, want %d and %d", larger.Count(dataset.Valid), got, keep, moved)
	}
	for row, part := range before {
		if now := larger.split.Parts[row]; now != part && !(part == dataset.Valid && now == dataset.Train) {
			t.Fatalf("row %d of part %v is in part %v", row, part, now)
		}
	}
	if !slices.Equal(before, data.split.Parts) {
		t.Error("the division of the data has changed")
	}
	if same, err := data.KeepValid(len(before), 1); err != nil || same != data {
		t.Errorf("got other data although all validation rows stay (%v)", err)
	}
}
