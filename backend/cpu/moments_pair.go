package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// momentPair handles two cores with variances. With m1, s1 a row of the leaf
// core, m3, s3 a row of the other core and g = m3^2 + s3,
//
//	E f = m1.m3,   Var f = m1^2.s3 + s1.g,
//
// so the squares m1^2 and g are computed once for all entities and a node costs
// nothing in addition to its cells. Blocks of cells span nodes, because one of the
// cores may have few cells per entity.
//
// Adjoints of variances are stored doubled, see momentBatch.
type momentPair struct {
	*moments
	r          int
	node, leaf backend.Slices
	square     []float32 // m1^2 by leaf entity
	second     []float32 // g by entity of the other core

	// The leaf core's gradients are summed separately by each shard or, if it
	// has too few cells for that, entity by entity after the sweep, from the
	// adjoints of the means in that order.
	order    *backend.LeafOrder
	adjoints []float32 // over several ranks in plan order until all have them
	private  int       // length of the sums that a shard keeps: of m1, m1^2 and s1
	shards   int
}

// isPair reports whether momentPair applies.
func (s *moments) isPair() bool {
	return len(s.p.Chain) == 1 && s.cores[0].Cov == nil && s.cores[1].Cov == nil
}

// passPair is the pass over two cores. It returns the loss.
func (s *moments) passPair() float64 {
	p, b := s.p, s.b
	x := momentPair{moments: s, r: p.LeafRank(), node: s.cores[p.Chain[0]], leaf: s.cores[p.Leaf], shards: len(p.Shards) - 1}
	b.square = resize(b.square, x.leaf.Len())
	b.vectors = b.resizeLong(b.vectors, x.node.Len())
	x.square, x.second = b.square, b.vectors
	b.forRanges(len(x.square), func(from, to int) { b.chain.product(x.square[from:to], x.leaf.Mean[from:], x.leaf.Mean[from:]) })
	b.forRanges(len(x.second), func(from, to int) {
		b.chain.product(x.second[from:to], x.node.Mean[from:], x.node.Mean[from:])
		if x.node.Var != nil {
			b.chain.add(x.second[from:to], x.node.Var[from:to])
		}
	})
	if s.wanted(p.Leaf) {
		if x.shards*x.leaf.N > p.Cells()/4 {
			x.order = p.ByLeaf(b.threads)
			b.target = b.resizeLong(b.target, p.Cells())
			x.adjoints = b.target
		} else {
			x.private = (3*x.leaf.Len() + 15) &^ 15
			b.arena = b.resizeLong(b.arena, x.count()*x.private)
		}
	}
	losses := make([]float64, x.shards)
	b.forEachShard(p, x.division, func(worker, i int) { losses[i] = x.shard(&b.workers[worker], i) })
	switch {
	case x.order != nil:
		x.shareAdjoints()
		x.leafByOrder()
	case x.private > 0:
		x.leafByShards()
	}
	if !s.wanted(p.Chain[0]) {
		return s.gatherPass(p, losses, s.job)
	}
	node := s.job.Grad[p.Chain[0]]
	return s.gatherPass(p, losses, s.job, node.Mean, node.Var)
}

// wanted reports whether the gradient with respect to a core's means or
// variances is requested.
func (s *moments) wanted(core int) bool {
	return s.job.Adjoint != backend.None && core < len(s.job.Grad) && (s.job.Grad[core].Mean != nil || s.job.Grad[core].Var != nil || s.job.Grad[core].Cov != nil && core != s.p.Leaf)
}

// rowAt returns row i of a table of rows of length r, nil for a nil table.
func rowAt(table []float32, i, r int) []float32 {
	if table == nil {
		return nil
	}
	return table[i*r:][:r]
}

// pairSums are adjoints of the factors of the products m1.m3, m1^2.s3 and s1.g:
// of m3, s3 and g at a node, or of m1, m1^2 and s1 for the leaf core.
type pairSums struct{ mean, leafSquare, leafVar []float32 }

func (x *momentPair) sums(v []float32, n int) pairSums {
	return pairSums{v[:n], v[n : 2*n], v[2*n : 3*n]}
}

// shard processes the cells of a shard and returns its part of the loss.
func (x *momentPair) shard(ws *workspace, shard int) float64 {
	p, job, leaf := x.p, x.job, &ws.moments.leaf
	from, to := int(p.Shards[shard]), int(p.Shards[shard+1])
	var rows, node pairSums
	if x.private > 0 {
		own := x.b.arena[(shard-x.first)*x.private:][:x.private]
		clear(own)
		rows = x.sums(own, x.leaf.Len())
	}
	if x.wanted(p.Chain[0]) {
		ws.rhs = zeroed(ws.rhs, 3*x.r)
		node = x.sums(ws.rhs, x.r)
	}
	last := int(p.Start[to])
	x.clearNodes(shard, from, to)
	loss := 0.0
	for j, c := from, int(p.Start[from]); c < last; {
		end := min(c+block, last)
		if job.Adjoint != backend.Given || job.Mean != nil || job.Var != nil {
			x.values(leaf, j, c, end)
		}
		leaf.writeMoments(job, c, end)
		if job.Adjoint == backend.None {
			for int(p.Start[j+1]) < end {
				j++
			}
			c = end
			continue
		}
		e, v, part := leaf.adjoints(x.b, job, c, end, 2)
		loss += part
		switch {
		case x.order != nil && x.ranks != nil:
			copy(x.adjoints[c:end], e)
		case x.order != nil:
			for i, position := range x.order.Position[c:end] {
				x.adjoints[position] = e[i]
			}
		}
		j = x.backward(node, rows, e, v, j, c, end)
		c = end
	}
	return loss
}

// values computes the moments of cells [c, end), the first of which belongs to
// node j.
func (x *momentPair) values(leaf *momentLeaf, j, c, end int) {
	k := &x.b.chain
	clear(leaf.variance[:end-c])
	for at := c; at < end; j++ {
		stop := min(int(x.p.Start[j+1]), end)
		idx := x.p.LeafEntity[at:stop]
		entity := int(x.p.Entity[0][j])
		k.dots(leaf.mean[at-c:stop-c], x.leaf.Mean, idx, rowAt(x.node.Mean, entity, x.r))
		variance, more := leaf.variance[at-c:stop-c], leaf.difference[:stop-at]
		if x.leaf.Var != nil {
			k.dots(variance, x.leaf.Var, idx, rowAt(x.second, entity, x.r))
		}
		if x.node.Var != nil {
			k.dots(more, x.square, idx, rowAt(x.node.Var, entity, x.r))
			k.add(variance, more)
		}
		at = stop
	}
}

// backward propagates the adjoints of cells [c, end), the first of which
// belongs to node j, and returns the node at end.
func (x *momentPair) backward(node, rows pairSums, e, v []float32, j, c, end int) int {
	k := &x.b.chain
	for at := c; at < end; {
		stop := min(int(x.p.Start[j+1]), end)
		idx := x.p.LeafEntity[at:stop]
		entity := int(x.p.Entity[0][j])
		second := rowAt(x.second, entity, x.r)
		k.adjoints(node.mean, rows.mean, x.leaf.Mean, idx, e[at-c:stop-c], rowAt(x.node.Mean, entity, x.r))
		if x.leaf.Var != nil {
			k.adjoints(node.leafVar, rows.leafVar, x.leaf.Var, idx, v[at-c:stop-c], second)
		} else {
			k.adjoints(nil, rows.leafVar, nil, idx, v[at-c:stop-c], second)
		}
		if x.node.Var != nil {
			k.adjoints(node.leafSquare, rows.leafSquare, x.square, idx, v[at-c:stop-c], rowAt(x.node.Var, entity, x.r))
		} else {
			k.adjoints(node.leafSquare, nil, x.square, idx, v[at-c:stop-c], nil)
		}
		at = stop
		if at == int(x.p.Start[j+1]) {
			x.finish(node, entity)
			j++
		}
	}
	return j
}

// finish writes the gradient of a node's entity and clears its sums.
func (x *momentPair) finish(node pairSums, entity int) {
	if node.mean == nil {
		return
	}
	grad := x.job.Grad[x.p.Chain[0]]
	mean, gradMean, gradVar := rowAt(x.node.Mean, entity, x.r), rowAt(grad.Mean, entity, x.r), rowAt(grad.Var, entity, x.r)
	for a, u := range mean {
		if gradMean != nil {
			gradMean[a] = node.mean[a] + u*node.leafVar[a]
		}
		if gradVar != nil {
			gradVar[a] = (node.leafSquare[a] + node.leafVar[a]) / 2
		}
		node.mean[a], node.leafSquare[a], node.leafVar[a] = 0, 0, 0
	}
}

// clearNodes clears the gradients of the entities that a shard is responsible
// for: those after the last entity of the previous shard.
func (x *momentPair) clearNodes(shard, from, to int) {
	if !x.wanted(x.p.Chain[0]) {
		return
	}
	entity := x.p.Entity[0]
	first, end := 0, x.node.N
	if shard > 0 {
		first = int(entity[from-1]) + 1
	}
	if shard < x.shards-1 {
		end = int(entity[to-1]) + 1
	}
	grad := x.job.Grad[x.p.Chain[0]]
	for _, g := range [][]float32{grad.Mean, grad.Var} {
		if g != nil {
			clear(g[first*x.r : end*x.r])
		}
	}
}
