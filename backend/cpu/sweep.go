package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// sweep processes the nodes of one shard with the scratch memory of a worker.
type sweep struct {
	*pass
	levels    []level
	gradLevel int       // the lowest level with a requested gradient: adjoints are propagated down to it
	leafGrad  []float32 // nil if not requested
	cleared   int       // gradients of the owner's entities below this one are initialized
	scratch   []float32
	batch     nodeBatch

	mean, difference, weighted [block]float32
}

// level is one core of the chain as a shard sees it.
type level struct {
	entity  []int32 // by node
	core    []float32
	grad    []float32 // nil if not requested
	size    int       // of a slice
	out     int       // length of the vector after this core
	value   []float32 // the product of the cores up to this one
	adjoint []float32 // its adjoint, summed over the cells below
}

var unit = []float32{1}

// shard processes the nodes of a shard and returns its part of the loss.
func (s *pass) shard(r *sweep, shard int) float64 {
	p := s.p
	r.pass = s
	clear(s.b.arena[(shard-s.first)*s.private:][:s.private])
	r.leafGrad = s.gradient(p.Leaf, shard)
	r.prepare(shard)
	from, to := int(p.Shards[shard]), int(p.Shards[shard+1])
	// The owner's gradient is cleared entity by entity, just before the first
	// node of an entity is added, when it is in cache. A shard clears the
	// entities after the last one of the previous shard.
	r.cleared = firstToClear(p, shard)
	if p.Alone == p.Leaf && r.leafGrad != nil {
		clear(r.leafGrad[int(p.Begin[shard])*r.stride : int(p.Begin[shard+1])*r.stride])
	}
	var loss float64
	if len(p.Chain) == 2 && p.Owner == 1 {
		loss = r.batches(from, to)
	} else {
		loss = r.nodes(from, to)
	}
	if shard == len(p.Shards)-2 && p.Owner >= 0 {
		r.clearOwner(p.Shapes[p.Chain[p.Owner]].N)
	}
	return loss
}

// prepare sets up the levels for a shard. The vectors of the last level have
// the length of the leaf's padded rows and end in zeros.
func (r *sweep) prepare(shard int) {
	p := r.p
	top := len(p.Chain) - 1
	need := 0
	for _, core := range p.Chain {
		need += 2 * (outgoing(p, core) + r.stride)
	}
	r.scratch = resize(r.scratch, need)
	clear(r.scratch)
	rest := r.scratch
	take := func(n int) (v []float32) {
		v, rest = rest[:n], rest[n:]
		return v
	}
	r.levels = resize(r.levels, top+1)
	r.gradLevel = top + 1
	for l := top; l >= 0; l-- {
		core := p.Chain[l]
		length := outgoing(p, core)
		v := level{entity: p.Entity[l], core: r.cores[core].Mean, grad: r.gradient(core, shard), size: p.Shapes[core].Slice(), out: length}
		if l == top {
			length = r.stride
		}
		v.value, v.adjoint = take(length), take(length)
		if v.grad != nil {
			r.gradLevel = l
		}
		r.levels[l] = v
	}
}

// outgoing returns the length of the chain's vector after a core.
func outgoing(p *backend.Plan, core int) int {
	if p.Leaf == 0 {
		return p.Shapes[core].Left
	}
	return p.Shapes[core].Right
}

// firstToClear returns the first entity of the owner whose gradient a shard has to clear. Where
// the shards do not share the leaf core, the owner's gradient is one of their own, cleared with the others.
func firstToClear(p *backend.Plan, shard int) int {
	if p.Alone == p.Leaf {
		return p.Shapes[p.Chain[p.Owner]].N
	}
	return int(p.Begin[shard])
}

// clearOwner clears the owner's gradient up to entity end.
func (r *sweep) clearOwner(end int) {
	if l := &r.levels[r.p.Owner]; l.grad != nil && r.cleared < end {
		clear(l.grad[r.cleared*l.size : end*l.size])
		r.cleared = end
	}
}

// nodes processes nodes [from, to) one by one.
func (r *sweep) nodes(from, to int) float64 {
	p, top := r.p, len(r.levels)-1
	w, acc := unit, []float32(nil)
	if top >= 0 {
		w = r.levels[top].value
		if r.gradLevel <= top {
			acc = r.levels[top].adjoint
		}
	}
	loss := 0.0
	for j := from; j < to; j++ {
		changed := int(p.Changed[j])
		if j > from {
			r.backward(j-1, changed)
		}
		if p.Owner >= 0 {
			r.clearOwner(int(p.Entity[p.Owner][j]) + 1)
		}
		r.advance(j, changed)
		loss += r.cells(j, w, acc)
	}
	if to > from {
		r.backward(to-1, 0)
	}
	return loss
}

// advance updates the chain's vectors to node j, which differs from the
// previous node from a level on.
func (r *sweep) advance(j, from int) {
	for l := from; l < len(r.levels); l++ {
		v := &r.levels[l]
		g := v.core[int(v.entity[j])*v.size:][:v.size]
		value := v.value[:v.out]
		if l == 0 {
			copy(value, g)
			continue
		}
		clear(value)
		below := r.levels[l-1].value
		if r.p.Leaf == 0 {
			r.b.chain.matVec(value, g, below)
		} else {
			r.b.chain.vecMat(value, below, g)
		}
	}
}

// backward propagates the adjoints of node j's levels >= from to the gradients
// and to the levels below, and clears them.
func (r *sweep) backward(j, from int) {
	k := &r.b.chain
	for l := len(r.levels) - 1; l >= max(from, r.gradLevel); l-- {
		v := &r.levels[l]
		u, at := v.adjoint[:v.out], int(v.entity[j])*v.size
		if l == 0 {
			if v.grad != nil {
				k.add(v.grad[at:][:v.size], u)
			}
			clear(u)
			continue
		}
		below := &r.levels[l-1]
		if v.grad != nil {
			if r.p.Leaf == 0 {
				k.rank1(v.grad[at:][:v.size], u, below.value)
			} else {
				k.rank1(v.grad[at:][:v.size], below.value, u)
			}
		}
		if l > r.gradLevel {
			g := v.core[at:][:v.size]
			if r.p.Leaf == 0 {
				k.vecMat(below.adjoint, u, g)
			} else {
				k.matVec(below.adjoint, g, u)
			}
		}
		clear(u)
	}
}
