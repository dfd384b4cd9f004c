package automatic_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// depth is a surface that few products of curves do not describe.
func depth(lat, lon float64) float64 {
	return 50 + 20*math.Sin(2*(lat-40)+lon+95)*math.Cos(lat-40-3*(lon+95))
}

// TestPointsAreFound checks that a surface over two covariates is found, that new points and cells are predicted
// alike after loading, and that the specification of the model gives the same predictions with another number of threads.
func TestPointsAreFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var text strings.Builder
	text.WriteString("lat,lon,depth\n")
	for i := range 700 {
		lat, lon := 40+3*rng.Float64(), -95+3*rng.Float64()
		known := fmt.Sprintf("%.3f", lat)
		if i%70 == 0 {
			known = ""
		}
		fmt.Fprintf(&text, "%s,%.3f,%.2f\n", known, lon, depth(lat, lon)+rng.NormFloat64())
	}
	file := filepath.Join(t.TempDir(), "wells.csv")
	writeFile(t, file, text.String())
	s := spec.Spec{Data: spec.Data{Files: []string{file}}}
	m, r := mustFit(t, s, train.Options{Threads: 2})
	if !slices.Contains(r.Spec.Terms, "joint") || !slices.Contains(r.Spec.Data.Modes, "joint(lat+lon)") || r.Test.R2 < 0.9 {
		t.Fatalf("got terms %q of modes %q with test R2 %.3f, want points with R2 0.9 at least", r.Spec.Terms, r.Spec.Data.Modes, r.Test.R2)
	}
	same, _ := mustFit(t, m.Spec(), train.Options{Threads: 1})
	var first bytes.Buffer
	if _, err := m.WriteTo(&first); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Read(&first, "model")
	if err != nil {
		t.Fatal(err)
	}
	cells := []model.Cell{{"lat": "41.234", "lon": "-93.77"}, {"lat": "42.5", "lon": "-94.01"}, {"lat": "", "lon": "-94.01"}}
	var predicted [3][]model.Prediction
	for i, one := range []*model.Model{m, loaded, same} {
		if predicted[i], err = one.Predict(t.Context(), cells, false); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range cells {
		a, b, d := predicted[0][i], predicted[1][i], predicted[2][i]
		if a.Mean != b.Mean || a.Mean != d.Mean {
			t.Errorf("%v: got %g, %g after loading, %g from the specification", c, a.Mean, b.Mean, d.Mean)
		}
	}
	if want := depth(41.234, -93.77); math.Abs(predicted[0][0].Mean-want) > 4 {
		t.Errorf("got %g at a new point, want about %g", predicted[0][0].Mean, want)
	}
}
