package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestMeansOfForecasts checks that means of forecasts know of rare large values, which normal errors on a logarithmic scale
// are too low for, and that what all rows of the validation months have in common does not change them.
func TestMeansOfForecasts(t *testing.T) {
	t.Parallel()
	factor := func(shock float64) float64 {
		rng := rand.New(rand.NewPCG(5, 6))
		var text strings.Builder
		text.WriteString("item,time,y\n")
		for i := range 800 {
			level := 3 + 0.5*rng.NormFloat64()
			for m := range 15 {
				y := level + 0.3*rng.NormFloat64()
				if rng.Float64() < 0.03 {
					y += 2.5
				}
				if m >= 9 && m < 12 {
					y += shock
				}
				fmt.Fprintf(&text, "i%d,%d-%02d,%.3f\n", i, 2020+m/12, m%12+1, math.Exp(y))
			}
		}
		s := spec.Spec{Version: 1, Split: "time:last=3", Transform: "log1p", Terms: []string{"item"}}
		s.Data = spec.Data{Target: "y", Modes: []string{"item", "time"}}
		s.Uncertainty.Inference, s.Uncertainty.Mixing, s.Fit.Sweeps = "mean-field", "none", 10
		s.Fill()
		data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(text.String())), Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		m, report, err := Fit(t.Context(), s, data, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if m.MeanCurve() == nil {
			t.Fatal("the means of forecasts are not corrected")
		}
		if shock == 0 && math.Abs(report.Test.Bias-1) > 0.06 {
			t.Errorf("predicted / actual total is %g", report.Test.Bias)
		}
		// Draws have the shape of the errors, so their total agrees with that of the means.
		cells := make([]model.Cell, 800)
		for i := range cells {
			cells[i] = model.Cell{"item": fmt.Sprintf("i%d", i), "time": "2021-01"}
		}
		predicted, err := m.Predict(t.Context(), cells, false)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := m.Samples(t.Context(), cells, 50)
		if err != nil {
			t.Fatal(err)
		}
		means, draws := 0.0, 0.0
		for i, p := range predicted {
			means += p.Mean
			for _, v := range drawn[i] {
				draws += v / 50
			}
		}
		if shock == 0 && math.Abs(means/draws-1) > 0.07 {
			t.Errorf("the total of the means is %g, that of the draws %g", means, draws)
		}
		return m.MeanCurve().At(20) / 20
	}
	usual, shocked := factor(0), factor(0.3)
	if usual < 1.05 || math.Abs(shocked-usual) > 0.03 {
		t.Errorf("means are multiplied by %g, after a shock by %g", usual, shocked)
	}
}

// TestMeansOfFewSeries checks that the shape of the errors of few series does not change the means of their forecasts: all errors of a
// period are those of two rows, so that little would be left without what they have in common.
func TestMeansOfFewSeries(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 2))
	var text strings.Builder
	text.WriteString("sensor,time,y\n")
	for i := range 2 {
		for h := range 3600 {
			at := time.Date(2024, 1, 1, h, 0, 0, 0, time.UTC)
			fmt.Fprintf(&text, "s%d,%s,%.3f\n", i, at.Format("2006-01-02 15:04"), math.Exp(3+0.7*rng.NormFloat64()))
		}
	}
	s := spec.Spec{Version: 1, Split: "time:last=1200", Transform: "log1p", Terms: []string{"sensor", "time.hour"}}
	s.Data = spec.Data{Target: "y", Modes: []string{"sensor", "time"}}
	s.Uncertainty.Inference, s.Fit.Sweeps = "mean-field", 5
	s.Fill()
	data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(text.String())), Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	m, report, err := Fit(t.Context(), s, data, Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	if m.MeanCurve() != nil || math.Abs(report.Test.Bias-1) > 0.1 {
		t.Errorf("predicted / actual total is %g, means are corrected: %v", report.Test.Bias, m.MeanCurve() != nil)
	}
}
