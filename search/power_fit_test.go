package search

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/train"
)

// TestFitPower checks that a fit estimates the power, that the model's specification and
// record have it, and that a file keeps it.
func TestFitPower(t *testing.T) {
	t.Parallel()
	s := salesSpec(testtable.WriteSales(t, 1500))
	s.Transform = "power"
	m, r := mustFit(t, s, train.Options{})
	if r.Power == nil || r.Power.Rows != 900 || r.Power.Unit < 1 || r.Power.Power > 0.5 || len(r.Power.Tried) != 11 {
		t.Fatalf("got the estimate %+v", r.Power)
	}
	want := targetscale.Power(r.Power.Power, 1).Name()
	if m.Spec().Transform != want || r.Spec.Transform != want || m.Record().Power == nil || m.Scale().Transform != targetscale.Power(r.Power.Power, r.Power.Unit) {
		t.Errorf("got a model with scale %s, unit %g, want %s", m.Spec().Transform, m.Scale().Transform.Unit(), want)
	}
	file := filepath.Join(t.TempDir(), "m.kft")
	if err := m.Save(file); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Load(file)
	if err != nil || loaded.Scale() != m.Scale() || loaded.Record().Power.Power != r.Power.Power {
		t.Errorf("loaded %+v, %v, want %+v", loaded, err, m.Scale())
	}
	// The specification of the model gives the same model without an estimate.
	fixed, r2 := mustFit(t, m.Spec(), train.Options{})
	var a, b bytes.Buffer
	for _, w := range []struct {
		m *model.Model
		b *bytes.Buffer
	}{{m.WithRecord(model.Record{}), &a}, {fixed.WithRecord(model.Record{}), &b}} {
		if _, err := w.m.WriteTo(w.b); err != nil {
			t.Fatal(err)
		}
	}
	if r2.Power != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the resolved specification gives another model")
	}
	s.Transform = "identity"
	if _, identity := mustFit(t, s, train.Options{}); !(r.Test.MAE < identity.Test.MAE) {
		t.Errorf("MAE is %g on the estimated scale, %g on identity", r.Test.MAE, identity.Test.MAE)
	}
}

// TestFitPowerConstant checks the error for a target without variation.
func TestFitPowerConstant(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString("a,b,y\n")
	for i := range 100 {
		fmt.Fprintf(&text, "a%d,b%d,3\n", i%10, i/10)
	}
	file := filepath.Join(t.TempDir(), "c.csv")
	writeFile(t, file, text.String())
	s := salesSpec(file)
	s.Data.Target, s.Data.Modes, s.Terms, s.Transform = "y", []string{"a", "b"}, nil, "power"
	_, _, err := Fit(t.Context(), s, tableio.Source{}, train.Options{})
	if fielderr.Path(err) != "data.target" {
		t.Errorf("got %v, want an error about data.target", err)
	}
}
