package automatic_test

import (
	"os"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

func mustFit(t *testing.T, s spec.Spec, opt train.Options) (*model.Model, *train.Report) {
	t.Helper()
	m, r, err := search.Fit(t.Context(), s, tableio.Source{}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
