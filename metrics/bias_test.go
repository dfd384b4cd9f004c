package metrics

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

func TestBiasByDecile(t *testing.T) {
	t.Parallel()
	sizes := make([]float64, 20)
	for i := range sizes {
		sizes[i] = float64(19 - i)
	}
	edges := DecileEdges(nil, 1, append(sizes, math.NaN(), math.Inf(1)))
	if want := []float64{2, 4, 6, 8, 10, 12, 14, 16, 18}; !slices.Equal(edges, want) {
		t.Fatalf("got edges %g, want %g", edges, want)
	}
	one, left, right := NewBiasSums(edges), NewBiasSums(edges), NewBiasSums(edges)
	for i, size := range sizes[:18] { // none in the first decile
		half := []*BiasSums{left, right}[i%2]
		for _, s := range []*BiasSums{one, half} {
			s.Add(2*size, 1+float64(i%2), 3*size, size)
		}
	}
	left.Merge(right)
	if got, want := jsonText(t, left.Deciles()), jsonText(t, one.Deciles()); got != want {
		t.Errorf("got %s from merged sums, want %s", got, want)
	}
	d := one.Deciles()
	if len(d) != Deciles || d[0].N != 0 || !math.IsNaN(float64(d[0].Ratio)) {
		t.Fatalf("got %+v, want ten deciles, the first without rows", d)
	}
	// The second decile has the sizes 3 (weight 1) and 2 (weight 2).
	if d[1].N != 2 || d[1].Ratio != 1.5 {
		t.Errorf("got %+v, want two rows and a ratio of 1.5", d[1])
	}
	checkNear(t, "predicted", float64(d[1].Predicted), (9+2*6)/3.0, 1e-12)
	checkNear(t, "actual", float64(d[1].Actual), (6+2*4)/3.0, 1e-12)
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A ratio says nothing about a target with negative values.
func TestBiasOfSignedTarget(t *testing.T) {
	t.Parallel()
	var point PointSums
	sums := NewBiasSums(DecileEdges(nil, 1, []float64{1, 2}))
	for _, y := range []float64{-1, 4} {
		point.Add(y, 1, 2, 2, y, 2)
		sums.Add(y, 1, 2, 2)
	}
	if s := point.Score(); !math.IsNaN(s.Bias) || s.MeanError != 0.5 {
		t.Errorf("got bias %g and mean error %g, want none and 0.5", s.Bias, s.MeanError)
	}
	for i, d := range sums.Deciles() {
		if !math.IsNaN(float64(d.Ratio)) || d.N > 0 && (d.N != 2 || d.Predicted-d.Actual != 0.5) {
			t.Errorf("decile %d: got %+v, want no ratio and a difference of 0.5", i, d)
		}
	}
}

func TestBiasWithoutEdges(t *testing.T) {
	t.Parallel()
	s := NewBiasSums(DecileEdges(nil, 1, nil))
	s.Add(1, 1, 1, 1)
	if d := s.Deciles(); d != nil {
		t.Errorf("got %+v, want none", d)
	}
	text := jsonText(t, Score{BiasByDecile: []DecileBias{{N: 3, Ratio: undefined}}})
	var got Score
	if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.BiasByDecile) != 1 || got.BiasByDecile[0].N != 3 {
		t.Errorf("got %+v, %v from %s", got, err, text)
	}
}
