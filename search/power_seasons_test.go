package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// TestPowerWithSeasons checks that forecasts of stores whose seasons, growth and noise are shares
// of their level have a scale near the logarithm. Effects of stores and single months alone suggest
// a power above 0.3.
func TestPowerWithSeasons(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	text.WriteString("store,year,month,sales\n")
	for s := range 12 {
		for k := range 60 {
			level := float64(1000 * (s + 1))
			fmt.Fprintf(&text, "s%d,%d,%d,%.1f\n", s, 2015+k/12, 1+k%12, level*math.Exp(0.3*math.Sin(math.Pi*float64(k)/6+float64(s)/5)+0.004*float64(k)+0.05*r.NormFloat64()))
		}
	}
	file := filepath.Join(t.TempDir(), "seasons.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}, Target: "sales", Modes: []string{"store", "time=year+month"}}, Split: "time:last=12"}
	m, report := mustFit(t, s, train.Options{Threads: 2})
	if got := m.Spec().Transform; got != "power:0" {
		t.Errorf("got the scale %s, want power:0; decisions %+v", got, report.Decisions)
	}
}
