package observed

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// A Term is one train of the sum at the observations, or another part of the sum.
type Term struct {
	First, Last *backend.Plan // with the first and the last core as leaf core; Last is nil for one core
	Cheapest    *backend.Plan // the cheaper of the two; the other is nil if it is not needed

	Mean     []float32 // by observation; nil for an effect
	Variance []float32 // nil unless it is kept
	effect   *effect   // nil for trains of several cores, and where variances are kept

	spread float64 // the sum of w Var over the observations
	summed bool    // spread is that of Variance, which is kept
}

// Options say what is needed of a term.
type Options struct {
	SecondMoments bool // otherwise the weights are known exactly
	Variances     bool // of single observations, and not only their sum
	Equations     bool // normal equations of both outer cores, see backend.Backend
}

// NewTerm plans the observations for a train: index[p][n] is the entity of core p at
// observation n. It keeps the index of an effect, and gives the memory of others back.
func NewTerm(b backend.Backend, cores []backend.Slices, index [][]int32, opt Options) *Term {
	ends := backend.Ends{Shapes: shapesOf(cores), Cells: len(index[0]), Threads: b.Threads()}
	ends.Plan = func(leaf backend.LeafEnd) *backend.Plan {
		return backend.NewPlanOn(b, b.Threads(), ends.Shapes, index, leaf)
	}
	ends.Combinations = func(chain []int) int { return backend.Combinations(b.Threads(), ends.Shapes, index, chain) }
	t := newTerm(b, cores, ends, opt)
	if isEffect(cores, opt) {
		t.effect = newEffect(b.Threads(), index[0], 0, cores[0].N)
	} else {
		backend.FreeAll(b, index)
	}
	return t
}

// isEffect reports whether values are looked up by entity.
func isEffect(cores []backend.Slices, opt Options) bool { return len(cores) == 1 && !opt.Variances }

func shapesOf(cores []backend.Slices) (shapes []backend.Shape) {
	for _, c := range cores {
		shapes = append(shapes, c.Shape)
	}
	return shapes
}

// ShareTerm is NewTerm for observations that are spread over ranks: each has its part of the plans.
func (d *Data) ShareTerm(cores []backend.Slices, lookup backend.Lookup, opt Options) *Term {
	t := newTerm(d.b, cores, d.spread.Ends(shapesOf(cores), lookup), opt)
	if len(cores) > 1 {
		return t
	}
	from, to := d.spread.Own()
	entity := make([]int32, to-from)
	parallel.Blocks(d.b.Threads(), to-from, func(a, b int) {
		rows := make([]int32, b-a)
		for i := range rows {
			rows[i] = int32(from + a + i)
		}
		lookup(0, entity[a:b], rows)
	})
	t.effect = newEffect(d.b.Threads(), entity, from, cores[0].N)
	t.effect.count = peers.Sum(d.spread.ranks, t.effect.count)
	return t
}

// newTerm makes the plans of a term.
func newTerm(b backend.Backend, cores []backend.Slices, ends backend.Ends, opt Options) *Term {
	t := &Term{}
	if !isEffect(cores, opt) {
		t.Mean = backend.Make[float32](b, ends.Cells)
	}
	if ends.SecondMoments = opt.SecondMoments; opt.SecondMoments && opt.Variances {
		t.Variance = backend.Make[float32](b, ends.Cells)
	}
	suffices := func(p *backend.Plan) bool { // for the equations of both outer cores
		return !opt.Equations && (p == nil || p.HasCovariances(0, cores) && p.HasCovariances(len(cores)-1, cores))
	}
	var other *backend.Plan
	t.Cheapest, other = ends.Cheaper(func(cheaper *backend.Plan) bool { return !suffices(cheaper) })
	if suffices(t.Cheapest) {
		other.Free()
		return t
	}
	t.First, t.Last = t.Cheapest, other
	if t.Cheapest.Leaf != 0 {
		t.First, t.Last = other, t.Cheapest
	}
	return t
}

// Reshape tells the plans that the ranks of the train changed.
func (t *Term) Reshape(shapes []backend.Shape) {
	for _, p := range []*backend.Plan{t.First, t.Last, t.Cheapest} {
		if p != nil {
			p.Shapes = shapes
		}
	}
}

// Own returns the plan for the equations of an outer core: the one with the core at
// its leaves, or nil if the cheapest plan takes its place.
func (t *Term) Own(core int) *backend.Plan {
	if core == 0 {
		return t.First
	}
	return t.Last
}

func (t *Term) varianceAt(n int) float32 {
	if t.Variance == nil {
		return 0
	}
	return t.Variance[n]
}

// Refresh recomputes the values of term k from its cores, with second moments if they are
// asked for and otherwise variances of 0. It costs a pass.
func (d *Data) Refresh(k int, cores []backend.Slices, secondMoments bool) {
	t := d.Terms[k]
	if d.of != k {
		d.of = unknown
	}
	d.gathered, t.summed = nil, false
	if len(cores) == 1 {
		d.refreshEffect(t, cores[0], secondMoments)
		return
	}
	job := &backend.Job{Mean: d.planTarget, Local: d.spread != nil}
	if secondMoments {
		if d.planWeight == nil {
			d.planWeight = backend.Make[float32](d.b, d.Len())
		}
		job.SecondMoments, job.Var = true, d.planWeight
	}
	d.b.Pass(t.Cheapest, cores, job)
	d.scatter(t.Cheapest, t.Mean, job.Mean)
	t.spread = 0
	switch {
	case !secondMoments:
		clear(t.Variance)
	case t.Variance != nil:
		backend.Scatter(d.b, t.Cheapest, t.Variance, job.Var)
	case d.W == nil:
		t.spread = d.sumCells(t.Cheapest, job.Var)
	default:
		source := t.Cheapest.Source
		t.spread = parallel.Sum(d.b.Threads(), d.Len(), func(from, to int) float64 {
			sum := 0.0
			for c := from; c < to; c++ {
				sum += float64(d.W[source[c]]) * float64(job.Var[c])
			}
			return sum
		})
	}
}

// refreshEffect is Refresh for a train of one core, whose slices are single numbers.
func (d *Data) refreshEffect(t *Term, core backend.Slices, secondMoments bool) {
	variance := core.Var
	if variance == nil {
		variance = core.Cov
	}
	if !secondMoments {
		variance = nil
		clear(t.Variance)
	}
	if t.effect != nil {
		d.refreshValues(t, core.Mean, variance)
		return
	}
	source, entity := t.Cheapest.Source, t.Cheapest.LeafEntity
	parallel.Blocks(d.b.Threads(), d.Len(), func(from, to int) {
		for c := from; c < to; c++ {
			n, e := source[c], entity[c]
			t.Mean[n] = core.Mean[e]
			if variance != nil {
				t.Variance[n] = variance[e]
			}
		}
	})
}

// Spread returns the sum of w Var of a term over the observations.
func (d *Data) Spread(t *Term) float64 {
	if t.Variance == nil || t.summed {
		return t.spread
	}
	t.summed = true
	t.spread = parallel.Sum(d.b.Threads(), d.Len(), func(from, to int) float64 {
		sum := 0.0
		for n, v := range t.Variance[from:to] {
			sum += d.weightAt(from+n) * float64(v)
		}
		return sum
	})
	return t.spread
}

// NewPart returns a part of the sum that has no plans, with values of 0.
func NewPart(b backend.Backend, n int) *Term {
	return &Term{Mean: backend.Make[float32](b, n), Variance: backend.Make[float32](b, n)}
}

// Set sets the values of observations to those of their site, unless that is negative.
func (t *Term) Set(threads int, site []int32, mean, variance []float32) {
	t.summed = false
	parallel.Blocks(threads, len(site), func(from, to int) {
		for n := from; n < to; n++ {
			if at := site[n]; at >= 0 {
				t.Mean[n], t.Variance[n] = mean[at], variance[at]
			}
		}
	})
}
