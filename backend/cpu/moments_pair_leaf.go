package cpu

// leafByShards adds the shards' sums of the leaf core in order.
func (x *momentPair) leafByShards() {
	grad, n := x.job.Grad[x.p.Leaf], x.leaf.Len()
	own := func(shard int) pairSums { return x.sums(x.b.arena[shard*x.private:][:x.private], n) }
	x.b.forRanges(n, func(from, to int) {
		k, sum := &x.b.chain, own(0)
		for shard := 1; shard < x.shards; shard++ {
			part := own(shard)
			k.add(sum.mean[from:to], part.mean[from:to])
			k.add(sum.leafSquare[from:to], part.leafSquare[from:to])
			k.add(sum.leafVar[from:to], part.leafVar[from:to])
		}
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

// leafByOrder sums the leaf core's gradients entity by entity. The nodes of an
// entity give the rows of the other core by way of their entities.
func (x *momentPair) leafByOrder() {
	p, r, order := x.p, x.r, x.order
	grad := x.job.Grad[p.Leaf]
	varAdjoints := x.varAdjointsByLeaf(order)
	step := max(1, x.leaf.N/1024)
	x.b.forEach((x.leaf.N+step-1)/step, func(worker, i int) {
		ws, k := &x.b.workers[worker], &x.b.chain
		ws.rhs = resize(ws.rhs, r)
		sum := ws.rhs
		for e := i * step; e < min((i+1)*step, x.leaf.N); e++ {
			first, last := order.Start[e], order.Start[e+1]
			idx := ws.index[:0]
			for _, j := range order.Node[first:last] {
				idx = append(idx, p.Entity[0][j])
			}
			ws.index = idx
			if g := rowAt(grad.Mean, e, r); g != nil {
				clear(g)
				k.gatherSum(g, x.node.Mean, idx, x.adjoints[first:last])
				if x.node.Var != nil {
					clear(sum)
					k.gatherSum(sum, x.node.Var, idx, varAdjoints[first:last])
					for a, m := range rowAt(x.leaf.Mean, e, r) {
						g[a] += 2 * m * sum[a]
					}
				}
			}
			if g := rowAt(grad.Var, e, r); g != nil {
				clear(g)
				k.gatherSum(g, x.second, idx, varAdjoints[first:last])
			}
		}
	})
}
