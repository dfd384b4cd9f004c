package observed

import (
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// An effect is a train of one core: one number per entity. Its values are looked up by entity, so no array of
// the length of the data holds them. The equation of an entity e needs no more than
//
//	count_e = sum_n 1,   sum_e = sum_n t_n,   over the observations n of e with targets t_n,
//
// and the loss follows from these and the sum of t_n^2, without another pass over the observations.
//
// Targets are added as multiples of 2^-28, as integers: such sums have the same bits in any order, so they
// are formed in the order of the data by threads and ranks, or in that of a plan.
type effect struct {
	entity []int32 // of the observations of this process
	first  int     // the first of these
	count  []int64 // by entity, over all observations
	sum    []int64 // the same, of the target; see Data.summed
	value  []float32
}

// sumUnit is 1 in the units of sums, which hold numbers up to mostSum. A sum of n numbers is at most the root of n times
// that of their squares.
const (
	sumUnit = 1 << 28
	mostSum = 1 << 34
)

// newEffect counts the observations of the entities of this process.
func newEffect(threads int, entity []int32, first, entities int) *effect {
	return &effect{entity: entity, first: first, count: widened(parallel.Count(threads, entity, entities)), value: make([]float32, entities)}
}

func widened(counts []int32) []int64 {
	wide := make([]int64, len(counts))
	for e, n := range counts {
		wide[e] = int64(n)
	}
	return wide
}

// values returns the values of a term at observations, in space if it is an effect.
func (t *Term) values(from, to int, space []float32) []float32 {
	if t.effect == nil {
		return t.Mean[from:to]
	}
	space = space[:to-from]
	value := t.effect.value
	for i, e := range t.effect.entity[from-t.effect.first:][:len(space)] {
		space[i] = value[e]
	}
	return space
}

// at returns the value of a term at an observation.
func (t *Term) at(n int) float32 {
	if t.effect == nil {
		return t.Mean[n]
	}
	return t.effect.value[t.effect.entity[n-t.effect.first]]
}

// refreshValues is Refresh for an effect. variance is nil for second moments of 0.
func (d *Data) refreshValues(t *Term, mean, variance []float32) {
	x := t.effect
	parallel.Blocks(d.b.Threads(), len(mean), func(from, to int) { copy(x.value[from:to], mean[from:to]) })
	t.spread = 0
	if variance != nil && d.W == nil {
		t.spread = parallel.Sum(d.b.Threads(), len(variance), func(from, to int) float64 {
			sum := 0.0
			for e, v := range variance[from:to] {
				sum += float64(x.count[from+e]) * float64(v)
			}
			return sum
		})
	} else if variance != nil {
		t.spread = parallel.Sum(d.b.Threads(), d.Len(), func(from, to int) float64 {
			sum := 0.0
			for n, e := range x.entity[from:to] {
				sum += float64(d.W[from+n]) * float64(variance[e])
			}
			return sum
		})
	}
}

// EntitySums returns a function that calls set for every entity of term k, whose target is set: with the number of
// its observations and the sum of their targets. Calls are concurrent. It is nil for terms that are no effects, with weights,
// and where targets diverge.
func (d *Data) EntitySums(k int) func(set func(e int, count, sum float64)) {
	if !d.hasSums(k) {
		return nil
	}
	return func(set func(e int, count, sum float64)) {
		d.sumByEntity(k)
		x := d.Terms[k].effect
		parallel.Blocks(d.b.Threads(), len(x.sum), func(from, to int) {
			for e := from; e < to; e++ {
				set(e, float64(x.count[e]), float64(x.sum[e])/sumUnit)
			}
		})
	}
}

func (d *Data) hasSums(k int) bool {
	return d.isPlainEffect(k) && d.square*float64(d.Len()) < mostSum*mostSum
}

func (d *Data) isPlainEffect(k int) bool {
	return k >= 0 && k < len(d.Terms) && d.Terms[k].effect != nil && d.W == nil && len(d.partners(k)) == 0
}

// eachTarget runs work, which sets the target of term k, on blocks of observations. For effects it adds the squares of the target.
func (d *Data) eachTarget(k int, work func(from, to int)) {
	d.summed = None
	if !d.isPlainEffect(k) {
		d.eachBlock(work)
		return
	}
	d.square = reduce(d, func(from, to int) float64 {
		work(from, to)
		square := 0.0
		for _, t := range d.target[from:to] {
			square += float64(t) * float64(t)
		}
		return square
	}, func(a, b float64) float64 { return a + b })
}

// sumByEntity adds the targets of the observations of each entity of term k.
func (d *Data) sumByEntity(k int) {
	if d.summed == k {
		return
	}
	d.summed = k
	t := d.Terms[k]
	x := t.effect
	if x.sum == nil {
		x.sum = make([]int64, len(x.count))
	}
	from, to := 0, d.Len()
	if d.spread != nil {
		from, to = d.spread.Own()
	}
	threads := max(1, min(d.b.Threads(), (to-from)/(4*len(x.sum)))) // each has sums of its own, which are added then
	if threads < d.b.Threads() && d.spread == nil {
		d.sumInPlanOrder(t.Cheapest, x.sum)
		return
	}
	parts := make([][]int64, threads)
	parallel.ForWorkers(threads, (to-from+parallel.Block-1)/parallel.Block, func(worker, i int) {
		if parts[worker] == nil {
			parts[worker] = make([]int64, len(x.sum))
		}
		sum, first := parts[worker], from+i*parallel.Block
		target := d.target[first:min(to, first+parallel.Block)]
		for i, e := range x.entity[first-x.first:][:len(target)] {
			sum[e] += int64(float64(target[i]) * sumUnit)
		}
	})
	parallel.Blocks(d.b.Threads(), len(x.sum), func(a, b int) {
		clear(x.sum[a:b])
		for _, part := range parts {
			if part == nil {
				continue // a worker that came too late
			}
			for e, s := range part[a:b] {
				x.sum[a+e] += s
			}
		}
	})
	if d.spread != nil {
		x.sum = peers.Sum(d.spread.ranks, x.sum)
	}
}

// sumInPlanOrder adds targets in the order of a plan, in which an entity has a run of cells. Runs that go on in
// another block are added up.
func (d *Data) sumInPlanOrder(p *backend.Plan, sums []int64) {
	parallel.Blocks(d.b.Threads(), len(sums), func(from, to int) { clear(sums[from:to]) })
	parallel.Blocks(d.b.Threads(), p.Cells(), func(from, to int) {
		for c := from; c < to; {
			e, sum, begin := p.LeafEntity[c], int64(0), c
			for ; c < to && p.LeafEntity[c] == e; c++ {
				sum += int64(float64(d.target[p.Source[c]]) * sumUnit)
			}
			if begin == from || c == to {
				atomic.AddInt64(&sums[e], sum)
			} else {
				sums[e] = sum
			}
		}
	})
}

// effectResiduals returns the sums over the residuals from those of the target of term k, an effect.
func (d *Data) effectResiduals(k int) Sums {
	d.sumByEntity(k)
	x := d.Terms[k].effect
	s := parallel.Reduce(d.b.Threads(), len(x.sum), func(from, to int) (s Sums) {
		for e := from; e < to; e++ {
			n, sum, v := float64(x.count[e]), float64(x.sum[e])/sumUnit, float64(x.value[e])
			s.Residual += sum - n*v
			s.Square += v * (n*v - 2*sum)
		}
		return s
	}, Sums.add)
	s.Square += d.square
	s.Weight = float64(d.Len())
	return s
}
