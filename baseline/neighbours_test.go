package baseline

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A smooth series with gaps is predicted by the line between neighbours, a noisy one by the
// mean of several, with and without a validation set.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 2))
	for want, noise := range map[string]float64{"line between neighbours in time": 0, "mean of 10 neighbours in time": 3} {
		for _, validation := range []bool{true, false} {
			tab := Table{Names: []string{"day"}, Sizes: []int{400}, Between: &Time{}, Threads: 2}
			for p := range tab.Parts {
				tab.Parts[p].Codes = make([][]int32, 1)
			}
			for day := range int32(400) {
				part := Train
				switch {
				case day%5 == 2 && validation:
					part = Valid
				case day%7 == 3:
					part = Test
				}
				rows := &tab.Parts[part]
				rows.Codes[0] = append(rows.Codes[0], day)
				rows.Y = append(rows.Y, float32(10+8*math.Sin(float64(day)/25)+noise*rng.NormFloat64()))
				tab.Between.Periods[part] = append(tab.Between.Periods[part], day)
			}
			best := Fit(tab)[0]
			if noise == 0 && best.Name != want || noise > 0 && best.key != "neighbours" {
				t.Errorf("validation set %v: best is %q, want %q", validation, best.Name, want)
			}
			got := make([]float64, len(tab.Parts[Test].Y))
			best.Predict(Test, 0, got)
			for i, v := range got {
				if truth := 10 + 8*math.Sin(float64(tab.Between.Periods[Test][i])/25); math.Abs(v-truth) > 0.3+1.5*noise {
					t.Errorf("validation set %v: got %g, want about %g", validation, v, truth)
				}
			}
		}
	}
	ends := &between{rows: []observed{{3, 1, 1}, {5, 2, 1}}, reach: 1}
	for period, want := range map[int32]float64{0: 1, 4: 1.5, 5: 1, 9: 2} {
		if got := ends.at(period); got != want {
			t.Errorf("got %g in period %d, want %g", got, period, want)
		}
	}
}
