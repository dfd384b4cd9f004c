package fit

import (
	"math"
	"testing"

	"github.com/kernel-fried-tensor/kft/tt"
)

// Weights by noise multiply those of the data, and follow the model of the noise.
func TestReweighing(t *testing.T) {
	p := three.problem(t, 3, true)
	if err := p.Field.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	d, err := newData(p)
	if err != nil {
		t.Fatal(err)
	}
	given := append([]float32(nil), d.w...)
	factor := func(i int) float64 { return 1 + float64(i%2) } // of the noise variance
	d.startReweighing(func(mean, squared []float32) []float64 {
		v := make([]float64, len(mean))
		for i := range v {
			if !(squared[i] > 0) {
				t.Fatalf("observation %d has the expected squared error %g", i, squared[i])
			}
			v[i] = 0.3 * factor(i)
		}
		return v
	})
	s := &session{d: d, opt: defaults(), state: &State{}}
	if err := s.fresh(); err != nil {
		t.Fatal(err)
	}
	a := newCAVI(d, p.Train, 4)
	a.begin(&s.state.Run, Ridge{})
	a.refreshWeights()
	for i := range given[:50] {
		want := float64(given[i]) / float64(given[0]) * factor(0) / factor(i)
		if got := float64(d.w[i]) / float64(d.w[0]); math.Abs(got-want) > 1e-5*want {
			t.Fatalf("weight %d is %g times the first, want %g", i, got, want)
		}
	}
}
