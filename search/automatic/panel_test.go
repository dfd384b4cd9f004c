package automatic_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Series of a panel of walks have their levels to themselves: an effect of their ids would take the
// means, to which forecasts return. Forecasts are about as good as the last values, which are best.
// Counts keep the effects.
func TestPanelOfWalks(t *testing.T) {
	t.Parallel()
	for _, counts := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(6, 6))
		var text strings.Builder
		text.WriteString("firm,year,value\n")
		for firm := range 60 {
			level := 100 + 10*rng.NormFloat64()
			for year := range 12 {
				level += rng.NormFloat64()
				value := fmt.Sprintf("%.3f", level)
				if counts {
					value = fmt.Sprint(int(3 * rng.ExpFloat64() * float64(firm%3) * rng.Float64()))
				}
				fmt.Fprintf(&text, "f%02d,%d,%s\n", firm, 2000+year, value)
			}
		}
		file := filepath.Join(t.TempDir(), "firms.csv")
		writeFile(t, file, text.String())
		_, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=1"}, train.Options{Threads: 2})
		if slices.Contains(r.Spec.Terms, "firm") != counts {
			t.Errorf("counts %v: got the terms %v", counts, r.Spec.Terms)
		}
		if best, ok := r.BestFormula(); !counts && (!ok || r.Test.RMSE > 1.05*best.Test.RMSE) {
			t.Errorf("got RMSE %g, want at most 1.05 times %g of %s", r.Test.RMSE, best.Test.RMSE, best.Name)
		}
	}
}
