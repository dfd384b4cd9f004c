package power

import (
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/solver"
)

// Of many modes pairs with few rows per combination have no effects, whose number would grow with
// the square of that of the modes.
func TestEffectsOfManyModes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ modes, ids, want int }{
		{allPairs, 100, allPairs + allPairs*(allPairs-1)/2},
		{allPairs + 1, 100, allPairs + 1},
		{allPairs + 1, 3, allPairs + 1 + allPairs*(allPairs+1)/2},
	} {
		o := &solver.Observations{Codes: make([][]int32, c.modes), Y: make([]float32, 1000)}
		for m := range o.Codes {
			for range o.Y {
				o.Codes[m] = append(o.Codes[m], int32(rng.IntN(c.ids)))
			}
		}
		if got := len(newEffects(o).groups); got != c.want {
			t.Errorf("%d modes of %d ids: %d effects, want %d", c.modes, c.ids, got, c.want)
		}
	}
}
