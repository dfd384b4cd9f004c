package automatic

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
)

// Effects are preferred to a train that is not better, once the default has lost.
func TestPreferLast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		crps        []float64 // below 0: none
		taken, want int
	}{
		{[]float64{0.974, 0.971, 0.970}, 1, 2},
		{[]float64{0.974, 0.971, 0.971}, 1, 2},
		{[]float64{0.974, 0.960, 0.970}, 1, 1},
		{[]float64{0.974, 0.980, 0.973}, 0, 0}, // by chance
		{[]float64{0.974, 0.971, -1}, 1, 1},
		{[]float64{-1}, 0, 0},
	} {
		var options []model.Candidate
		for i, v := range c.crps {
			o := model.Candidate{Taken: i == c.taken}
			if v >= 0 {
				o.CRPS = &v
			}
			options = append(options, o)
		}
		if got := preferLast(options); got != c.want || !options[c.want].Taken || got != c.taken && options[c.taken].Taken {
			t.Errorf("%v with %d taken: got %d of %+v, want %d", c.crps, c.taken, got, options, c.want)
		}
	}
}
