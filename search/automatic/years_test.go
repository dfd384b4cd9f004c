package automatic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// A smooth year that all series share is chosen for two years of weeks, and not offered for less than one year.
func TestChooseSmoothYears(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		weeks   int
		offered bool
	}{{100, true}, {60, false}} {
		rng := rand.New(rand.NewPCG(2, 3))
		var b strings.Builder
		b.WriteString("item,week,units\n")
		shared := 0.0
		for w := range c.weeks {
			day := time.Date(2022, 1, 3, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*w)
			shared += 0.03 * rng.NormFloat64()
			for i := range 30 {
				x := 3 + 0.03*float64(i) + shared + 0.5*math.Sin(2*math.Pi*float64(w)/52.18) + 0.2*rng.NormFloat64()
				fmt.Fprintf(&b, "i%d,%s,%.3f\n", i, day.Format(time.DateOnly), x)
			}
		}
		file := filepath.Join(t.TempDir(), "units.csv")
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"item", "week"}},
			Split: "time:last=8", Terms: []string{"item", "series(item; week)"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
		s.Fill()
		data, err := train.Read(t.Context(), s, tableio.Files(file), train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		chooser := &chooser{spec: s, data: data, effort: effort{rows: 1e5, sweeps: 8}, modes: s.ModeNames(), sizes: data.Sizes(), rows: data.Count(dataset.Train), scores: map[string]*score{}}
		if chooser.folds, err = foldsOf(s, data); err != nil {
			t.Fatal(err)
		}
		all := len(chooser.folds)
		if err := chooser.chooseSeasons(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(chooser.folds) != all {
			t.Errorf("%d weeks: the next choice has %d origins, not %d", c.weeks, len(chooser.folds), all)
		}
		offered := false
		for _, d := range chooser.decisions {
			for _, o := range d.Options {
				offered = offered || strings.HasPrefix(o.Value, "smooth year")
			}
		}
		if got := strings.Join(chooser.spec.Terms, " + "); offered != c.offered || strings.Contains(got, "series(; week; walk, ar, season=52.17") != c.offered {
			t.Errorf("%d weeks: offered %v, got the terms %s", c.weeks, offered, got)
		}
	}
}
