package tt_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Without a component whose slices are zero, a field has the same moments at all cells,
// for every variant and family, and a train of the old ranks has its old size.
func TestKeepComponents(t *testing.T) {
	t.Parallel()
	b := ref.Backend{}
	tested := 0
	for _, tc := range posteriors() {
		if tc.name[:3] != "thr" {
			continue
		}
		rng := rand.New(rand.NewPCG(8, 8))
		codes := cells(rng, 60)
		f := tc.field(t, b, codes, rng)
		train := f.Terms[0]
		for bond, rank := range train.Ranks() {
			if rank < 2 {
				continue
			}
			tested++
			// Component 0 contributes nothing if its row after the bond is zero.
			after := train.Cores[bond+1]
			size, right := after.Slices.Slice(), after.Slices.Right
			for _, block := range after.Blocks() {
				for k := range block.Value {
					if k%size/right == 0 {
						block.Value[k] = 0
						if block.Posterior.Var != nil {
							block.Posterior.Var[k] = 0
						}
						if c := block.Posterior.Cov; c != nil {
							for j := range size {
								c[k*size+j] = 0
								c[(k/size*size+j)*size+k%size] = 0
							}
						}
					}
				}
			}
			after.Refresh(b, after.Map != nil)
			if hasSigma(after) {
				continue // its covariances belong to all components
			}
			want := exactMoments(f, b, codes)
			weights := f.Weights()
			var keep []int
			for c := 1; c < rank; c++ {
				keep = append(keep, c)
			}
			train.KeepComponents(b, bond, keep)
			if got := train.Ranks()[bond]; got != rank-1 {
				t.Fatalf("%s: got rank %d, want %d", tc.name, got, rank-1)
			}
			if got := f.Weights(); got >= weights {
				t.Errorf("%s: got %d weights, want fewer than %d", tc.name, got, weights)
			}
			got := exactMoments(f, b, codes)
			for i := range want.Mean {
				if math.Abs(float64(got.Mean[i]-want.Mean[i])) > 1e-5 || math.Abs(float64(got.Var[i]-want.Var[i])) > 1e-5*(1+float64(want.Var[i])) {
					t.Fatalf("%s, bond %d: got %g, variance %g at cell %d, want %g and %g", tc.name, bond, got.Mean[i], got.Var[i], i, want.Mean[i], want.Var[i])
				}
			}
			ranks := train.Ranks()
			ranks[bond] = rank
			train.Resize(ranks)
			if got := f.Weights(); got != weights {
				t.Errorf("%s: got %d weights after Resize, want %d", tc.name, got, weights)
			}
			break // the weights are zero now
		}
	}
	if tested == 0 {
		t.Error("no posterior was tested")
	}
}

func hasSigma(c *tt.Core) bool { return c.WeightPosterior != nil && c.WeightPosterior.Sigma != nil }

func exactMoments(f *tt.Field, b ref.Backend, codes [][]int32) tt.Moments {
	n := len(codes[0])
	m := tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
	f.EvaluateMoments(b, m, codes)
	return m
}
