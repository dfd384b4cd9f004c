package train

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// casesTable is a table of bottles that are sold by the case: item k by 1, 6 or 12.
func casesTable(heaped bool) string {
	rng := rand.New(rand.NewPCG(9, 9))
	var b strings.Builder
	b.WriteString("store,item,step,bottles\n")
	for s := range 30 {
		for i := range 24 {
			for m := range 24 {
				y := math.Exp(1.5 + float64(i)/15 + float64(s%7)/10 + 0.5*rng.NormFloat64())
				pack := []float64{1, 6, 12}[i%3]
				if !heaped {
					pack = 1
				}
				fmt.Fprintf(&b, "S%d,A%d,t%d,%g\n", s, i, m, max(math.Round(y/pack), 1)*pack)
			}
		}
	}
	return b.String()
}

func casesSpec() spec.Spec {
	s := spec.Spec{Data: spec.Data{Files: []string{"cases"}, Target: "bottles", Modes: []string{"store", "item", "step"}}, Transform: "log1p", Terms: []string{"store*item", "store", "item"},
		Fit: spec.Fit{Sweeps: 4}, Uncertainty: spec.Uncertainty{Inference: "mean-field", Noise: "constant"}, Split: "random:65/20/15"}
	s.Fill()
	return s
}

// TestHeaping: values that cases prefer are learned, survive a file and a refit, and are not
// found where there are none.
func TestHeaping(t *testing.T) {
	t.Parallel()
	s := casesSpec()
	fit := func(text string) (*model.Model, *Report, *fitdata.Data) {
		data, err := Read(t.Context(), s, tableio.Reader("cases", strings.NewReader(text)), Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		m, report, err := Fit(t.Context(), s, data, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		return m, report, data
	}
	if m, _, _ := fit(casesTable(false)); len(m.HeapedBy()) > 1 {
		t.Errorf("values of rounded numbers are heaped by %v", m.HeapedBy())
	}
	s.Uncertainty.Heaping = "none"
	if m, _, _ := fit(casesTable(true)); len(m.HeapedBy()) > 0 {
		t.Errorf("without heaping, values are heaped by %v", m.HeapedBy())
	}
	s.Uncertainty.Heaping = "auto"
	m, report, data := fit(casesTable(true))
	if by := m.HeapedBy(); !slices.Contains(by, "all") || !slices.Contains(by, "item") {
		t.Fatalf("values are heaped by %v, expected all and item", by)
	}
	smooth := m.WithHeaping(nil)
	cells := []model.Cell{{"store": "S3", "item": "A1", "step": "t2"}, {"store": "S3", "item": "A2", "step": "t2"}, {"store": "S9", "item": "A0", "step": "t2"}}
	predict := func(m *model.Model) []model.Prediction {
		p, err := m.Predict(t.Context(), cells, false)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got, plain := predict(m), predict(smooth)
	for i, pack := range []float64{6, 12, 1} {
		if math.Mod(got[i].Median, pack) != 0 {
			t.Errorf("median %g of an item sold by %g", got[i].Median, pack)
		}
		if got[i].Mean != plain[i].Mean {
			t.Errorf("the mean changed from %g to %g", plain[i].Mean, got[i].Mean)
		}
	}
	if c := report.Test.Calibration; math.Abs(float64(c.Coverage90)-0.9) > 0.03 {
		t.Errorf("90 %% intervals hold %.3f", float64(c.Coverage90))
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Read(&file, "cases.kft")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range predict(loaded) {
		if p.Distribution().Quantile(0.9) != got[i].Distribution().Quantile(0.9) || p.Median != got[i].Median {
			t.Errorf("cell %d: a loaded model has the median %g, expected %g", i, p.Median, got[i].Median)
		}
	}
	again, _, err := Refit(t.Context(), m, report, data, spec.RefitAll, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if again.Heaping() == nil {
		t.Error("the refit has no heaped values")
	}
}
