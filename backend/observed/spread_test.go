package observed_test

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/backendtest"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/observed"
)

// Observations that are spread over ranks give the bits of one process.
func TestRanksGiveSameBits(t *testing.T) {
	t.Parallel()
	s := newSum(8*(1<<14)+77,
		[]backend.Shape{{Left: 1, N: 3000, Right: 2}, {Left: 2, N: 4000, Right: 1}},
		[]backend.Shape{{Left: 1, N: 30, Right: 2}, {Left: 2, N: 20, Right: 3}, {Left: 3, N: 10, Right: 2}, {Left: 2, N: 7, Right: 1}},
		[]backend.Shape{{Left: 1, N: 500, Right: 2}, {Left: 2, N: 2, Right: 3}, {Left: 3, N: 2, Right: 1}}, // has parts
		[]backend.Shape{{Left: 1, N: 90, Right: 4}, {Left: 4, N: 400, Right: 3}, {Left: 3, N: 12, Right: 1}})
	compute := func(b backend.Backend, shared bool) (all []float64) {
		for _, secondMoments := range []bool{false, true} {
			d := observed.New(b, s.y, nil, nil)
			d.Divide()
			for k, cores := range s.cores {
				opt := observed.Options{SecondMoments: secondMoments, Equations: !secondMoments}
				if shared {
					d.Terms = append(d.Terms, d.ShareTerm(cores, ownRows(b, lookup(s.index[k]), len(s.y)), opt))
				} else {
					d.Terms = append(d.Terms, observed.NewTerm(b, cores, s.index[k], opt))
				}
				d.Refresh(k, cores, secondMoments)
			}
			d.Changed()
			for k, term := range d.Terms {
				d.Target(k, 0.5)
				all = append(all, entitySums(d, k, s.cores[k][0].N)...)
				for _, plan := range []*backend.Plan{term.First, term.Last, term.Cheapest} {
					if plan == nil {
						continue
					}
					target, weight := d.InPlanOrder(plan)
					var grad []backend.Slices
					for i, c := range s.cores[k] {
						g := backend.NewSlices(c.Shape)
						if secondMoments {
							g.Var = make([]float32, c.Len())
							if plan.HasCovariances(i, s.cores[k]) {
								g.Cov = make([]float32, c.Len()*c.Slice())
							}
						}
						grad = append(grad, g)
					}
					all = append(all, b.Pass(plan, s.cores[k], &backend.Job{SecondMoments: secondMoments, Adjoint: backend.Residual, Target: target, Weight: weight, Grad: grad}))
					for _, g := range grad {
						for _, v := range slices.Concat(g.Mean, g.Var, g.Cov) {
							all = append(all, float64(v))
						}
					}
					if secondMoments {
						for _, gradientsOnly := range []bool{false, true} {
							all = append(all, ownEntities(b, plan, s.cores[k], target, gradientsOnly)...)
						}
						all = append(all, middle(b, plan, s.cores[k], target)...)
					}
					if !secondMoments && len(s.cores[k]) > 1 {
						all = append(all, equations(b, d, plan, s.cores[k])...)
					}
				}
				d.Refresh(k, s.cores[k], secondMoments)
				sums := d.Residuals(0.5)
				all = append(all, sums.Residual, sums.Square, sums.Weight, d.Spreads(), d.Gain(k, 0.5))
			}
			target, _ := d.Values()
			for _, v := range target {
				all = append(all, float64(v))
			}
		}
		return all
	}
	want := compute(cpu.New(cpu.Paths()[0], 2), false)
	for _, size := range []int{2, 3, 8} {
		for _, shared := range []bool{false, true} {
			backendtest.OnRanks(size, func(r backend.Ranks) {
				if got := compute(cpu.New(cpu.Paths()[0], 2).OnRanks(r), shared); !slices.Equal(got, want) {
					t.Errorf("rank %d of %d, shared plans %t: other bits than those of one process", r.Rank(), size, shared)
				}
			})
		}
	}
}

// lookup returns the entities of observations.
func lookup(index [][]int32) backend.Lookup {
	return func(core int, dst, rows []int32) {
		for i, row := range rows {
			dst[i] = index[core][row]
		}
	}
}

// ownRows returns a lookup that fails for observations of other ranks.
func ownRows(b backend.Backend, all backend.Lookup, n int) backend.Lookup {
	ranks := b.(backend.Divided).Ranks()
	bounds := backend.RowRuns(n, ranks.Size())
	return func(core int, dst, rows []int32) {
		for _, row := range rows {
			if int(row) < bounds[ranks.Rank()] || int(row) >= bounds[ranks.Rank()+1] {
				panic("an observation of another rank")
			}
		}
		all(core, dst, rows)
	}
}

// equations returns the right sides of the normal equations of the leaf core.
func equations(b backend.Backend, d *observed.Data, plan *backend.Plan, cores []backend.Slices) (all []float64) {
	r := plan.LeafRank()
	sums := make([]float32, plan.Shapes[plan.Leaf].N*r)
	visit := func(_, e int, _, rhs []float64) {
		for i, v := range rhs {
			sums[e*r+i] = float32(v)
		}
	}
	if sorted := d.InLeafOrder(plan); sorted != nil {
		b.(backend.Divided).NormalEquationsByLeaf(plan, cores, sorted, visit)
	} else {
		target, weight := d.InPlanOrder(plan)
		b.NormalEquations(plan, cores, target, weight, visit)
	}
	backend.ShareEntities(b, plan, sums, r, 0)
	for _, v := range sums {
		all = append(all, float64(v))
	}
	return all
}

// ownEntities returns the derivatives with respect to the leaf core that the ranks compute for their entities.
func ownEntities(b backend.Backend, plan *backend.Plan, cores []backend.Slices, target []float32, gradientsOnly bool) (all []float64) {
	grad := make([]backend.Slices, len(cores))
	leaf, r := backend.NewSlices(cores[plan.Leaf].Shape), plan.LeafRank()
	leaf.Cov = make([]float32, leaf.Len()*r)
	grad[plan.Leaf] = leaf
	b.Pass(plan, cores, &backend.Job{SecondMoments: true, GradientsOnly: gradientsOnly, OwnEntities: true, Adjoint: backend.Residual, Target: target, Grad: grad})
	runs := backend.EntityRuns(b, plan, plan.Leaf)
	runs.Share(leaf.Mean, r)
	runs.Share(leaf.Cov, r*r)
	for _, v := range slices.Concat(leaf.Mean, leaf.Cov) {
		all = append(all, float64(v))
	}
	return all
}

// middle returns what the equations of the middle core give for its slices, if it has some.
func middle(b backend.Backend, plan *backend.Plan, cores []backend.Slices, target []float32) (all []float64) {
	if len(cores) != 3 {
		return nil
	}
	size := cores[1].Slice()
	gradient, diagonal := make([]float32, cores[1].Len()), make([]float32, cores[1].Len())
	runs, ok := b.(backend.MiddleSystems).MiddleSystems(plan, cores, target, nil, func(_, e int, s backend.MiddleSystem) {
		s.Gradient(gradient[e*size:][:size], cores[1].Mean[e*size:][:size])
		s.Diagonal(diagonal[e*size:][:size])
	})
	if !ok {
		return nil
	}
	runs.Share(gradient, size)
	runs.Share(diagonal, size)
	for _, v := range slices.Concat(gradient, diagonal) {
		all = append(all, float64(v))
	}
	return all
}
