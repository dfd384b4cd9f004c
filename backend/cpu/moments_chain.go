package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// momentSweep is one shard's way over its nodes, with a worker's scratch memory.
type momentSweep struct {
	*moments
	levels  []momentLevel
	pull    int // the lowest level with a wanted gradient: adjoints go that far
	cleared int // entities of the owner before this one have a gradient
	scratch []float32
	leaf    momentLeaf
	bundle  momentBundle
}

// momentLevel is one core of the chain as a shard sees it.
type momentLevel struct {
	entity []int32 // by node
	core   backend.Slices
	in     int // length of the vector before this core
	out    int // and after it
	size   int // of a slice

	gradMean, gradVar []float32 // nil where they are not wanted

	mean, cov        []float32 // u and C after this core
	second           []float32 // u^2 + diag C
	meanHat, covHat  []float32 // their adjoints, summed over the cells below
	turned, half     []float32 // the slice turned; G C of the level before
	pulled, diagonal []float32 // Chat G; a vector
	variances        []float32 // all there is of C, at a first level without covariances
	turnedOf         int       // entity of turned, -1 of none
}

// shard sweeps the nodes of a shard and returns its part of the loss.
func (s *moments) shard(r *momentSweep, shard int) float64 {
	p := s.p
	r.moments = s
	clear(s.b.arena[shard*s.private:][:s.private])
	r.fit(shard)
	from, to := int(p.Shards[shard]), int(p.Shards[shard+1])
	r.cleared = 0
	if shard > 0 && p.Owner >= 0 {
		r.cleared = int(p.Entity[p.Owner][from-1]) + 1
	}
	var loss float64
	if r.bundled() {
		loss = r.bundles(from, to)
	} else {
		loss = r.nodes(from, to)
	}
	if shard == len(p.Shards)-2 && p.Owner >= 0 {
		r.clearOwner(p.Shapes[p.Chain[p.Owner]].N)
	}
	return loss
}

// nodes sweeps nodes [from, to) one by one.
func (r *momentSweep) nodes(from, to int) float64 {
	loss := 0.0
	for j := from; j < to; j++ {
		changed := int(r.p.Changed[j])
		if j > from {
			r.flush(j-1, changed)
		}
		if r.p.Owner >= 0 {
			r.clearOwner(int(r.p.Entity[r.p.Owner][j]) + 1)
		}
		r.advance(j, changed)
		loss += r.cells(j)
	}
	if to > from {
		r.flush(to-1, 0)
	}
	return loss
}

// fit sets up the levels for a shard.
func (r *momentSweep) fit(shard int) {
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
	r.pull = len(p.Chain)
	for l := len(p.Chain) - 1; l >= 0; l-- {
		core := p.Chain[l]
		out, size := outgoing(p, core), p.Shapes[core].Slice()
		v := momentLevel{
			entity: p.Entity[l], core: r.cores[core], in: size / out, out: out, size: size,
			gradMean: r.of(r.grads[core].mean, shard), gradVar: r.of(r.grads[core].variance, shard),
			mean: take(out), cov: take(out * out), second: take(out), meanHat: take(out), covHat: take(out * out),
			turned: take(size), half: take(size), pulled: take(size), diagonal: take(size / out), turnedOf: -1,
		}
		if v.gradMean != nil || v.gradVar != nil {
			r.pull = l
		}
		r.levels[l] = v
	}
	r.fitLeaf(shard)
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

// advance brings the chain's moments up to node j, which differs from the one
// before from a level on.
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
			r.times(v, &r.levels[l-1], entity, g, s)
		}
		for a, u := range v.mean {
			v.second[a] = u*u + v.cov[a*(v.out+1)]
		}
	}
}

// addDiagonal adds d to the diagonal of the n x n matrix m, or puts it there.
func addDiagonal(m []float32, n int, d []float32, put bool) {
	for a, x := range d[:n] {
		if put {
			m[a*(n+1)] = x
		} else {
			m[a*(n+1)] += x
		}
	}
}

// times sets the moments after a slice from those before it.
func (r *momentSweep) times(v, below *momentLevel, entity int, g, s []float32) {
	k, d := &r.b.chain, &r.b.dense
	clear(v.mean)
	rows, columns := v.out, v.in
	if r.p.Leaf != 0 {
		rows, columns = v.in, v.out
	}
	if v.turnedOf != entity {
		d.transpose(v.turned, rows, g, columns, rows, columns)
		v.turnedOf = entity
	}
	// G and its transpose, both row by row.
	forth, back := g, v.turned
	if r.p.Leaf != 0 {
		forth, back = v.turned, g
	}
	k.vecMat(v.mean, below.mean, back)
	if below.variances != nil {
		for a := range v.out { // C is diagonal
			k.product(v.half[a*v.in:][:v.in], forth[a*v.in:], below.variances)
		}
	} else {
		d.multiply(v.half, v.in, forth, v.in, 1, below.cov, v.in, v.out, v.in, v.in, 0)
	}
	d.multiply(v.cov, v.out, v.half, v.in, 1, back, v.out, v.out, v.out, v.in, 0)
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

// diagonalOut is scratch memory of length out; second is set after it is used.
func (v *momentLevel) diagonalOut() []float32 { return v.second }

// flush pulls the adjoints of node j's levels >= from back to the gradients
// and to the levels below, and clears them.
func (r *momentSweep) flush(j, from int) {
	k := &r.b.chain
	for l := len(r.levels) - 1; l >= max(from, r.pull); l-- {
		v := &r.levels[l]
		at := int(v.entity[j]) * v.size
		spread := v.second // its value is not needed any more
		for a := range spread {
			spread[a] = v.covHat[a*(v.out+1)]
		}
		if l == 0 {
			if v.gradMean != nil {
				k.add(v.gradMean[at:][:v.size], v.meanHat)
			}
			if v.gradVar != nil {
				k.add(v.gradVar[at:][:v.size], spread)
			}
		} else {
			r.pullSlice(v, &r.levels[l-1], at, spread, l > r.pull)
		}
		clear(v.meanHat)
		clear(v.covHat)
	}
}

// pullSlice pulls the adjoints after a slice back to the slice, with Chat the
// adjoint of C and d its diagonal:
//
//	Ghat += uhat u' + 2 Chat G C,   Shat += d (u^2 + diag C)',
//	uhat += G'uhat + 2 u (S'd),     Chat += G'Chat G + diag(S'd).
func (r *momentSweep) pullSlice(v, below *momentLevel, at int, spread []float32, further bool) {
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
			k.rank1(grad, spread, below.second)
		} else {
			k.rank1(grad, below.second, spread)
		}
	}
	if !further {
		return
	}
	g := v.core.Mean[at:][:v.size]
	forth := g
	if first {
		k.vecMat(below.meanHat, v.meanHat, g)
	} else {
		k.matVec(below.meanHat, g, v.meanHat)
		forth = v.turned
	}
	d.multiply(v.pulled, v.in, v.covHat, v.out, 1, forth, v.in, v.out, v.in, v.out, 0)
	d.multiply(below.covHat, v.in, forth, 1, v.in, v.pulled, v.in, v.in, v.in, v.out, 1)
	if v.core.Var == nil {
		return
	}
	s := v.core.Var[at:][:v.size]
	clear(v.diagonal)
	if first {
		k.vecMat(v.diagonal, spread, s)
	} else {
		k.matVec(v.diagonal, s, spread)
	}
	addDiagonal(below.covHat, v.in, v.diagonal, false)
	for b, q := range v.diagonal {
		below.meanHat[b] += 2 * q * below.mean[b]
	}
}
