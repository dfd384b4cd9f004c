package automatic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Factors along time are offered to a long history, and taken if they forecast better.
func TestChooseFactors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		months   int
		amount   float64
		decision bool
		taken    bool
	}{{"shared factor", 48, 1, true, true}, {"no factor", 48, 0, true, false}, {"short history", 36, 1, false, false}} {
		rng := rand.New(rand.NewPCG(1, 5))
		var b strings.Builder
		b.WriteString("item,month,units\n")
		state := 0.0
		weight := make([]float64, 20)
		for i := range weight {
			weight[i] = rng.NormFloat64()
		}
		for m := range c.months {
			state += .3 * rng.NormFloat64()
			for i, w := range weight {
				fmt.Fprintf(&b, "i%d,%d-%02d,%.3f\n", i, 2015+m/12, m%12+1, c.amount*w*(state+math.Sin(2*math.Pi*float64(m)/12))+.3*rng.NormFloat64())
			}
		}
		file := filepath.Join(t.TempDir(), "units.csv")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"item", "month"}},
			Split: "time:last=3", Terms: []string{"item"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
		s.Fill()
		data, err := train.Read(t.Context(), s, tableio.Files(file), train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		chooser := &chooser{spec: s, data: data, effort: effort{rows: 400, sweeps: 8}, modes: s.ModeNames(), sizes: data.Sizes(), rows: data.Count(dataset.Train), scores: map[string]*score{}}
		if chooser.folds, err = foldsOf(s, data); err != nil {
			t.Fatal(err)
		}
		if err := chooser.chooseFactors(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(chooser.decisions) == 1; got != c.decision {
			t.Errorf("%s: %d decisions", c.name, len(chooser.decisions))
		}
		if got := strings.Join(chooser.spec.Terms, " + "); strings.Contains(got, "item,along(month; walk, ar, season):8") != c.taken {
			t.Errorf("%s: got the terms %s", c.name, got)
		}
	}
}
