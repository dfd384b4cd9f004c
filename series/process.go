package series

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// A Process holds the series of one term: their prior, their scales, and their sites. Sites
// of series e are Start[e] to Start[e+1], in the order of their steps, which are distinct
// within a series. A precision of 0 is a step without data.
type Process struct {
	Prior            Prior
	Scale            []float32 // of each series; nil if all are 1
	Start            []int32
	Step             []int32
	Value, Precision []float32
}

// Series returns the number of series.
func (p *Process) Series() int { return len(p.Start) - 1 }

// shards cuts the series into parts of about equal numbers of sites. The cut depends on
// the data only, so sums over shards are the same for any number of threads.
func (p *Process) shards() []int {
	const most = 256
	n := min(most, p.Series())
	cut := make([]int, 0, n+1)
	e := 0
	for s := range n {
		cut = append(cut, e)
		goal := int32((int64(s) + 1) * int64(len(p.Step)) / int64(n))
		for e < p.Series() && (p.Start[e+1] <= goal || s == n-1) {
			e++
		}
	}
	return append(cut, p.Series())
}

// points appends the last sites of series e, at most the given number, divided by the scale
// of the series, to dst.
func (p *Process) points(dst []Point, e, most int) []Point {
	by, weight := p.divisor(e)
	for i := max(p.Start[e], p.Start[e+1]-int32(most)); i < p.Start[e+1]; i++ {
		dst = append(dst, Point{p.Step[i], float64(p.Value[i]) * by, float64(p.Precision[i]) * weight})
	}
	return dst
}

// divisor returns what values and precisions of a series of scale c are multiplied by to
// divide the series by c: 1/c and c^2.
func (p *Process) divisor(e int) (by, weight float64) {
	c := p.scale(e)
	return 1 / c, c * c
}

// scale returns the scale of a series; that of one without data is 1.
func (p *Process) scale(e int) float64 {
	if e < 0 || e >= len(p.Scale) {
		return 1
	}
	return float64(p.Scale[e])
}

// Smooth writes mean and variance of x at all sites and returns the divergence of the
// posterior from the prior, summed over series,
//
//	KL = sum_n E log site_n - log Z,
//
// with the penalties of the scales, and the summed log evidence log Z of the sites divided
// by the scales, on which the divergence does not depend.
func (p *Process) Smooth(threads int, mean, variance []float32) (divergence, evidence float64) {
	cut := p.shards()
	type sums struct{ divergence, evidence float64 }
	parts := make([]sums, len(cut)-1)
	machines := make([]worker, max(threads, 1))
	parallel.ForWorkers(threads, len(parts), func(w, s int) {
		m := machines[w].with(p.Prior)
		points := machines[w].points
		var own sums // parts of other goroutines share its cache line
		for e := cut[s]; e < cut[s+1]; e++ {
			points = p.points(points[:0], e, len(p.Step))
			c := p.scale(e)
			m.filter(points)
			m.smooth(0)
			logZ := m.evidence()
			own.evidence += logZ
			own.divergence += p.scalePenalty(c) - logZ
			for i, pt := range points {
				at := int(p.Start[e]) + i
				mean[at], variance[at] = float32(c*m.mean[i]), float32(c*c*m.variance[i])
				if pt.Precision > 0 {
					r := pt.Value - m.mean[i]
					own.divergence -= (math.Log(2*math.Pi/pt.Precision) + pt.Precision*(r*r+m.variance[i])) / 2
				}
			}
		}
		parts[s], machines[w].points = own, points
	})
	for _, s := range parts {
		divergence += s.divergence
		evidence += s.evidence
	}
	return divergence, evidence
}

// A worker is the memory of a goroutine that runs over series.
type worker struct {
	m      *machine
	points []Point
}

// with returns the machine of a prior, made at the first call.
func (w *worker) with(p Prior) *machine {
	if w.m == nil {
		w.m = newMachine(p)
	}
	return w.m
}

// A sample is what the evidence is computed of: the last sites of series in steps of stride.
type sample struct {
	stride int
	most   int // sites of a series
}

// sample returns series and sites for learning a prior, at most learnSites of them, and
// fewer for a prior with many states.
func (p *Process) sample() sample {
	budget := learnSites
	if d := newMachine(p.Prior).d; d > fewStates {
		budget = max(budget*fewStates*fewStates/(d*d), leastLearnSites)
	}
	n := len(p.Step)
	s := sample{stride: max(min(1+n/budget, p.Series()), 1), most: n}
	if used := (p.Series() + s.stride - 1) / s.stride; used > 0 && n/s.stride > budget {
		s.most = budget / used
	}
	return s
}

// evidence returns the summed log evidence of a sample under another prior, of the series
// whose number divided by its stride leaves rest. It uses the memory of workers, one per
// thread.
func (p *Process) evidence(workers []worker, prior Prior, cut []int, of sample, rest int) float64 {
	stride := of.stride
	for i := range workers {
		if workers[i].m != nil {
			workers[i].m.reset(prior)
		}
	}
	parts := make([]float64, len(cut)-1)
	parallel.ForWorkers(len(workers), len(parts), func(w, s int) {
		m, points := workers[w].with(prior), workers[w].points
		sum := 0.0
		for e := (cut[s]-rest+stride-1)/stride*stride + rest; e < cut[s+1]; e += stride {
			points = p.points(points[:0], e, of.most)
			m.filter(points)
			sum += m.evidence()
		}
		parts[s], workers[w].points = sum, points
	})
	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum
}

// A Reader evaluates the posterior of a process at any steps. It keeps scratch memory
// and is not safe for concurrent use; the process is.
type Reader struct {
	p      *Process
	m      *machine
	points []Point
	places []int // of the queries among the points
	lanes  lanes
}

// NewReader returns a reader of the process.
func (p *Process) NewReader() *Reader { return &Reader{p: p, m: newMachine(p.Prior)} }

// merge puts the sites of series e, divided by its scale, and the steps of queries, which
// are sorted, into one sequence.
func (r *Reader) merge(e int, steps []int32) {
	r.points, r.places = r.points[:0], r.places[:0]
	by, weight := r.p.divisor(e)
	i, end := int32(0), int32(0)
	if e >= 0 && e < r.p.Series() {
		i, end = r.p.Start[e], r.p.Start[e+1]
	}
	add := func() {
		r.points = append(r.points, Point{r.p.Step[i], float64(r.p.Value[i]) * by, float64(r.p.Precision[i]) * weight})
		i++
	}
	for _, s := range steps {
		for i < end && r.p.Step[i] <= s {
			add()
		}
		if n := len(r.points); n == 0 || r.points[n-1].Step != s {
			r.points = append(r.points, Point{Step: s})
		}
		r.places = append(r.places, len(r.points)-1)
	}
	for i < end {
		add()
	}
}

// At writes mean and variance of series e at the given steps, which are in ascending
// order. A negative e, or one that the process does not have, is a series without data.
// O(n d^2) for n sites and queries.
func (r *Reader) At(e int, steps []int32, mean, variance []float32) {
	if len(steps) == 0 {
		return
	}
	r.merge(e, steps)
	r.m.filter(r.points)
	r.m.smooth(r.places[0])
	c := r.p.scale(e)
	for q, at := range r.places {
		mean[q], variance[q] = float32(c*r.m.mean[at]), float32(c*c*r.m.variance[at])
	}
}

// Check returns an error unless the arrays of a process fit together; those of a file
// may come from anywhere.
func (p *Process) Check() error {
	if err := p.Prior.Check(); err != nil {
		return err
	}
	n := len(p.Step)
	switch {
	case len(p.Start) == 0 || p.Start[0] != 0 || int(p.Start[len(p.Start)-1]) != n || !slices.IsSorted(p.Start):
		return errArrays
	case len(p.Value) != n || len(p.Precision) != n:
		return errArrays
	case p.Scale != nil && len(p.Scale) != p.Series():
		return errArrays
	}
	for _, c := range p.Scale {
		if !(c >= leastScale && c <= mostScale) {
			return fmt.Errorf("series: the scale %g of a series is not between %g and %g", c, leastScale, mostScale)
		}
	}
	var wrong atomic.Bool
	parallel.Blocks(runtime.GOMAXPROCS(0), p.Series(), func(from, to int) {
		for e := from; e < to; e++ {
			for i := p.Start[e]; i < p.Start[e+1]; i++ {
				v, w := float64(p.Value[i]), float64(p.Precision[i])
				if p.Step[i] < 0 || p.Step[i] > MaxStep || i > p.Start[e] && p.Step[i] <= p.Step[i-1] ||
					math.IsNaN(v) || math.IsInf(v, 0) || !(w >= 0 && w <= math.MaxFloat32) {
					wrong.Store(true)
					return
				}
			}
		}
	})
	if wrong.Load() {
		return errArrays
	}
	return nil
}
