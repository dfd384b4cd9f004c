package series

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTwoStatesAgreeWithTheGeneralRecursions(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		prior := Prior{Level: rng.ExpFloat64(), Walk: rng.ExpFloat64() / 50, AR: rng.ExpFloat64(), Phi: rng.Float64()}
		if rng.IntN(4) == 0 {
			prior.Walk = 0
		}
		fast, general := newMachine(prior), newMachine(prior)
		if !fast.pair {
			t.Fatalf("the prior %+v has not two states", prior)
		}
		general.pair = false
		step := int32(0)
		var points []Point
		for range 1 + rng.IntN(30) {
			p := Point{Step: step, Value: rng.NormFloat64()}
			if rng.IntN(3) > 0 {
				p.Precision = rng.ExpFloat64() * 5
			}
			points = append(points, p)
			step += 1 + int32(rng.IntN(3))
		}
		for _, m := range []*machine{fast, general} {
			m.filter(points)
			m.smooth(0)
		}
		close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-11*(1+math.Abs(b)) }
		if !slices.EqualFunc(fast.mean, general.mean, close) || !slices.EqualFunc(fast.variance, general.variance, close) || !close(fast.evidence(), general.evidence()) {
			t.Fatalf("prior %+v: got means %v, variances %v, evidence %v; want %v, %v, %v", prior,
				fast.mean, fast.variance, fast.evidence(), general.mean, general.variance, general.evidence())
		}
	}
}

func BenchmarkRead(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := &Process{Prior: Prior{Level: .04, Walk: .001, AR: .07, Phi: .97}, Start: []int32{0}}
	for range 1000 {
		for step := range int32(24) {
			if rng.IntN(5) == 0 {
				p.Step, p.Value, p.Precision = append(p.Step, step), append(p.Value, rng.Float32()), append(p.Precision, 4)
			}
		}
		p.Start = append(p.Start, int32(len(p.Step)))
	}
	r := p.NewReader()
	var mean, variance [1]float32
	for i := 0; b.Loop(); i++ {
		r.At(i%1000, []int32{int32(i % 24)}, mean[:], variance[:])
	}
}
