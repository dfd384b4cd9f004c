package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// leafByShards adds the shards' sums of the leaf core in order.
func (x *momentPair) leafByShards() {
	grad, n := x.job.Grad[x.p.Leaf], x.leaf.Len()
	sum := x.sums(x.b.sumShards(&x.division, func(shard int) []float32 { return x.b.arena[(shard-x.first)*x.private:][:x.private] }), n)
	x.b.forRanges(n, func(from, to int) {
		k := &x.b.chain
		if grad.Mean != nil {
			copy(grad.Mean[from:to], sum.mean[from:to])
			k.addProduct(grad.Mean[from:to], sum.leafSquare[from:], x.leaf.Mean[from:])
		}
		if grad.Var != nil {
			clear(grad.Var[from:to])
			k.axpy(grad.Var[from:to], 0.5, sum.leafVar[from:to])
		}
	})
}

// shareAdjoints gives all ranks the adjoints that they need, sorted by entity of the leaf core.
func (x *momentPair) shareAdjoints() {
	if x.ranks == nil {
		return
	}
	x.b.sorted = x.b.resizeLong(x.b.sorted, len(x.adjoints))
	sorted := x.b.sorted
	if x.order.Shared() {
		x.order.Move(sorted, x.adjoints)
		x.adjoints = sorted
		return
	}
	backend.GatherValues(x.ranks, x.adjoints, x.cells(x.p), 1)
	x.b.forRanges(len(sorted), func(from, to int) {
		for i, position := range x.order.Position[from:to] {
			sorted[position] = x.adjoints[from+i]
		}
	})
	x.adjoints = sorted
}

// leafByOrder sums the leaf core's gradients entity by entity. The nodes of an
// entity give the rows of the other core by way of their entities.
func (x *momentPair) leafByOrder() {
	p, r, order := x.p, x.r, x.order
	grad := x.job.Grad[p.Leaf]
	varAdjoints := x.varAdjointsByLeaf(order)
	bounds := x.b.entityBounds(p, order)
	first, end := x.b.entityRange(p, bounds)
	step := max(1, x.leaf.N/1024)
	x.b.forEach((end-first+step-1)/step, func(worker, i int) {
		ws, k := &x.b.workers[worker], &x.b.chain
		ws.rhs = resize(ws.rhs, r)
		sum := ws.rhs
		for e := first + i*step; e < min(first+(i+1)*step, end); e++ {
			from, to := order.Start[e], order.Start[e+1]
			idx := ws.index[:0]
			for _, j := range order.Node[from:to] {
				idx = append(idx, p.Entity[0][j])
			}
			ws.index = idx
			if g := rowAt(grad.Mean, e, r); g != nil {
				clear(g)
				k.gatherSum(g, x.node.Mean, idx, x.adjoints[from:to])
				if x.node.Var != nil {
					clear(sum)
					k.gatherSum(sum, x.node.Var, idx, varAdjoints[from:to])
					for a, m := range rowAt(x.leaf.Mean, e, r) {
						g[a] += 2 * m * sum[a]
					}
				}
			}
			if g := rowAt(grad.Var, e, r); g != nil {
				clear(g)
				k.gatherSum(g, x.second, idx, varAdjoints[from:to])
			}
		}
	})
	if bounds != nil {
		backend.GatherValues(x.ranks, grad.Mean, bounds, r)
		backend.GatherValues(x.ranks, grad.Var, bounds, r)
	}
}
