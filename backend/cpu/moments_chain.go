package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// momentSweep processes the nodes of one shard with the scratch memory of a
// worker.
type momentSweep struct {
	*moments
	levels    []momentLevel
	gradLevel int // the lowest level with a requested gradient: adjoints are propagated down to it
	cleared   int // gradients of the owner's entities below this one are initialized
	scratch   []float32
	leaf      momentLeaf
	batch     momentBatch
}

// momentLevel is one core of the chain as a shard sees it.
type momentLevel struct {
	entity []int32 // by node
	core   backend.Slices
	in     int // length of the vector before this core
	out    int // length of the vector after it
	size   int // of a slice

	gradMean, gradVar []float32 // nil if not requested
	gradCov           []float32 // of the far core of a batch

	mean, cov         []float32 // u and C after this core
	second            []float32 // u^2 + diag C
	meanHat, covHat   []float32 // their adjoints, summed over the cells below
	transposed, half  []float32 // the transposed slice; G C of the previous level
	covHatG, diagonal []float32 // Chat G; scratch vector
	variances         []float32 // the diagonal of C, at a first level without covariances
	transposedOf      int       // entity of transposed, -1 for none
}

// shard processes the nodes of a shard and returns its part of the loss.
func (s *moments) shard(r *momentSweep, shard int) float64 {
	p := s.p
	r.moments = s
	clear(s.b.arena[(shard-s.first)*s.private:][:s.private])
	r.prepare(shard)
	from, to := int(p.Shards[shard]), int(p.Shards[shard+1])
	r.cleared = firstToClear(p, shard)
	if p.Alone == p.Leaf {
		rank := p.LeafRank()
		for _, grad := range [][]float32{r.leaf.gradMean, r.leaf.gradVar} {
			if grad != nil {
				clear(grad[int(p.Begin[shard])*rank : int(p.Begin[shard+1])*rank])
			}
		}
	}
	var loss float64
	if r.batchable() {
		loss = r.batches(from, to)
	} else {
		loss = r.nodes(from, to)
	}
	if shard == len(p.Shards)-2 && p.Owner >= 0 {
		r.clearOwner(p.Shapes[p.Chain[p.Owner]].N)
	}
	return loss
}

// nodes processes nodes [from, to) one by one.
func (r *momentSweep) nodes(from, to int) float64 {
	loss := 0.0
	for j := from; j < to; j++ {
		changed := int(r.p.Changed[j])
		if j > from {
			r.backward(j-1, changed)
		}
		if r.p.Owner >= 0 {
			r.clearOwner(int(r.p.Entity[r.p.Owner][j]) + 1)
		}
		r.advance(j, changed)
		loss += r.cells(j)
	}
	if to > from {
		r.backward(to-1, 0)
	}
	return loss
}

// prepare sets up the levels for a shard.
func (r *momentSweep) prepare(shard int) {
	p := r.p
	need := 0
	for _, core := range p.Chain {
		n := p.Shapes[core].Slice()
		out := outgoing(p, core)
		need += 2*out*out + 4*out + 3*n + n/out
	}
	r.scratch = resize(r.scratch, need)
	clear(r.scratch)
	rest := r.scratch
	take := func(n int) (v []float32) {
		v, rest = rest[:n:n], rest[n:]
		return v
	}
	r.levels = resize(r.levels, len(p.Chain))
	r.gradLevel = len(p.Chain)
	for l := len(p.Chain) - 1; l >= 0; l-- {
		core := p.Chain[l]
		out, size := outgoing(p, core), p.Shapes[core].Slice()
		v := momentLevel{
			entity: p.Entity[l], core: r.cores[core], in: size / out, out: out, size: size,
			gradMean: r.sumOf(r.grads[core].mean, shard), gradVar: r.sumOf(r.grads[core].variance, shard), gradCov: r.sumOf(r.grads[core].covariance, shard),
			mean: take(out), cov: take(out * out), second: take(out), meanHat: take(out), covHat: take(out * out),
			transposed: take(size), half: take(size), covHatG: take(size), diagonal: take(size / out), transposedOf: -1,
		}
		if v.gradMean != nil || v.gradVar != nil || v.gradCov != nil {
			r.gradLevel = l
		}
		r.levels[l] = v
	}
	r.prepareLeaf(shard)
}

// clearOwner clears the owner's gradients up to entity end.
func (r *momentSweep) clearOwner(end int) {
	l := &r.levels[r.p.Owner]
	if r.cleared >= end {
		return
	}
	for _, grad := range [][]float32{l.gradMean, l.gradVar} {
		if grad != nil {
			clear(grad[r.cleared*l.size : end*l.size])
		}
	}
	r.cleared = end
}

// advance updates the chain's moments to node j, which differs from the
// previous node from a level on.
func (r *momentSweep) advance(j, from int) {
	for l := from; l < len(r.levels); l++ {
		v := &r.levels[l]
		entity := int(v.entity[j])
		g := v.core.Mean[entity*v.size:][:v.size]
		var s []float32
		if v.core.Var != nil {
			s = v.core.Var[entity*v.size:][:v.size]
		}
		if l == 0 {
			copy(v.mean, g)
			switch {
			case s != nil:
				addDiagonal(v.cov, v.out, s, true)
				v.variances = s
			case v.core.Cov != nil:
				copy(v.cov, v.core.Cov[entity*len(v.cov):])
			}
		} else {
			r.applySlice(v, &r.levels[l-1], entity, g, s)
		}
		for a, u := range v.mean {
			v.second[a] = u*u + v.cov[a*(v.out+1)]
		}
	}
}

// addDiagonal adds d to the diagonal of the n x n matrix m, or overwrites the
// diagonal if overwrite is set.
func addDiagonal(m []float32, n int, d []float32, overwrite bool) {
	for a, x := range d[:n] {
		if overwrite {
			m[a*(n+1)] = x
		} else {
			m[a*(n+1)] += x
		}
	}
}

// applySlice sets the moments after a slice from those before it.
func (r *momentSweep) applySlice(v, below *momentLevel, entity int, g, s []float32) {
	k, d := &r.b.chain, &r.b.dense
	clear(v.mean)
	rows, columns := v.out, v.in
	if r.p.Leaf != 0 {
		rows, columns = v.in, v.out
	}
	if v.transposedOf != entity {
		d.transpose(v.transposed, rows, g, columns, rows, columns)
		v.transposedOf = entity
	}
	// G and its transpose, both row-major.
	forward, reverse := g, v.transposed
	if r.p.Leaf != 0 {
		forward, reverse = v.transposed, g
	}
	k.vecMat(v.mean, below.mean, reverse)
	if below.variances != nil {
		for a := range v.out { // C is diagonal
			k.product(v.half[a*v.in:][:v.in], forward[a*v.in:], below.variances)
		}
	} else {
		d.multiply(v.half, v.in, forward, v.in, 1, below.cov, v.in, v.out, v.in, v.in, 0)
	}
	d.multiply(v.cov, v.out, v.half, v.in, 1, reverse, v.out, v.out, v.out, v.in, 0)
	if s == nil {
		return
	}
	extra := v.diagonalOut()
	clear(extra)
	if r.p.Leaf == 0 {
		k.matVec(extra, s, below.second)
	} else {
		k.vecMat(extra, below.second, s)
	}
	addDiagonal(v.cov, v.out, extra, false)
}

// diagonalOut is scratch memory of length out. It shares memory with second,
// which is set after it is used.
func (v *momentLevel) diagonalOut() []float32 { return v.second }

// backward propagates the adjoints of node j's levels >= from to the gradients
// and to the levels below, and clears them.
func (r *momentSweep) backward(j, from int) {
	k := &r.b.chain
	for l := len(r.levels) - 1; l >= max(from, r.gradLevel); l-- {
		v := &r.levels[l]
		at := int(v.entity[j]) * v.size
		diagHat := v.second // its value is no longer needed
		for a := range diagHat {
			diagHat[a] = v.covHat[a*(v.out+1)]
		}
		if l == 0 {
			if v.gradMean != nil {
				k.add(v.gradMean[at:][:v.size], v.meanHat)
			}
			if v.gradVar != nil {
				k.add(v.gradVar[at:][:v.size], diagHat)
			}
		} else {
			r.backwardSlice(v, &r.levels[l-1], at, diagHat, l > r.gradLevel)
		}
		clear(v.meanHat)
		clear(v.covHat)
	}
}

// backwardSlice propagates the adjoints after a slice to the slice and, if
// further is set, to the level below. With Chat the adjoint of C and d its
// diagonal:
//
//	Ghat += uhat u' + 2 Chat G C,   Shat += d (u^2 + diag C)',
//	uhat += G'uhat + 2 u (S'd),     Chat += G'Chat G + diag(S'd).
func (r *momentSweep) backwardSlice(v, below *momentLevel, at int, diagHat []float32, further bool) {
	k, d := &r.b.chain, &r.b.dense
	first := r.p.Leaf == 0
	if v.gradMean != nil {
		grad := v.gradMean[at:][:v.size]
		if first {
			k.rank1(grad, v.meanHat, below.mean)
			d.scaled(2, grad, v.in, v.covHat, v.out, 1, v.half, v.in, v.out, v.in, v.out, 1)
		} else {
			k.rank1(grad, below.mean, v.meanHat)
			d.scaled(2, grad, v.out, v.half, 1, v.in, v.covHat, v.out, v.in, v.out, v.out, 1)
		}
	}
	if v.gradVar != nil {
		grad := v.gradVar[at:][:v.size]
		if first {
			k.rank1(grad, diagHat, below.second)
		} else {
			k.rank1(grad, below.second, diagHat)
		}
	}
	if !further {
		return
	}
	g := v.core.Mean[at:][:v.size]
	forward := g
	if first {
		k.vecMat(below.meanHat, v.meanHat, g)
	} else {
		k.matVec(below.meanHat, g, v.meanHat)
		forward = v.transposed
	}
	d.multiply(v.covHatG, v.in, v.covHat, v.out, 1, forward, v.in, v.out, v.in, v.out, 0)
	d.multiply(below.covHat, v.in, forward, 1, v.in, v.covHatG, v.in, v.in, v.in, v.out, 1)
	if v.core.Var == nil {
		return
	}
	s := v.core.Var[at:][:v.size]
	clear(v.diagonal)
	if first {
		k.vecMat(v.diagonal, diagHat, s)
	} else {
		k.matVec(v.diagonal, s, diagHat)
	}
	addDiagonal(below.covHat, v.in, v.diagonal, false)
	for b, q := range v.diagonal {
		below.meanHat[b] += 2 * q * below.mean[b]
	}
}
