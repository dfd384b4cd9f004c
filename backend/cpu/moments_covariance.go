package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// The gradient with respect to the covariances of the leaf core is, for every
// entity, the sum of v (u u' + C) over its cells. Nodes are processed in runs
// whose matrices, upper triangles without gaps, fit the caches; then
// every entity adds the matrices of its cells in the run. So workers share
// nothing, and the order of the sums is that of the plan.
const (
	covarianceRun  = 3 << 19 // total number of entries of the matrices of a run
	covarianceTask = 16      // nodes per task; the first one computes its whole chain
)

// leafCovariance computes that gradient, if it is requested.
func (s *moments) leafCovariance() {
	p, b := s.p, s.b
	if s.job.Adjoint == backend.None || p.Leaf >= len(s.job.Grad) || s.job.Grad[p.Leaf].Cov == nil {
		return
	}
	r := p.LeafRank()
	packed := r * (r + 1) / 2
	grad := s.job.Grad[p.Leaf].Cov
	order := p.ByLeaf(b.threads)
	varAdjoints := s.varAdjointsByLeaf(order)
	next := append([]int32(nil), order.Start...)
	run := max(covarianceTask, covarianceRun/packed)
	b.vectors = b.resizeLong(b.vectors, min(run, p.Nodes())*packed)
	entities := p.Shapes[p.Leaf].N
	bounds := b.entityBounds(p, order)
	first, end := b.entityRange(p, bounds)
	step := max(1, entities/256)
	tasks := (end - first + step - 1) / step
	own := grad[first*r*r : end*r*r]
	b.forRanges(len(own), func(from, to int) { clear(own[from:to]) })
	forwardOnly := moments{b: b, p: p, cores: s.cores, job: s.job, grads: make([]momentSums, len(s.cores))}
	prepare := func() {
		for i := range b.workers {
			w := &b.workers[i].moments
			w.moments = &forwardOnly
			w.prepare(0)
		}
	}
	prepare()
	together := bounds != nil && !p.OwnLeaves()
	firstNode, endNode := 0, p.Nodes()
	if p.OwnLeaves() {
		firstNode, endNode = p.Share.OwnNodes()
	}
	for at := 0; at < p.Nodes(); at += run { // the same runs for any number of ranks
		from, to := max(at, firstNode), min(at+run, endNode)
		if from >= to {
			continue
		}
		chain := from
		if p.Share != nil && together {
			forwardOnly.p, chain = p.Chains(from, to), 0 // the chains of these nodes, wherever they are
			prepare()
		}
		work := []int{0, (to - from + covarianceTask - 1) / covarianceTask} // tasks by rank
		rank := 0
		if together {
			work, rank = backend.Even(work[1], b.ranks.Size()), b.ranks.Rank()
		}
		b.forEach(work[rank+1]-work[rank], func(worker, i int) {
			at := (work[rank] + i) * covarianceTask
			b.workers[worker].moments.writeTriangles(b.vectors[at*packed:], chain+at, chain+min(at+covarianceTask, to-from))
		})
		if together {
			for r := range work {
				work[r] = min(to-from, work[r]*covarianceTask)
			}
			backend.GatherValues(b.ranks, b.vectors[:(to-from)*packed], work, packed)
		}
		b.forEach(tasks, func(worker, i int) {
			ws := &b.workers[worker]
			ws.gram = resize(ws.gram, packed)
			for e := first + i*step; e < min(first+(i+1)*step, end); e++ {
				cells := order.Node[next[e]:order.Start[e+1]]
				ws.index = ws.index[:0]
				for len(ws.index) < len(cells) && int(cells[len(ws.index)]) < to {
					ws.index = append(ws.index, cells[len(ws.index)]-int32(from))
				}
				if len(ws.index) == 0 {
					continue
				}
				clear(ws.gram)
				b.chain.gatherSum(ws.gram, b.vectors, ws.index, varAdjoints[next[e]:])
				b.chain.add(grad[e*r*r:][:packed], ws.gram)
				next[e] += int32(len(ws.index))
			}
		})
	}
	b.forEach(tasks, func(worker, i int) {
		for e := first + i*step; e < min(first+(i+1)*step, end); e++ {
			unpackSymmetric(grad[e*r*r:][:r*r], r, 1, &b.workers[worker].gram)
		}
	})
	if bounds != nil && !s.job.OwnEntities {
		backend.GatherValues(b.ranks, grad, bounds, r*r)
	}
}

// writeTriangles writes the upper triangles of u u' + C of nodes [from, to) to
// dst.
func (r *momentSweep) writeTriangles(dst []float32, from, to int) {
	n := r.p.LeafRank()
	packed := n * (n + 1) / 2
	for j := from; j < to; j++ {
		changed := int(r.p.Changed[j])
		if j == from {
			changed = 0
		}
		r.advance(j, changed)
		r.writeTriangle(dst[(j-from)*packed:])
	}
}

// writeTriangle writes the upper triangle of u u' + C of the current node of
// the chain to dst.
func (r *momentSweep) writeTriangle(dst []float32) {
	node := r.node()
	n := len(node.mean)
	for a, u := range node.mean {
		row := dst[:n-a]
		copy(row, node.cov[a*n+a:])
		r.b.chain.axpy(row, u, node.mean[a:])
		dst = dst[n-a:]
	}
}

// packCovariances stores the upper triangles of the leaf core's covariances K
// with all off-diagonal entries doubled: their scalar product with the upper
// triangle of a symmetric matrix A is tr(K A).
func (s *moments) packCovariances() {
	leaf, n := s.cores[s.p.Leaf], s.p.LeafRank()
	if leaf.Cov == nil {
		return
	}
	packed := n * (n + 1) / 2
	s.b.square = resize(s.b.square, leaf.N*packed)
	s.b.forRowRanges(leaf.N, n*n, func(from, to int) {
		for e := from; e < to; e++ {
			k, dst := leaf.Cov[e*n*n:][:n*n], s.b.square[e*packed:]
			for a := range n {
				dst[0] = k[a*n+a]
				for c := 1; c < n-a; c++ {
					dst[c] = 2 * k[a*n+a+c]
				}
				dst = dst[n-a:]
			}
		}
	})
}

// unpackSymmetric expands the upper triangle at the start of m to the whole
// matrix, with the off-diagonal entries times a factor.
func unpackSymmetric(m []float32, n int, factor float32, scratch *[]float32) {
	rest := resize(*scratch, n*(n+1)/2)
	*scratch = rest
	copy(rest, m)
	for a := range n {
		m[a*n+a] = rest[0]
		for c := 1; c < n-a; c++ {
			m[a*n+a+c], m[(a+c)*n+a] = factor*rest[c], factor*rest[c]
		}
		rest = rest[n-a:]
	}
}

// varAdjointsByLeaf returns the adjoints of the variances in the order of the
// leaf core's entities.
func (s *moments) varAdjointsByLeaf(order *backend.LeafOrder) []float32 {
	s.b.scale = s.b.resizeLong(s.b.scale, s.p.Cells())
	dst, job := s.b.scale, s.job
	source, factor := job.Weight, float32(0.5)
	switch job.Adjoint {
	case backend.Residual:
		factor = -0.5
	case backend.Given:
		source, factor = job.VarAdjoint, 1
	}
	if order.Shared() {
		from, to := order.Own()
		if source != nil {
			order.Move(dst, source)
		}
		for i := from; i < to; i++ {
			switch {
			case source != nil:
				dst[i] *= factor
			case job.Adjoint == backend.Given:
				dst[i] = 0
			default:
				dst[i] = factor
			}
		}
		return dst
	}
	s.b.forRanges(len(dst), func(from, to int) {
		switch {
		case source != nil:
			for i, position := range order.Position[from:to] {
				dst[position] = factor * source[from+i]
			}
		case job.Adjoint == backend.Given:
			clear(dst[from:to])
		default:
			for i := from; i < to; i++ {
				dst[i] = factor
			}
		}
	})
	return dst
}
