package automatic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// Parts differ in how often they are sold and, independently of it, in how many are sold at once. One field of a hurdle cannot follow both:
// after some sweeps it leaves the first for the second, so that short fits prefer a hurdle to a negative binomial, and whole trainings do not.
func TestConfirmsHurdleByWholeTrainings(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	poisson := func(rate float64) (n int) {
		for sum := rng.ExpFloat64(); sum < rate; sum += rng.ExpFloat64() {
			n++
		}
		return n
	}
	var text strings.Builder
	text.WriteString("part,week,units\n")
	for part := range 50 {
		often, many := 1-math.Exp(-math.Exp(-1.2+0.9*rng.NormFloat64())), math.Exp(0.3+0.9*rng.NormFloat64())
		for week := range 60 {
			units := 0
			if rng.Float64() < often {
				units = 1 + poisson(many)
			}
			fmt.Fprintf(&text, "p%d,%d,%d\n", part, week+1, units)
		}
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "units", Modes: []string{"part", "week"}}, Split: "time:last=6", Terms: []string{"series(part; week)", "part"}, Uncertainty: spec.Uncertainty{Inference: "mean-field", Likelihood: "hurdle"}}
	s.Fill()
	data, err := train.Read(t.Context(), s, tableio.Files(file), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Fit.Sweeps = efforts["normal"].fitting
	c := &chooser{spec: s, data: data, effort: efforts["normal"], modes: s.ModeNames(), sizes: data.Sizes(), rows: data.Count(dataset.Train), scores: map[string]*score{}}
	if c.folds, err = foldsOf(s, data); err != nil {
		t.Fatal(err)
	}
	gaussian := s.WithLikelihood("gaussian")
	c.gaussian = &gaussian
	short, err := c.measure(t.Context(), c.spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.confirmScale(t.Context()); err != nil {
		t.Fatal(err)
	}
	options := c.decisions[0].Options
	if len(options) != 3 || options[2].Value != "negative-binomial" || options[0].CRPS == nil || options[2].CRPS == nil {
		t.Fatalf("got the candidates %v, want hurdle, identity and negative-binomial", options)
	}
	if whole, binomial := *options[0].CRPS, *options[2].CRPS; !(short < binomial && binomial < whole) || c.spec.Uncertainty.Likelihood != "negative-binomial" {
		t.Errorf("got the CRPS %.4g of a short fit of the hurdle, %.4g of a negative binomial and %.4g of a whole training of the hurdle, and chose %s; want them to rise, and negative-binomial",
			short, binomial, whole, c.spec.Uncertainty.Likelihood)
	}
	if c.effort != efforts["normal"] {
		t.Error("the effort of other comparisons has changed")
	}
}
