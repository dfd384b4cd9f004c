package observed_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/backend/observed"
	"github.com/kernel-fried-tensor/kft/backend/ref"
)

// sum is a field of a train of three cores, two effects and other trains at random cells, with variances.
type sum struct {
	cores [][]backend.Slices
	index [][][]int32
	y, w  []float32
}

func newSum(cells int, others ...[]backend.Shape) sum {
	rng := rand.New(rand.NewPCG(3, 5))
	s := sum{y: make([]float32, cells), w: make([]float32, cells)}
	for _, shapes := range append([][]backend.Shape{
		{{Left: 1, N: 30, Right: 3}, {Left: 3, N: 50, Right: 3}, {Left: 3, N: 7, Right: 1}},
		{{Left: 1, N: 900, Right: 1}},
		{{Left: 1, N: 2, Right: 1}},
	}, others...) {
		var cores []backend.Slices
		var index [][]int32
		for _, shape := range shapes {
			c := backend.NewSlices(shape)
			c.Var = make([]float32, len(c.Mean))
			for i := range c.Mean {
				c.Mean[i], c.Var[i] = float32(rng.NormFloat64()), float32(rng.Float64())
			}
			column := make([]int32, cells)
			for i := range column {
				column[i] = int32(rng.Float64() * rng.Float64() * float64(shape.N))
			}
			cores, index = append(cores, c), append(index, column)
		}
		s.cores, s.index = append(s.cores, cores), append(s.index, index)
	}
	for i := range s.y {
		s.y[i], s.w[i] = float32(rng.NormFloat64()), float32(rng.Float64())
	}
	return s
}

func (s sum) bind(b backend.Backend, weights []float32, opt observed.Options) *observed.Data {
	d := observed.New(b, s.y, weights, nil)
	for k, cores := range s.cores {
		d.Terms = append(d.Terms, observed.NewTerm(b, cores, s.index[k], opt))
		d.Refresh(k, cores, opt.SecondMoments)
	}
	d.Changed()
	return d
}

// direct returns the mean and the variance of term k at observation n by enumeration.
func (s sum) direct(k, n int) (mean, variance float64) {
	cores := s.cores[k]
	if len(cores) == 1 {
		e := s.index[k][0][n]
		return float64(cores[0].Mean[e]), float64(cores[0].Var[e])
	}
	plan := backend.NewPlan([]backend.Shape{cores[0].Shape, cores[1].Shape, cores[2].Shape}, [][]int32{{s.index[k][0][n]}, {s.index[k][1][n]}, {s.index[k][2][n]}}, backend.LeafFirst)
	job := &backend.Job{SecondMoments: true, Mean: make([]float32, 1), Var: make([]float32, 1)}
	ref.Backend{}.Pass(plan, cores, job)
	return float64(job.Mean[0]), float64(job.Var[0])
}

func TestSumsAgreeWithEnumeration(t *testing.T) {
	t.Parallel()
	s := newSum(5000)
	const offset = 0.25
	for _, weights := range [][]float32{nil, s.w} {
		for _, keep := range []bool{false, true} {
			d := s.bind(cpu.New(cpu.Paths()[0], 2), weights, observed.Options{SecondMoments: true, Variances: keep})
			var want observed.Sums
			var spread, gain float64
			target := make([]float64, len(s.y)) // of term 1
			for n, y := range s.y {
				w := 1.0
				if weights != nil {
					w = float64(weights[n])
				}
				r := float64(y) - offset
				var g, gv float64
				for k := range s.cores {
					mean, variance := s.direct(k, n)
					r -= mean
					spread += w * variance
					if k == 1 {
						g, gv = mean, variance
					}
				}
				target[n] = r + g
				want.Residual += w * r
				want.Square += w * r * r
				want.Weight += w
				gain += w * (g*(2*r+g) - gv)
			}
			check := func(what string, got, want float64) {
				if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("weights %t, variances kept %t: %s: got %g, want %g", weights != nil, keep, what, got, want)
				}
			}
			d.Target(1, offset)
			got, _ := d.Values()
			for n := range got {
				check("target", float64(got[n]), target[n])
			}
			for _, path := range []string{"from the target of term 1", "from all terms"} {
				sums := d.Residuals(offset)
				check("residuals "+path, sums.Residual, want.Residual)
				check("squares "+path, sums.Square, want.Square)
				check("weights "+path, sums.Weight, want.Weight)
				shifted, direct := sums.Shifted(0.5), d.Residuals(offset)
				check("shift", shifted.Square, direct.Square-direct.Residual+0.25*direct.Weight)
				d.Changed()
			}
			d.Target(1, offset)
			if sums := d.EntitySums(1); (sums != nil) != (weights == nil && !keep) {
				t.Errorf("weights %t, variances kept %t: sums by entity: %t", weights != nil, keep, sums != nil)
			} else if sums != nil {
				count, sum := make([]float64, 900), make([]float64, 900)
				for n, e := range s.index[1][0] {
					count[e]++
					sum[e] += target[n]
				}
				sums(func(e int, n, total float64) {
					check("observations of an entity", n, count[e])
					check("targets of an entity", total, sum[e])
				})
			}
			check("variances", d.Spreads(), spread)
			check("gain", d.Gain(1, offset), gain)
		}
	}
}

// A target that follows from that of another term has the bits of one that is computed from all
// terms.
func TestTargetsAreExact(t *testing.T) {
	t.Parallel()
	s := newSum(40_000, []backend.Shape{{Left: 1, N: 40, Right: 1}}, []backend.Shape{{Left: 1, N: 11, Right: 1}})
	d := s.bind(cpu.New(cpu.Paths()[0], 2), nil, observed.Options{SecondMoments: true})
	offset := float32(0.1)
	for k := range len(d.Terms) {
		d.Target(k, offset)
		for i := range s.cores[k][0].Mean {
			s.cores[k][0].Mean[i] *= 1.7
		}
		d.Refresh(k, s.cores[k], true)
		offset *= -1.3
		next := k + 1
		if next == len(d.Terms) {
			next = observed.None
		}
		d.Target(next, offset)
		values, _ := d.Values()
		got := slices.Clone(values)
		d.Changed()
		d.Target(next, offset)
		if want, _ := d.Values(); !slices.Equal(got, want) {
			t.Fatalf("the target of term %d has other bits after that of term %d", next, k)
		}
	}
}

// Results do not depend on the number of threads.
func TestThreadsGiveSameBits(t *testing.T) {
	t.Parallel()
	s := newSum(3*(1<<14) + 77)
	for _, weights := range [][]float32{s.w, nil} {
		testThreads(t, s, weights)
	}
}

// entitySums returns the sums by entity of an effect, none for other terms.
func entitySums(d *observed.Data, k, entities int) []float64 {
	sums := d.EntitySums(k)
	if sums == nil {
		return nil
	}
	all := make([]float64, 2*entities)
	sums(func(e int, count, sum float64) { all[2*e], all[2*e+1] = count, sum })
	return all
}

func testThreads(t *testing.T, s sum, weights []float32) {
	t.Helper()
	var want []float64
	for _, threads := range []int{1, 2, 7, 16, 64} {
		b := cpu.New(cpu.Paths()[0], threads)
		d := s.bind(b, weights, observed.Options{SecondMoments: true})
		var got []float64
		for k := range d.Terms {
			d.Target(k, 0.5)
			got = append(got, entitySums(d, k, s.cores[k][0].N)...)
			plan := d.Terms[k].Cheapest
			target, weight := d.InPlanOrder(plan)
			grad := make([]backend.Slices, len(s.cores[k]))
			for i, c := range s.cores[k] {
				grad[i] = backend.Slices{Shape: c.Shape, Mean: make([]float32, len(c.Mean))}
				if plan.HasCovariances(i, s.cores[k]) {
					grad[i].Cov = make([]float32, len(c.Mean)*c.Slice())
				}
			}
			got = append(got, b.Pass(plan, s.cores[k], &backend.Job{SecondMoments: true, Adjoint: backend.Residual, Target: target, Weight: weight, Grad: grad}))
			for _, g := range grad {
				for _, v := range slices.Concat(g.Mean, g.Cov) {
					got = append(got, float64(v))
				}
			}
			d.Refresh(k, s.cores[k], true)
			sums := d.Residuals(0.5)
			got = append(got, sums.Residual, sums.Square, sums.Weight)
		}
		got = append(got, d.Spreads(), d.Gain(0, 0.5))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("weights %t: %d threads give other results than 1 thread", weights != nil, threads)
		}
	}
}
