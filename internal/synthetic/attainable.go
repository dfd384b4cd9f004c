package synthetic

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// Attainable holds the R2 on the rows that an estimate was not trained on: that of the
// truth, and that of an estimate that knows everything except the individual parts of the ids of
// one mode. The last two are those of log1p.
type Attainable struct {
	Truth, Estimate       float64
	TruthLog, EstimateLog float64
}

// Attainable returns what can be learned about the ids of a mode from a random share of the
// rows. The estimate knows the noise, the other mode, the times, the functions of the side
// information and the variance of the individual parts; it sees the values before they are rounded.
// Its individual parts are the posterior means
//
//	(X'X/s2 + I/tau)^-1 X'r/s2
//
// over the training rows of an id, so that no method can do better on average. Each row is
// drawn twice.
func (s *Set) Attainable(items bool, training float64) Attainable {
	mode := s.owner
	if items {
		mode = s.item
	}
	const p = rank + 1
	type system struct {
		a [p * p]float64
		b [p]float64
	}
	systems := make([]system, len(mode.effect))
	for i := range systems {
		for k := range p {
			systems[i].a[k*p+k] = s.Distribution.SD * s.Distribution.SD / mode.unknown
		}
	}
	each := func(owner int, b *Block, row func(k, id int, train bool, x *[p]float64)) {
		s.Draw(owner, b)
		r := randstream.New(s.seed, "synthetic part", uint64(owner))
		var x [p]float64
		for k := range b.Y {
			id, other := owner, &s.item.factor[b.Item[k]]
			x[0] = s.ownerSD
			if items {
				id, other = int(b.Item[k]), &s.owner.factor[owner]
				x[0] = s.itemSD
			}
			for f, w := range s.timeFactor[b.Time[k]] {
				x[1+f] = s.trainSD / 2 * other[f] * w
			}
			row(k, id, r.Float64() < training, &x)
		}
	}
	// truth minus what is known, at the entries of x
	rest := func(id, k int) float64 {
		if k == 0 {
			return mode.effect[id] - mode.known[id][0]
		}
		return mode.factor[id][k-1] - mode.known[id][k]
	}
	var b Block
	for owner := range s.Owners {
		each(owner, &b, func(k, id int, train bool, x *[p]float64) {
			if !train {
				return
			}
			left := s.Distribution.SD * b.Noise[k]
			for f, v := range x {
				left += v * rest(id, f)
			}
			e := &systems[id]
			for f, v := range x {
				e.b[f] += v * left
				for g, w := range x {
					e.a[f*p+g] += v * w
				}
			}
		})
	}
	var zero [p]float64
	var scratch [p * p]float64
	for id := range systems {
		e := &systems[id]
		cholesky.SolveRidge(e.a[:], p, zero[:], e.b[:], scratch[:]) // leaves the factor in scratch
		cholesky.Inverse(scratch[:], p, e.a[:])
	}
	var n float64
	var sum, square, truth, estimate [2]float64
	for owner := range s.Owners {
		each(owner, &b, func(k, id int, train bool, x *[p]float64) {
			if train {
				return
			}
			f, e := b.Field[k], &systems[id]
			spread := 0.0
			for i, v := range x {
				f += v * (e.b[i] - rest(id, i))
				for j, w := range x {
					spread += v * w * e.a[i*p+j]
				}
			}
			spread = s.Distribution.SD * math.Sqrt(spread)
			n++
			value := [2]float64{b.Y[k], math.Log1p(b.Y[k])}
			m, _, l := s.Distribution.Moments(b.Field[k])
			above, _, logAbove := s.Distribution.Moments(f + spread)
			below, _, logBelow := s.Distribution.Moments(f - spread)
			best, guess := [2]float64{m, l}, [2]float64{(above + below) / 2, (logAbove + logBelow) / 2}
			for i, y := range value {
				sum[i] += y
				square[i] += y * y
				truth[i] += (y - best[i]) * (y - best[i])
				estimate[i] += (y - guess[i]) * (y - guess[i])
			}
		})
	}
	r2 := func(i int, left float64) float64 { return 1 - left/(square[i]-sum[i]*sum[i]/n) }
	return Attainable{r2(0, truth[0]), r2(0, estimate[0]), r2(1, truth[1]), r2(1, estimate[1])}
}
