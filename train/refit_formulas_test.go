package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestRefitFormulas checks that formulas beside a refit have the settings that the validation rows chose, which are those of
// the record: with more rows they are not worse. So it is for each of several targets.
func TestRefitFormulas(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var b strings.Builder
		b.WriteString("state,year,y,z\n")
		for i := range 48 {
			level := 1000 * math.Exp(rng.NormFloat64())
			for year := range 17 {
				mean := level * math.Exp(0.1*float64(year))
				fmt.Fprintf(&b, "s%d,%d,%.3f,%.3f\n", i, 2000+year, mean*(1+0.1*rng.NormFloat64()), mean*(1+0.1*rng.NormFloat64()))
			}
		}
		for _, target := range []string{"y", "y,z"} {
			first, second := refitted(t, target, b.String())
			check := func(before, after []model.BaselineScores) {
				if before[0].Name != after[0].Name || before[0].Setting != after[0].Setting || second.Refit == nil || !(after[0].Test.RMSE < 1.1*before[0].Test.RMSE) {
					t.Errorf("%s, seed %d: got the RMSE %g of %s after %+v, want about %g, that of %s with fewer rows", target, seed, after[0].Test.RMSE, after[0].Name, second.Refit, before[0].Test.RMSE, before[0].Name)
				}
			}
			if len(first.Targets) == 0 {
				check(first.Baseline, second.Baseline)
			}
			for k := range first.Targets {
				check(first.Targets[k].Baseline, second.Targets[k].Baseline)
			}
		}
	}
}

// refitted returns the reports of a fit of a table of states and years and of its refit on training and validation set.
func refitted(t *testing.T, target, text string) (first, second *Report) {
	t.Helper()
	s := spec.Spec{Version: 1, Split: "random:60/20/20", Terms: []string{"state", "year"}}
	s.Data = spec.Data{Target: target, Modes: []string{"state", "year"}}
	s.Uncertainty.Inference = "mean-field"
	if strings.Contains(target, ",") {
		s.Transform = "identity,identity"
	}
	s.Fill()
	file := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := Read(t.Context(), s, tableio.Files(file), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	m, first, err := Fit(t.Context(), s, data, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, second, err = Refit(t.Context(), m, first, data, spec.RefitValid, Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	return first, second
}
