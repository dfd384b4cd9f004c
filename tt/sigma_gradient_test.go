package tt_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/internal/gradcheck"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// SigmaGradient agrees with finite differences of the variances of a regression.
func TestSigmaGradient(t *testing.T) {
	t.Parallel()
	for _, modes := range [][]int{{0}, {1, 2}, {0, 1, 3}} {
		rng := rand.New(rand.NewPCG(10, 9))
		b := ref.Backend{}
		f := build(t, []grouping{{[][]int{modes, {2}}, 2}}, cells(rng, 60), rng)
		c := f.Terms[0].Cores[0]
		m, err := regression.NewLinearMap(c.Index, sideOf(rng, modes), c.Slices.Slice())
		if err != nil {
			t.Fatal(err)
		}
		c.Regress(tt.Side, m, nil)
		if err := f.SetFamily(tt.Multivariate); err != nil {
			t.Fatal(err)
		}
		sigmas := c.WeightPosterior.Sigma
		scatter(rng, tt.Block{Value: []float32{1}, Posterior: c.WeightPosterior}, c.Slices.Slice())
		g := normal(rng, c.Slices.Len()-c.Slices.Slice(), 1).a // without the prior slice, which is not a regression
		objective := func() float64 {
			c.Refresh(b, true)
			sum := 0.0
			for i, v := range g {
				sum += float64(v) * float64(c.Slices.Var[i])
			}
			return sum
		}
		for q, sigma := range sigmas {
			factor, diag := m.SigmaGradient(b, sigmas, q, g)
			name := fmt.Sprintf("modes %v, mode %d", modes, q)
			for i := range sigma.Lead {
				row := i * sigma.Lead
				gradcheck.Check(t, name, sigma.Factor[row:row+i+1], factor[row:row+i+1], objective, 0.01, sigma.Lead, 1e-3)
			}
			if len(diag) > 0 {
				gradcheck.Check(t, name, sigma.Diag, diag, objective, 0.01, len(diag), 1e-3)
			}
		}
	}
}
