package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestSurpriseCountsOnce checks that intervals of forecasts stay sensible after all items changed by a large factor in the
// validation months or those of an earlier origin: the refit expects such changes, and the correction must not add them again.
func TestSurpriseCountsOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ago         int // months from the change to the end, of which 3 are the test and 3 the validation months
		least, most float64
	}{
		{0, 1.1, 1.3},
		{5, 1.5, 12},
		{8, 1.5, 12},
	} {
		rng := rand.New(rand.NewPCG(3, 4))
		var text strings.Builder
		text.WriteString("item,time,y\n")
		for i := range 16 {
			level := 1000 * math.Exp(.3*rng.NormFloat64())
			for m := range 48 {
				if m == 48-c.ago {
					level *= 10
				}
				fmt.Fprintf(&text, "i%d,%d-%02d,%.1f\n", i, 2020+m/12, m%12+1, level*math.Exp(.1*rng.NormFloat64()))
			}
		}
		s := spec.Spec{Version: 1, Split: "time:last=3", Transform: "log1p", Terms: []string{"series(item; time)"}}
		s.Data = spec.Data{Target: "y", Modes: []string{"item", "time"}}
		s.Uncertainty.Inference, s.Uncertainty.Conformal, s.Fit.Sweeps = "mean-field", "auto", 10
		s.Fill()
		data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(text.String())), Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		m, report, err := Fit(t.Context(), s, data, Options{Threads: 2})
		for _, which := range []string{spec.RefitValid, spec.RefitAll} {
			if err == nil {
				m, report, err = Refit(t.Context(), m, report, data, which, Options{Threads: 2})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		var cells []model.Cell
		for i := range 16 {
			cells = append(cells, model.Cell{"item": fmt.Sprintf("i%d", i), "time": "2024-03"})
		}
		predicted, err := m.Predict(t.Context(), cells, false)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range predicted {
			low, high := p.Interval(.9)
			if above := high / p.Median; above < c.least || above > c.most || p.Mean < low || p.Mean > high {
				t.Errorf("item %d, changed %d months ago: got the median %g, the mean %g and the interval %g to %g, want its end at %g to %g times the median", i, c.ago, p.Median, p.Mean, low, high, c.least, c.most)
			}
		}
	}
}
