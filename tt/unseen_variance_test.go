package tt_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

func moments(b backend.Backend, codes [][]int32, evaluate func(backend.Backend, tt.Moments, [][]int32)) tt.Moments {
	n := len(codes[0])
	m := tt.Moments{Mean: make([]float32, n), Var: make([]float32, n)}
	evaluate(b, m, codes)
	return m
}

// cellOf returns the codes of one cell.
func cellOf(codes [][]int32, i int) [][]int32 {
	one := make([][]int32, len(codes))
	for m := range codes {
		one[m] = codes[m][i : i+1]
	}
	return one
}

// correlate gives the free weights of a plain core correlated entries, and small
// variances.
func correlate(rng *rand.Rand, b backend.Backend, c *tt.Core) {
	size := c.Slices.Slice()
	mix := normal(rng, size, size).a
	for e := range c.Slices.N {
		z := normal(rng, size, 1).a
		for i := range size {
			sum := 0.3
			for k := range min(3, size) {
				sum += float64(mix[i*size+k]) * float64(z[k]) / math.Sqrt(3)
			}
			c.Free[e*size+i] = float32(sum + 0.2*rng.NormFloat64())
			c.FreePosterior.Var[e*size+i] = float32(0.05 * rng.Float64())
		}
		if cov := c.FreePosterior.Cov; cov != nil {
			for i := range size {
				for j := range size {
					cov[(e*size+i)*size+j] = 0.02
				}
				cov[(e*size+i)*size+i] = 0.05
				c.FreePosterior.Var[e*size+i] = 0.05
			}
		}
	}
	c.Refresh(b, false)
}

// The variance at unknown ids is that of slices with the mean and the whole
// covariance of the trained slices, for outer and inner cores and any of them
// unknown, and draws have it. The factor of an inner core above 8 x 8 is truncated.
func TestVarianceOfUnseenEntities(t *testing.T) {
	t.Parallel()
	b := cpu.New(cpu.Paths()[0], 2)
	for _, tc := range []struct {
		terms     grouping
		family    tt.Family
		tolerance float64
	}{
		{grouping{[][]int{{0}, {1}}, 6}, tt.MeanField, 1e-4},
		{grouping{[][]int{{0}, {1}}, 6}, tt.EntityCovariance, 1e-4},
		{grouping{[][]int{{0}, {1}, {2}}, 3}, tt.MeanField, 1e-4},
		{grouping{[][]int{{0}, {1}, {2}}, 3}, tt.EntityCovariance, 1e-4},
		{grouping{[][]int{{0}, {1}, {2}, {3}}, 2}, tt.MeanField, 1e-4},
		{grouping{[][]int{{2}, {0, 1}, {3}}, 10}, tt.MeanField, 0.05},
	} {
		rng := rand.New(rand.NewPCG(3, 3))
		train := cells(rng, 300)
		f := build(t, []grouping{tc.terms}, train, rng)
		if err := f.SetFamily(tc.family); err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Terms[0].Cores {
			correlate(rng, b, c)
		}
		codes := cells(rng, 48)
		for i := range 32 {
			for m := range codes {
				if i>>m&1 == 1 {
					codes[m][i] = entity.Unknown
				}
			}
		}
		got := moments(b, codes, f.EvaluateMoments)
		for i := range codes[0] {
			want := varianceOfTrain(f.Terms[0], codes, i)
			if math.Abs(float64(got.Var[i])-want) > tc.tolerance*want {
				t.Errorf("%v %s, cell %d: got variance %g, want %g", tc.terms.cores, tc.family, i, got.Var[i], want)
			}
			if alone := moments(b, cellOf(codes, i), f.EvaluateMoments); math.Abs(float64(alone.Var[0]-got.Var[i])) > 1e-5*want {
				t.Errorf("%v %s, cell %d: got variance %g alone, want %g as among others", tc.terms.cores, tc.family, i, alone.Var[0], got.Var[i])
			}
		}
		const draws = 4000
		sampler, err := tt.NewSampler(b, f, 1)
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := sampler.Cells(f, codes, keyOf(codes))
		if err != nil {
			t.Fatal(err)
		}
		variance, value := make([]sums, len(got.Var)), make([]float32, len(got.Var))
		for number := range draws {
			sampler.Draw(b, number).Evaluate(b, value, prepared)
			for i, v := range value {
				variance[i].add(math.Pow(float64(v)-float64(got.Mean[i]), 2))
			}
		}
		for i := range variance {
			variance[i].check(t, fmt.Sprintf("%v %s: variance of draws of cell %d", tc.terms.cores, tc.family, i), float64(got.Var[i]), 6)
		}
	}
}

// Cells of trained entities keep their bits beside cells with unknown ids.
func TestUnseenEntitiesLeaveOthersAlone(t *testing.T) {
	t.Parallel()
	b := cpu.New(cpu.Paths()[0], 2)
	rng := rand.New(rand.NewPCG(3, 3))
	train := cells(rng, 300)
	f := build(t, fields["three"], train, rng)
	if err := f.SetFamily(tt.MeanField); err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Terms[0].Cores {
		correlate(rng, b, c)
	}
	codes := cells(rng, 40)
	want := moments(b, codes, f.EvaluateMoments)
	for m := range codes {
		for range 20 {
			codes[m] = append(codes[m], entity.Unknown)
		}
	}
	got := moments(b, codes, f.EvaluateMoments)
	for i, v := range want.Var {
		if got.Var[i] != v || got.Mean[i] != want.Mean[i] {
			t.Errorf("cell %d: got %v %v beside unknown ids, want %v %v", i, got.Mean[i], got.Var[i], want.Mean[i], v)
		}
	}
}

// varianceOfTrain returns the variance of a train of plain cores from the second
// moments of all pairs of entries.
func varianceOfTrain(train *tt.Train, codes [][]int32, cell int) float64 {
	mean, second := []float64{1}, []float64{1}
	for _, c := range train.Cores {
		e := make([]int32, 1)
		c.Index.Lookup(e, cellOf(codes, cell))
		size, l, r := c.Slices.Slice(), c.Slices.Left, c.Slices.Right
		g, cov := make([]float64, size), make([]float64, size*size)
		n := c.Slices.N - 1
		add := func(e int, weight float64, deviation bool) {
			for i := range size {
				for j := range size {
					v := 0.0
					if deviation {
						v += (float64(c.Free[e*size+i]) - g[i]) * (float64(c.Free[e*size+j]) - g[j])
					}
					if c.FreePosterior.Cov != nil {
						v += float64(c.FreePosterior.Cov[(e*size+i)*size+j])
					} else if i == j {
						v += float64(c.FreePosterior.Var[e*size+i])
					}
					cov[i*size+j] += weight * v
				}
			}
		}
		for i := range g {
			g[i] = float64(c.Slices.Mean[int(e[0])*size+i])
		}
		if e[0] == c.Index.Prior() {
			for e := range n {
				add(e, 1/float64(n), true)
			}
		} else {
			add(int(e[0]), 1, false)
		}
		nextMean, next := make([]float64, r), make([]float64, r*r)
		for i := range size {
			nextMean[i%r] += mean[i/r] * g[i]
			for j := range size {
				next[i%r*r+j%r] += second[i/r*l+j/r] * (g[i]*g[j] + cov[i*size+j])
			}
		}
		mean, second = nextMean, next
	}
	return second[0] - mean[0]*mean[0]
}
