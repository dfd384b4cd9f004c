package cpu

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// A train of one core is an effect: one number per entity. Its cells are sorted by
// entity, so that gradients are sums over runs of cells. Cells are cut into blocks of
// fixed length. A run inside a block belongs to one task. The runs at its two ends may
// continue in the neighbouring blocks; they are added in the order of the blocks.

// effectSums are sums over the cells of an entity.
type effectSums struct{ mean, variance float64 }

func (s *effectSums) add(o effectSums) {
	s.mean += o.mean
	s.variance += o.variance
}

// effectEdges are the runs at the ends of a block. A block of one run has only a first
// one.
type effectEdges struct {
	entity [2]int32 // -1 for none
	sums   [2]effectSums
	loss   float64
}

// sumRuns computes sums over the cells of each entity of a plan without chain. of returns the
// sums and the loss of cells [c, end) of one entity; set receives the sums of each entity
// with cells. Calls of both are concurrent. Over several ranks, share completes what of and set have
// set, given where the cells and the entities of each rank start. Where only of has an effect, there
// are no sums, and no rank waits for those at the ends of blocks.
func (b *Backend) sumRuns(p *backend.Plan, sums bool, of func(entity int32, c, end int) (effectSums, float64), set func(entity int32, s effectSums), share func(cells, entities []int)) (loss float64) {
	cells := p.Cells()
	blocks := (cells + parallel.Block - 1) / parallel.Block
	edges := make([]effectEdges, blocks)
	bounds, first, end := b.blockBounds(p), 0, blocks
	if bounds != nil {
		first, end = bounds[b.ranks.Rank()], bounds[b.ranks.Rank()+1]
	}
	parallel.For(b.threads, end-first, func(i int) {
		from, to := (first+i)*parallel.Block, min(cells, (first+i+1)*parallel.Block)
		x := &edges[first+i]
		x.entity = [2]int32{-1, -1}
		for c := from; c < to; {
			e, end := p.LeafEntity[c], c+1
			for end < to && p.LeafEntity[end] == e {
				end++
			}
			s, part := of(e, c, end)
			x.loss += part
			switch {
			case c == from:
				x.entity[0], x.sums[0] = e, s
			case end == to:
				x.entity[1], x.sums[1] = e, s
			default:
				set(e, s)
			}
			c = end
		}
	})
	if bounds != nil {
		if sums {
			backend.GatherValues(b.ranks, edges, bounds, 1)
		}
		starts, entities := make([]int, len(bounds)), make([]int, len(bounds))
		for r, block := range bounds {
			starts[r] = min(cells, block*parallel.Block)
			if p.Share == nil && r > 0 && r < len(bounds)-1 {
				entities[r] = int(p.LeafEntity[starts[r]])
			}
		}
		entities[len(bounds)-1] = p.Shapes[0].N
		if p.Share != nil {
			entities = p.Share.Owned
		}
		share(starts, entities)
	}
	if !sums {
		return 0
	}
	current, total := int32(-1), effectSums{}
	for i := range edges {
		x := &edges[i]
		loss += x.loss
		for k, e := range x.entity {
			switch {
			case e < 0:
			case e == current:
				total.add(x.sums[k])
			default:
				if current >= 0 {
					set(current, total)
				}
				current, total = e, x.sums[k]
			}
		}
	}
	if current >= 0 {
		set(current, total)
	}
	return loss
}

// passEffect is Pass for a plan without chain, with or without second moments.
func (b *Backend) passEffect(p *backend.Plan, core backend.Slices, job *backend.Job) float64 {
	spread := core.Var
	if spread == nil {
		spread = core.Cov
	}
	if !job.SecondMoments {
		spread = nil
	}
	grad := backend.Slices{}
	if job.Adjoint != backend.None && len(job.Grad) > 0 {
		grad = job.Grad[0]
	}
	for _, g := range [][]float32{grad.Mean, grad.Var, grad.Cov} {
		b.forRanges(len(g), func(from, to int) { clear(g[from:to]) })
	}
	return b.sumRuns(p, job.Adjoint != backend.None, func(e int32, c, end int) (effectSums, float64) {
		m, v := core.Mean[e], float32(0)
		if spread != nil {
			v = spread[e]
		}
		if job.Mean != nil {
			fill(job.Mean[c:end], m)
		}
		if job.SecondMoments && job.Var != nil {
			fill(job.Var[c:end], v)
		}
		return effectAdjoint(job, m, v, c, end)
	}, func(e int32, s effectSums) {
		for _, g := range []struct {
			dst []float32
			sum float64
		}{{grad.Mean, s.mean}, {grad.Var, s.variance}, {grad.Cov, s.variance}} {
			if g.dst != nil {
				g.dst[e] = float32(g.sum)
			}
		}
	}, func(cells, entities []int) {
		if !job.Local {
			backend.GatherValues(b.ranks, job.Mean, cells, 1)
			backend.GatherValues(b.ranks, job.Var, cells, 1)
		}
		for _, g := range [][]float32{grad.Mean, grad.Var, grad.Cov} {
			backend.GatherValues(b.ranks, g, entities, 1)
		}
	})
}

func fill(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}

// effectAdjoint returns the summed adjoints of the mean and of the variance of cells
// [c, end), all of mean m and variance v, and their loss.
func effectAdjoint(job *backend.Job, m, v float32, c, end int) (s effectSums, loss float64) {
	var square float64
	n := float64(end - c)
	switch job.Adjoint {
	case backend.None:
		return s, 0
	case backend.Given:
		for _, e := range job.Target[c:end] {
			s.mean += float64(e)
		}
		if job.VarAdjoint != nil {
			for _, a := range job.VarAdjoint[c:end] {
				s.variance += float64(a)
			}
		}
		return s, 0
	case backend.Product:
		if job.Weight != nil {
			n = 0
			for _, w := range job.Weight[c:end] {
				n += float64(w)
			}
		}
		s.mean, square = n*float64(m), n*float64(m)*float64(m)
		s.variance = n / 2
	case backend.Residual:
		if job.Weight == nil {
			for _, y := range job.Target[c:end] {
				d := float64(y - m)
				s.mean += d
				square += d * d
			}
		} else {
			n = 0
			for i, y := range job.Target[c:end] {
				w, d := float64(job.Weight[c+i]), float64(y-m)
				n += w
				s.mean += w * d
				square += w * d * d
			}
		}
		s.variance = -n / 2
	}
	return s, square + n*float64(v)
}

// effectEquations is NormalEquations for a plan without chain: the sums of w and of w y
// over the cells of each entity.
func (b *Backend) effectEquations(p *backend.Plan, target, weight []float32, visit backend.EquationsFunc) {
	n := p.Shapes[0].N
	sums := make([]effectSums, n) // w y and w
	seen := make([]bool, n)
	b.sumRuns(p, true, func(_ int32, c, end int) (s effectSums, _ float64) {
		if weight == nil {
			for _, y := range target[c:end] {
				s.mean += float64(y)
			}
			s.variance = float64(end - c)
			return s, 0
		}
		for i, y := range target[c:end] {
			w := float64(weight[c+i])
			s.mean += w * float64(y)
			s.variance += w
		}
		return s, 0
	}, func(e int32, s effectSums) { sums[e], seen[e] = s, true }, func(_, entities []int) {
		backend.GatherValues(b.ranks, sums, entities, 1)
		backend.GatherValues(b.ranks, seen, entities, 1)
	})
	run := max(1, n/1024)
	b.forEach((n+run-1)/run, func(worker, i int) {
		var gram, rhs [1]float64
		for e := i * run; e < min((i+1)*run, n); e++ {
			if seen[e] {
				gram[0], rhs[0] = sums[e].variance, sums[e].mean
				visit(worker, e, gram[:], rhs[:])
			}
		}
	})
}
