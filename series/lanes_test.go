package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// manySeries returns series with sites at a share of 24 steps.
func manySeries(n int, prior Prior) *Process {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &Process{Prior: prior, Start: []int32{0}}
	for range n {
		for step := range int32(24) {
			if rng.IntN(5) == 0 {
				precision := float32(rng.ExpFloat64() * 5)
				if rng.IntN(20) == 0 {
					precision = 0
				}
				p.Step, p.Value, p.Precision = append(p.Step, step), append(p.Value, float32(rng.NormFloat64())), append(p.Precision, precision)
			}
		}
		p.Start = append(p.Start, int32(len(p.Step)))
	}
	return p
}

// queries returns some series, and steps of each.
func queries(n, most, last int) (series, cut, steps []int32) {
	rng := rand.New(rand.NewPCG(3, 4))
	cut = []int32{0}
	for range n {
		series = append(series, int32(rng.IntN(n+2)-1)) // one before the first, one after the last
		var own []int32
		for range rng.IntN(most + 1) {
			own = append(own, int32(rng.IntN(last)))
		}
		slices.Sort(own)
		steps = append(steps, own...)
		cut = append(cut, int32(len(steps)))
	}
	return series, cut, steps
}

func TestSeriesReadTogetherAreThoseReadOneByOne(t *testing.T) {
	t.Parallel()
	for _, prior := range []Prior{
		{Level: .04, Walk: .001, AR: .07, Phi: .97},
		{Level: 2, AR: .5, Phi: .3},
		{Level: .04, Walk: .001},
		{Level: .5, Slope: .1, SlopeWalk: .01, Damping: .9, AR: .1, Phi: .5},
	} {
		for _, shape := range []struct{ n, most, last int }{{1, 1, 24}, {7, 3, 30}, {1000, 1, 24}, {300, 40, 100}, {20, 2, maxTable + 3}} {
			p := manySeries(shape.n, prior)
			if shape.n%2 == 0 {
				for e := range p.Series() {
					p.Scale = append(p.Scale, float32(math.Exp(float64(e%5)-2)))
				}
			}
			series, cut, steps := queries(shape.n, shape.most, shape.last)
			mean, variance := make([]float32, len(steps)), make([]float32, len(steps))
			wantMean, wantVariance := make([]float32, len(steps)), make([]float32, len(steps))
			r := p.NewReader()
			for k, e := range series {
				from, to := cut[k], cut[k+1]
				r.At(int(e), steps[from:to], wantMean[from:to], wantVariance[from:to])
			}
			r.AtAll(series, cut, steps, mean, variance)
			if !slices.Equal(mean, wantMean) || !slices.Equal(variance, wantVariance) {
				t.Fatalf("prior %+v, %+v: the moments differ", prior, shape)
			}
		}
	}
}

func TestVectorsHaveTheBitsOfTheRows(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	start := []float64{.3, .7}
	for n := range 12 {
		rows := make([]laneRow, n)
		m := newMachine(Prior{Level: .3, Walk: .01, AR: .7, Phi: .8})
		for i := range rows {
			for l := range laneCount {
				rows[i].set(l, m.transition(int32(rng.IntN(4))), rng.NormFloat64(), max(rng.NormFloat64(), 0))
			}
		}
		want := slices.Clone(rows)
		filterRows(want, start)
		filterLanes(rows, start)
		if !slices.Equal(rows, want) {
			t.Fatalf("%d rows: the filters differ", n)
		}
		for from := range n + 1 {
			got, want := slices.Clone(rows), slices.Clone(rows)
			smoothRows(want, from)
			smoothLanes(got, from)
			if !slices.Equal(got, want) {
				t.Fatalf("%d rows, from %d: the smoothers differ", n, from)
			}
		}
	}
}

func BenchmarkReadAll(b *testing.B) {
	const n, block = 102_400, 1024
	p := manySeries(n, Prior{Level: .04, Walk: .001, AR: .07, Phi: .97})
	series, cut, steps := make([]int32, n), make([]int32, n+1), make([]int32, n)
	for i := range n {
		series[i], cut[i+1], steps[i] = int32(i), int32(i+1), int32(i%24)
	}
	r := p.NewReader()
	mean, variance := make([]float32, n), make([]float32, n)
	b.Run("one", func(b *testing.B) {
		for i := 0; b.Loop(); i = (i + 1) % n {
			r.At(i, steps[i:i+1], mean[i:i+1], variance[i:i+1])
		}
	})
	b.Run("all", func(b *testing.B) {
		for i := 0; b.Loop(); i = (i + block) % n {
			r.AtAll(series[i:i+block], cut[:block+1], steps[i:i+block], mean, variance)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/block, "ns/series")
	})
}
