package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestRefitFormulas checks that formulas beside a refit have the settings that the validation rows chose, which are those of
// the record: with more rows they are not worse.
func TestRefitFormulas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var b strings.Builder
		b.WriteString("state,year,y\n")
		for i := range 48 {
			level := 1000 * math.Exp(rng.NormFloat64())
			for year := range 17 {
				fmt.Fprintf(&b, "s%d,%d,%.3f\n", i, 2000+year, level*math.Exp(0.1*float64(year))*(1+0.1*rng.NormFloat64()))
			}
		}
		s := spec.Spec{Version: 1, Split: "random:60/20/20", Terms: []string{"state", "year"}}
		s.Data = spec.Data{Target: "y", Modes: []string{"state", "year"}}
		s.Uncertainty.Inference = "mean-field"
		s.Fill()
		data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(b.String())), Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		m, first, err := Fit(t.Context(), s, data, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, second, err := Refit(t.Context(), m, first, data, spec.RefitValid, Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		before, after := first.Baseline[0], second.Baseline[0]
		if before.Name != after.Name || second.Refit == nil || !(after.Test.RMSE < 1.1*before.Test.RMSE) {
			t.Errorf("seed %d: got the RMSE %g of %s after %+v, want about %g, that of %s with fewer rows", seed, after.Test.RMSE, after.Name, second.Refit, before.Test.RMSE, before.Name)
		}
	}
}
