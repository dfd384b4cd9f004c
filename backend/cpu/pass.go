package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// block is how many cells of a node are taken at a time: their values and
// adjoints stay in the first cache.
const block = 512

// chainScratch holds a chain's vectors: value[l] the product of levels 0..l,
// adjoint[l] the pulled back sum over the cells below.
type chainScratch struct {
	value, adjoint [][]float32
	mean, e        [block]float32
}

func (s *chainScratch) fit(p *backend.Plan) {
	levels := len(p.Chain)
	s.value, s.adjoint = resize(s.value, levels), resize(s.adjoint, levels)
	for level, core := range p.Chain {
		r := outgoing(p, core)
		s.value[level], s.adjoint[level] = resize(s.value[level], r), resize(s.adjoint[level], r)
		clear(s.adjoint[level])
	}
}

// outgoing returns the length of the chain's vector after a core.
func outgoing(p *backend.Plan, core int) int {
	if p.Leaf == 0 {
		return p.Shapes[core].Left
	}
	return p.Shapes[core].Right
}

// Pass implements backend.Backend.
func (b *Backend) Pass(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	p.Check(cores)
	shards := len(p.Shards) - 1
	b.prepareGradients(p, job, shards)
	losses := make([]float64, shards)
	b.each(shards, func(worker, s int) {
		run := passRun{b: b, p: p, cores: cores, job: job, s: &b.workers[worker].chainScratch, grad: b.shards[s]}
		losses[s] = run.shard(int(p.Shards[s]), int(p.Shards[s+1]))
	})
	b.reduceGradients(p, job, shards)
	loss := 0.0
	for _, l := range losses {
		loss += l
	}
	return loss
}

// prepareGradients gives each shard its gradients: the caller's own memory for
// the owner's core and for shard 0, private memory for the rest. All are zero.
func (b *Backend) prepareGradients(p *backend.Plan, job *backend.Job, shards int) {
	b.shards = resize(b.shards, shards)
	private := 0
	for core := range p.Shapes {
		if wanted(job, core) {
			b.zero(job.Grad[core].Mean)
			if !owned(p, core) {
				private += p.Shapes[core].Len() * max(0, shards-1)
			}
		}
	}
	b.arena = resize(b.arena, private)
	b.zero(b.arena)
	rest := b.arena
	for s := range shards {
		b.shards[s] = resize(b.shards[s], len(p.Shapes))
		for core, shape := range p.Shapes {
			g := backend.Slices{Shape: shape}
			switch {
			case !wanted(job, core):
			case s == 0 || owned(p, core):
				g.Mean = job.Grad[core].Mean
			default:
				g.Mean, rest = rest[:shape.Len()], rest[shape.Len():]
			}
			b.shards[s][core] = g
		}
	}
}

func wanted(job *backend.Job, core int) bool {
	return job.Adjoint != backend.None && core < len(job.Grad) && job.Grad[core].Mean != nil
}

func owned(p *backend.Plan, core int) bool {
	return p.Owner >= 0 && p.Chain[p.Owner] == core
}

// piece is how many entries of a long vector one task takes.
const piece = 1 << 14

// pieces runs work on consecutive ranges of [0, n).
func (b *Backend) pieces(n int, work func(from, to int)) {
	b.each((n+piece-1)/piece, func(_, i int) { work(i*piece, min((i+1)*piece, n)) })
}

func (b *Backend) zero(v []float32) {
	b.pieces(len(v), func(from, to int) { clear(v[from:to]) })
}

// reduceGradients adds the shards' private gradients in their order.
func (b *Backend) reduceGradients(p *backend.Plan, job *backend.Job, shards int) {
	for core := range p.Shapes {
		if !wanted(job, core) || owned(p, core) {
			continue
		}
		dst := job.Grad[core].Mean
		b.pieces(len(dst), func(from, to int) {
			for s := 1; s < shards; s++ {
				b.chain.add(dst[from:to], b.shards[s][core].Mean[from:to])
			}
		})
	}
}

// passRun is one shard's sweep.
type passRun struct {
	b     *Backend
	p     *backend.Plan
	cores []backend.Slices
	job   *backend.Job
	s     *chainScratch
	grad  []backend.Slices
	pull  int // the lowest level with a wanted gradient: adjoints go that far
}

var unit = []float32{1}

// shard sweeps nodes [from, to) and returns its part of the loss.
func (r *passRun) shard(from, to int) float64 {
	p, k := r.p, &r.b.chain
	r.s.fit(p)
	r.pull = len(p.Chain)
	for level := len(p.Chain) - 1; level >= 0; level-- {
		if r.grad[p.Chain[level]].Mean != nil {
			r.pull = level
		}
	}
	leaf, leafGrad := r.cores[p.Leaf].Mean, r.grad[p.Leaf].Mean
	loss := 0.0
	for j := from; j < to; j++ {
		if j > from {
			r.flush(j-1, int(p.Changed[j]))
		}
		w := r.b.node(p, r.cores, r.s.value, j, j == from)
		acc := []float32(nil)
		if len(p.Chain) > 0 && r.pull < len(p.Chain) {
			acc = r.s.adjoint[len(p.Chain)-1]
		}
		for c := int(p.Start[j]); c < int(p.Start[j+1]); c += block {
			end := min(c+block, int(p.Start[j+1]))
			idx := p.LeafEntity[c:end]
			e := r.s.e[:end-c]
			mean := r.s.mean[:end-c]
			if r.job.Mean != nil {
				mean = r.job.Mean[c:end]
			}
			if r.job.Adjoint == backend.Given {
				e = r.job.Target[c:end]
			}
			if r.job.Adjoint != backend.Given || r.job.Mean != nil {
				k.dots(mean, leaf, idx, w)
			}
			loss += r.adjoint(e, mean, c, end)
			switch {
			case r.job.Adjoint == backend.None:
			case acc != nil && leafGrad != nil:
				k.gatherScatter(acc, leafGrad, leaf, idx, e, w)
			case acc != nil:
				k.gatherSum(acc, leaf, idx, e)
			case leafGrad != nil:
				k.scatterAdd(leafGrad, idx, e, w)
			}
		}
	}
	if to > from {
		r.flush(to-1, 0)
	}
	return loss
}

// adjoint fills e for cells [c, end) and returns their loss.
func (r *passRun) adjoint(e, mean []float32, c, end int) float64 {
	loss := 0.0
	switch r.job.Adjoint {
	case backend.Residual:
		y := r.job.Target[c:end]
		if r.job.Weight == nil {
			for i, f := range mean {
				d := y[i] - f
				e[i] = d
				loss += float64(d) * float64(d)
			}
			return loss
		}
		w := r.job.Weight[c:end]
		for i, f := range mean {
			d := y[i] - f
			e[i] = w[i] * d
			loss += float64(w[i]) * float64(d) * float64(d)
		}
	case backend.Product:
		if r.job.Weight == nil {
			for i, f := range mean {
				e[i] = f
				loss += float64(f) * float64(f)
			}
			return loss
		}
		w := r.job.Weight[c:end]
		for i, f := range mean {
			e[i] = w[i] * f
			loss += float64(w[i]) * float64(f) * float64(f)
		}
	}
	return loss
}

// node brings the chain's vectors up to node j and returns the last of them.
func (b *Backend) node(p *backend.Plan, cores []backend.Slices, value [][]float32, j int, all bool) []float32 {
	if len(p.Chain) == 0 {
		return unit
	}
	from := int(p.Changed[j])
	if all {
		from = 0
	}
	for level := from; level < len(p.Chain); level++ {
		g := sliceOf(cores[p.Chain[level]], p.Entity[level][j])
		if level == 0 {
			copy(value[0], g)
			continue
		}
		clear(value[level])
		if p.Leaf == 0 {
			b.chain.matVec(value[level], g, value[level-1])
		} else {
			b.chain.vecMat(value[level], value[level-1], g)
		}
	}
	return value[len(p.Chain)-1]
}

// flush pulls the adjoints of node j's levels >= from back to the gradients
// and to the levels below, and clears them.
func (r *passRun) flush(j, from int) {
	p, k := r.p, &r.b.chain
	for level := len(p.Chain) - 1; level >= max(from, r.pull); level-- {
		core := p.Chain[level]
		u := r.s.adjoint[level]
		g := r.grad[core].Mean != nil
		entity := p.Entity[level][j]
		if level == 0 {
			if g {
				k.add(sliceOf(r.grad[core], entity), u)
			}
			clear(u)
			continue
		}
		below := r.s.value[level-1]
		if g {
			if p.Leaf == 0 {
				k.rank1(sliceOf(r.grad[core], entity), u, below)
			} else {
				k.rank1(sliceOf(r.grad[core], entity), below, u)
			}
		}
		if level > r.pull {
			m := sliceOf(r.cores[core], entity)
			if p.Leaf == 0 {
				k.vecMat(r.s.adjoint[level-1], u, m)
			} else {
				k.matVec(r.s.adjoint[level-1], m, u)
			}
		}
		clear(u)
	}
}

func sliceOf(c backend.Slices, entity int32) []float32 {
	n := c.Slice()
	return c.Mean[int(entity)*n:][:n]
}

// Evaluate implements backend.Backend.
func (b *Backend) Evaluate(dst []float32, cores []backend.Slices, index [][]int32) {
	const cells = 4096
	longest := 1
	for _, c := range cores {
		longest = max(longest, c.Right)
	}
	b.each((len(dst)+cells-1)/cells, func(worker, i int) {
		ws := &b.workers[worker]
		ws.panel = resize(ws.panel, 2*longest)
		b.evaluate(dst, cores, index, i*cells, min((i+1)*cells, len(dst)), ws.panel[:longest], ws.panel[longest:])
	})
}

func (b *Backend) evaluate(dst []float32, cores []backend.Slices, index [][]int32, from, to int, u, v []float32) {
	last := len(cores) - 1
	for c := from; c < to; c++ {
		vector := sliceOf(cores[0], index[0][c])
		for p := 1; p < last; p++ {
			next := u[:cores[p].Right]
			clear(next)
			b.chain.vecMat(next, vector, sliceOf(cores[p], index[p][c]))
			vector = next
			u, v = v, u
		}
		if last == 0 {
			dst[c] = vector[0]
			continue
		}
		b.chain.dots(dst[c:c+1], cores[last].Mean, index[last][c:c+1], vector)
	}
}
