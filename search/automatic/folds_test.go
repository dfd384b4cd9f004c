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

// Candidates are compared on as many folds as give 3,000 validation rows together: a table
// of a few thousand rows would otherwise take longer than one of ten times the size.
func TestFoldsByRows(t *testing.T) {
	for _, c := range []struct{ rows, divisions int }{{600, 13}, {1200, 5}, {3000, 5}, {4400, 4}, {4900, 4}, {6000, 1}} {
		var b strings.Builder
		b.WriteString("a,b,y\n")
		for i := range c.rows {
			fmt.Fprintf(&b, "a%d,b%d,%d\n", i%29, i/29, i%7)
		}
		file := filepath.Join(t.TempDir(), "t.csv")
		writeFile(t, file, b.String())
		s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"a", "b"}}}
		s.Fill()
		data, err := train.Read(t.Context(), s, tableio.Files(file), train.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := foldsOf(s, data); err != nil || len(got) != c.divisions {
			t.Errorf("%d rows: %d divisions, error %v; want %d", c.rows, len(got), err, c.divisions)
		}
	}
}

// newFoldsChooser returns a chooser of a table of 1,500 rows with the modes a and b, whose targets
// are the id of a plus noise.
func newFoldsChooser(t *testing.T, noise func(*rand.Rand) float64) *chooser {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("a,b,y\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "a%d,b%d,%.3f\n", i%30, i/30, float64(i%30)+noise(rng))
	}
	file := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, file, b.String())
	s := spec.Spec{Version: 1, Data: spec.Data{Files: []string{file}, Target: "y", Modes: []string{"a", "b"}}, Terms: []string{"a"}, Uncertainty: spec.Uncertainty{Inference: "mean-field"}}
	s.Fill()
	data, err := train.Read(t.Context(), s, tableio.Files(file), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &chooser{spec: s, data: data, effort: efforts["normal"], modes: s.ModeNames(), sizes: data.Sizes(), rows: data.Count(dataset.Train), scores: map[string]*score{}}
	if c.folds, err = foldsOf(s, data); err != nil || len(c.folds) != 5 {
		t.Fatalf("%d divisions, error %v", len(c.folds), err)
	}
	return c
}

// Student noise that was better than Gaussian noise by less than its margin is compared again with all terms.
func TestConfirmsStudentNoise(t *testing.T) {
	t.Parallel()
	for _, narrowly := range []bool{false, true} {
		c := newFoldsChooser(t, func(rng *rand.Rand) float64 { return rng.NormFloat64() / math.Sqrt(rng.Float64()*rng.Float64()) })
		c.narrowly, c.gaussian = narrowly, &c.spec
		if err := c.confirmScale(t.Context()); err != nil {
			t.Fatal(err)
		}
		if compared := len(c.decisions) == 1; compared != narrowly || narrowly && c.spec.Uncertainty.Likelihood != "student" {
			t.Errorf("narrowly %v: the decisions are %v, the likelihood is %s", narrowly, c.decisions, c.spec.Uncertainty.Likelihood)
		}
	}
}

// A candidate that is clearly worse on the first divisions is not fitted on the others, and one
// that is as good as the best is.
func TestGivesUpWorseCandidates(t *testing.T) {
	t.Parallel()
	c := newFoldsChooser(t, func(rng *rand.Rand) float64 { return rng.NormFloat64() })
	with := func(terms ...string) spec.Spec {
		s := c.spec.Clone()
		s.Terms = terms
		return s
	}
	scores := c.score(t.Context(), []spec.Spec{with("b"), with("a"), with("b", "a")}, 0, func(int) {})
	for i, want := range []int{firstDivisions[0], 5, 5} {
		if got := len(scores[i].divisions); got != want || scores[i].err != nil {
			t.Errorf("candidate %d was fitted on %d divisions, error %v; want %d", i, got, scores[i].err, want)
		}
	}
	if !(scores[0].crps > 2*scores[1].crps) || scores[1].crps != c.mean(scores[1].divisions) {
		t.Errorf("got the CRPS %g, %g and %g", scores[0].crps, scores[1].crps, scores[2].crps)
	}
	again := c.score(t.Context(), []spec.Spec{with("a"), with("b")}, 0, func(i int) { t.Errorf("candidate %d is fitted again", i) })
	if again[0].crps != scores[1].crps || math.Abs(again[1].crps/scores[0].crps-1) > 0.1 { // relative to the best of two
		t.Errorf("got %g and %g the second time", again[0].crps, again[1].crps)
	}
}
