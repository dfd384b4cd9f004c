package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// momentLeaf is the leaf core as a shard sees it, with scratch memory for a
// block of cells.
type momentLeaf struct {
	core              backend.Slices
	r                 int
	gradMean, gradVar []float32

	panel, scaled, times []float32 // rows m, v m and C m of the cells
	product              []float32 // upper triangle of u u' + C, for a leaf core with covariances
	sum                  []float32 // sum v s, or sum v K in the layout of packCovariances
	full                 []float32 // sum v K as a full matrix

	mean, variance, difference, e, v [block]float32
}

func (r *momentSweep) prepareLeaf(shard int) {
	x, n := &r.leaf, r.p.LeafRank()
	core := r.p.Leaf
	x.core, x.r = r.cores[core], n
	x.gradMean, x.gradVar = r.sumOf(r.grads[core].mean, shard), r.sumOf(r.grads[core].variance, shard)
	x.panel, x.scaled, x.times = resize(x.panel, block*n), resize(x.scaled, block*n), resize(x.times, block*n)
	if x.core.Cov != nil {
		x.product, x.sum, x.full = resize(x.product, n*(n+1)/2), resize(x.sum, n*(n+1)/2), resize(x.full, n*n)
	} else {
		x.sum = resize(x.sum, n)
	}
}

var unitMoments = momentLevel{mean: []float32{1}, cov: []float32{0}, second: []float32{1}, out: 1}

// node returns the moments of the current node of the chain.
func (r *momentSweep) node() *momentLevel {
	if len(r.levels) == 0 {
		return &unitMoments
	}
	return &r.levels[len(r.levels)-1]
}

// cells processes the cells of node j: their moments, adjoints and gradients.
// It returns the loss.
func (r *momentSweep) cells(j int) float64 {
	node, needNodeHat := r.node(), r.gradLevel < len(r.levels)
	x, k := &r.leaf, &r.b.chain
	if x.core.Cov != nil {
		r.writeTriangle(x.product)
	}
	clear(x.sum)
	loss := 0.0
	for c, last := int(r.p.Start[j]), int(r.p.Start[j+1]); c < last; c += block {
		loss += r.cellBlock(node, c, min(c+block, last), needNodeHat)
	}
	if !needNodeHat || r.job.Adjoint == backend.None {
		return loss
	}
	switch {
	case x.core.Cov != nil:
		copy(x.full, x.sum)
		unpackSymmetric(x.full, x.r, 0.5, &x.product)
		k.add(node.covHat, x.full)
		for a, u := range node.mean {
			k.axpy(node.meanHat, 2*u, x.full[a*x.r:][:x.r])
		}
	case x.core.Var != nil:
		addDiagonal(node.covHat, x.r, x.sum, false)
		for a, u := range node.mean {
			node.meanHat[a] += 2 * u * x.sum[a]
		}
	}
	return loss
}

// cellBlock processes cells [c, end) of a node.
func (r *momentSweep) cellBlock(node *momentLevel, c, end int, needNodeHat bool) float64 {
	x, k, job, n := &r.leaf, &r.b.chain, r.job, r.leaf.r
	idx := r.p.LeafEntity[c:end]
	count := end - c
	mean, variance := x.mean[:count], x.variance[:count]
	k.dots(mean, x.core.Mean, idx, node.mean)
	panel, times := x.panel[:count*n], x.times[:count*n]
	k.gatherRows(panel, x.core.Mean, idx, nil, n)
	r.b.dense.multiply(times, n, panel, n, 1, node.cov, n, count, n, n, 0)
	switch {
	case x.core.Var != nil:
		k.dots(variance, x.core.Var, idx, node.second)
	case x.core.Cov != nil:
		k.dots(variance, r.b.square, idx, x.product)
	default:
		clear(variance)
	}
	for i := range variance {
		variance[i] += chainShortDot(panel[i*n:][:n], times[i*n:][:n])
	}
	x.writeMoments(job, c, end)
	if job.Adjoint == backend.None {
		return 0
	}
	e, v, loss := x.adjoints(r.b, job, c, end, 1)
	if x.gradMean != nil {
		k.scatterAdd(x.gradMean, idx, e, node.mean)
		for i, entity := range idx {
			k.axpy(x.gradMean[int(entity)*n:][:n], 2*v[i], times[i*n:][:n])
		}
	}
	if x.gradVar != nil {
		k.scatterAdd(x.gradVar, idx, v, node.second)
	}
	if needNodeHat {
		k.gatherSum(node.meanHat, x.core.Mean, idx, e)
		scaled := x.scaled[:count*n]
		k.gatherRows(scaled, x.core.Mean, idx, v, n)
		r.b.dense.multiply(node.covHat, n, scaled, 1, n, panel, n, n, n, count, 1)
		switch {
		case x.core.Var != nil:
			k.gatherSum(x.sum, x.core.Var, idx, v)
		case x.core.Cov != nil:
			k.gatherSum(x.sum, r.b.square, idx, v)
		}
	}
	return loss
}

// writeMoments writes the moments of cells [c, end) to the job, if requested.
func (x *momentLeaf) writeMoments(job *backend.Job, c, end int) {
	if job.Mean != nil {
		copy(job.Mean[c:end], x.mean[:])
	}
	if job.Var != nil {
		copy(job.Var[c:end], x.variance[:])
	}
}

// adjoints returns the adjoints e of the means and factor times the adjoints v
// of the variances of cells [c, end), whose moments are in x, and their loss.
func (x *momentLeaf) adjoints(b *Backend, job *backend.Job, c, end int, factor float32) (e, v []float32, loss float64) {
	n := end - c
	e, v = x.e[:n], x.v[:n]
	mean, variance := x.mean[:n], x.variance[:n]
	half, d := factor/2, mean
	switch job.Adjoint {
	case backend.Given:
		clear(v)
		if job.VarAdjoint != nil {
			b.chain.axpy(v, factor, job.VarAdjoint[c:end])
		}
		return job.Target[c:end], v, 0
	case backend.Residual:
		half, d = -half, x.difference[:n]
		copy(d, job.Target[c:end])
		b.chain.axpy(d, -1, mean)
	}
	if job.Weight == nil {
		for i := range v {
			v[i] = half
			loss += float64(variance[i])
		}
		return d, v, loss + b.chain.dot(d, d)
	}
	w := job.Weight[c:end]
	clear(v)
	b.chain.axpy(v, half, w)
	b.chain.product(e, w, d)
	return e, v, b.chain.dot(e, d) + b.chain.dot(w, variance)
}
