package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// block is the number of cells of a node that are processed at a time: their
// values and adjoints stay in the first-level cache.
const block = 512

// Pass implements backend.Backend.
func (b *Backend) Pass(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	p.Check(cores)
	if len(p.Chain) == 0 {
		return b.passEffect(p, cores[0], job)
	}
	if job.SecondMoments {
		return b.passSecondMoments(p, cores, job)
	}
	s := pass{b: b, p: p, cores: cores, job: job, division: b.divide(p)}
	s.prepareLeaf()
	s.allocateGradients()
	losses := make([]float64, len(p.Shards)-1)
	b.forEachShard(p, s.division, func(worker, i int) { losses[i] = s.shard(&b.workers[worker].sweep, i) })
	s.reduceGradients()
	if !s.wanted(p.Alone) {
		return s.gatherPass(p, losses, job)
	}
	return s.gatherPass(p, losses, job, job.Grad[p.Alone].Mean)
}

// pass is one call of Pass: the data that its shards share.
type pass struct {
	b     *Backend
	p     *backend.Plan
	cores []backend.Slices
	job   *backend.Job
	division

	leaf   []float32 // rows of the leaf core, stride entries apart
	stride int

	// A shard sums the gradients of cores that other shards write to as well in
	// memory of its own: at offset[core] there, or -1.
	offset  []int
	private int
}

// prepareLeaf uses the rows of the leaf core as they are or, if they would
// straddle cache lines, copies them to whole vectors padded with zeros. A row
// is read once for each of its cells, so the copy pays off if there are many.
func (s *pass) prepareLeaf() {
	shape, r := s.p.Shapes[s.p.Leaf], s.p.LeafRank()
	s.leaf, s.stride = s.cores[s.p.Leaf].Mean, r
	lanes := int(s.b.dense.panels)
	if s.b.path == Generic || r <= 8 || r%lanes == 0 || s.p.Cells() < 8*shape.N || s.p.Alone == s.p.Leaf {
		return // entities of a part stay in cache, and their gradients are not copied
	}
	s.stride = (r + lanes - 1) / lanes * lanes
	s.b.leaf = resize(s.b.leaf, shape.N*s.stride)
	rows, padded := s.leaf, s.b.leaf
	s.b.forRanges(shape.N, func(from, to int) {
		for e := from; e < to; e++ {
			row := padded[e*s.stride:][:s.stride]
			copy(row, rows[e*r:][:r])
			clear(row[r:])
		}
	})
	s.leaf = padded
}

// allocateGradients allocates memory for the shards' own gradients.
func (s *pass) allocateGradients() {
	s.offset = make([]int, len(s.p.Shapes))
	for core, shape := range s.p.Shapes {
		s.offset[core] = -1
		if s.wanted(core) && !s.owned(core) {
			s.offset[core] = s.private
			size := shape.Len()
			if core == s.p.Leaf {
				size = shape.N * s.stride
			}
			s.private += (size + 15) &^ 15 // rows stay aligned
		}
	}
	s.b.arena = s.b.resizeLong(s.b.arena, s.count()*s.private)
}

func (s *pass) wanted(core int) bool {
	return s.job.Adjoint != backend.None && core < len(s.job.Grad) && s.job.Grad[core].Mean != nil
}

func (s *pass) owned(core int) bool { return s.p.Alone == core }

// gradient returns the memory where a shard sums the gradient of a core, nil if
// that gradient is not requested.
func (s *pass) gradient(core, shard int) []float32 {
	switch {
	case !s.wanted(core):
		return nil
	case s.owned(core):
		return s.job.Grad[core].Mean
	}
	return s.b.arena[(shard-s.first)*s.private+s.offset[core]:]
}

// reduceGradients adds the gradients of the shards in order.
func (s *pass) reduceGradients() {
	for core, shape := range s.p.Shapes {
		if s.offset[core] < 0 {
			continue
		}
		dst := s.job.Grad[core].Mean
		row, stride := shape.Slice(), shape.Slice()
		if core == s.p.Leaf {
			stride = s.stride
		}
		sum := s.b.sumShards(&s.division, func(shard int) []float32 { return s.gradient(core, shard)[:shape.N*stride] })
		s.b.forRowRanges(shape.N, stride, func(from, to int) {
			if row == stride {
				copy(dst[from*row:to*row], sum[from*row:])
				return
			}
			for e := from; e < to; e++ {
				copy(dst[e*row:][:row], sum[e*stride:])
			}
		})
	}
}

// forRowRanges calls work for consecutive ranges of n rows of the given length.
func (b *Backend) forRowRanges(n, length int, work func(from, to int)) {
	step := max(1, rangeEntries/length)
	b.forEach((n+step-1)/step, func(_, i int) { work(i*step, min((i+1)*step, n)) })
}

// rangeEntries is the number of entries of a long vector that one task
// processes.
const rangeEntries = 1 << 14

// forRanges calls work for consecutive ranges of [0, n).
func (b *Backend) forRanges(n int, work func(from, to int)) { b.forRowRanges(n, 1, work) }

// cells processes the cells of node j, whose vector is w: their values,
// adjoints and gradients. acc receives the adjoint of w, unless nil. It returns
// the loss.
func (r *sweep) cells(j int, w, acc []float32) float64 {
	job, k := r.job, &r.b.chain
	loss := 0.0
	for c, last := int(r.p.Start[j]), int(r.p.Start[j+1]); c < last; c += block {
		end := min(c+block, last)
		idx := r.p.LeafEntity[c:end]
		mean := r.mean[:end-c]
		if job.Mean != nil {
			mean = job.Mean[c:end]
		}
		if job.Adjoint != backend.Given || job.Mean != nil {
			k.dots(mean, r.leaf, idx, w)
		}
		if job.Adjoint == backend.None {
			continue
		}
		e, part := r.adjoint(mean, c, end)
		loss += part
		switch {
		case acc != nil && r.leafGrad != nil:
			k.gatherScatter(acc, r.leafGrad, r.leaf, idx, e, w)
		case acc != nil:
			k.gatherSum(acc, r.leaf, idx, e)
		case r.leafGrad != nil:
			k.scatterAdd(r.leafGrad, idx, e, w)
		}
	}
	return loss
}

// adjoint returns the adjoints e of cells [c, end) and their loss.
func (r *sweep) adjoint(mean []float32, c, end int) (e []float32, loss float64) {
	if r.job.Adjoint == backend.Given {
		return r.job.Target[c:end], 0
	}
	d := mean
	if r.job.Adjoint == backend.Residual {
		d = r.difference[:end-c]
		copy(d, r.job.Target[c:end])
		r.b.chain.axpy(d, -1, mean)
	}
	e = d
	if r.job.Weight != nil {
		e = r.weighted[:end-c]
		for i, w := range r.job.Weight[c:end] {
			e[i] = w * d[i]
		}
	}
	return e, r.b.chain.dot(e, d)
}

func sliceOf(c backend.Slices, entity int32) []float32 {
	n := c.Slice()
	return c.Mean[int(entity)*n:][:n]
}
