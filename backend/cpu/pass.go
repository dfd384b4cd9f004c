package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// block is how many cells of a node are taken at a time: their values and
// adjoints stay in the first cache.
const block = 512

// Pass implements backend.Backend.
func (b *Backend) Pass(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	p.Check(cores)
	if job.Second {
		return b.passSecond(p, cores, job)
	}
	shards := len(p.Shards) - 1
	s := pass{b: b, p: p, cores: cores, job: job}
	s.layLeaf()
	s.layGradients(shards)
	losses := make([]float64, shards)
	b.each(shards, func(worker, i int) { losses[i] = s.shard(&b.workers[worker].sweep, i) })
	s.reduceGradients(shards)
	loss := 0.0
	for _, l := range losses {
		loss += l
	}
	return loss
}

// pass is one call of Pass: what its shards share.
type pass struct {
	b     *Backend
	p     *backend.Plan
	cores []backend.Slices
	job   *backend.Job

	leaf   []float32 // the leaf core's rows, at a distance of stride
	stride int

	// A shard sums the gradients of the cores that others write to as well in
	// memory of its own: offset[core] there, or -1.
	offset  []int
	private int
}

// layLeaf takes the rows of the leaf core as they are or, where they would
// straddle cache lines, copies them to whole vectors with zeros at the end. A
// row is read for every one of its cells; the copy pays where these are many.
func (s *pass) layLeaf() {
	shape, r := s.p.Shapes[s.p.Leaf], s.p.LeafRank()
	s.leaf, s.stride = s.cores[s.p.Leaf].Mean, r
	lanes := int(s.b.dense.panels)
	if s.b.path == Generic || r <= 8 || r%lanes == 0 || s.p.Cells() < 8*shape.N {
		return
	}
	s.stride = (r + lanes - 1) / lanes * lanes
	s.b.leaf = resize(s.b.leaf, shape.N*s.stride)
	rows, padded := s.leaf, s.b.leaf
	s.b.pieces(shape.N, func(from, to int) {
		for e := from; e < to; e++ {
			row := padded[e*s.stride:][:s.stride]
			copy(row, rows[e*r:][:r])
			clear(row[r:])
		}
	})
	s.leaf = padded
}

// layGradients finds room for the shards' own gradients.
func (s *pass) layGradients(shards int) {
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
	s.b.arena = resize(s.b.arena, shards*s.private)
}

func (s *pass) wanted(core int) bool {
	return s.job.Adjoint != backend.None && core < len(s.job.Grad) && s.job.Grad[core].Mean != nil
}

func (s *pass) owned(core int) bool {
	return s.p.Owner >= 0 && s.p.Chain[s.p.Owner] == core
}

// gradient returns where a shard sums the gradient of a core, nil where it is
// not wanted.
func (s *pass) gradient(core, shard int) []float32 {
	switch {
	case !s.wanted(core):
		return nil
	case s.owned(core):
		return s.job.Grad[core].Mean
	}
	return s.b.arena[shard*s.private+s.offset[core]:]
}

// reduceGradients adds the shards' gradients in their order.
func (s *pass) reduceGradients(shards int) {
	for core, shape := range s.p.Shapes {
		if s.offset[core] < 0 {
			continue
		}
		dst := s.job.Grad[core].Mean
		row, stride := shape.Slice(), shape.Slice()
		if core == s.p.Leaf {
			stride = s.stride
		}
		s.b.rows(shape.N, stride, func(from, to int) {
			sum := s.gradient(core, 0)[from*stride : to*stride]
			for shard := 1; shard < shards; shard++ {
				s.b.chain.add(sum, s.gradient(core, shard)[from*stride:to*stride])
			}
			if row == stride {
				copy(dst[from*row:to*row], sum)
				return
			}
			for e := range to - from {
				copy(dst[(from+e)*row:][:row], sum[e*stride:])
			}
		})
	}
}

// rows runs work on consecutive ranges of n rows of the given length.
func (b *Backend) rows(n, length int, work func(from, to int)) {
	step := max(1, piece/length)
	b.each((n+step-1)/step, func(_, i int) { work(i*step, min((i+1)*step, n)) })
}

// piece is how many entries of a long vector one task takes.
const piece = 1 << 14

// pieces runs work on consecutive ranges of [0, n).
func (b *Backend) pieces(n int, work func(from, to int)) { b.rows(n, 1, work) }

// cells takes the cells of node j, whose vector is w: their values, adjoints
// and gradients. acc receives the adjoint of w, unless nil. It returns the
// loss.
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

// adjoint returns e of cells [c, end) and their loss.
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
