package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// leafCovariance computes the gradient by the leaf core's covariances, where it
// is wanted: for every entity the sum of v (u u' + C) over its cells.
func (s *moments) leafCovariance() {
	leaf := s.p.Leaf
	if s.job.Adjoint == backend.None || leaf >= len(s.job.Grad) || s.job.Grad[leaf].Cov == nil {
		return
	}
	grad := s.job.Grad[leaf].Cov
	clear(grad)
	r := &s.b.workers[0].moments
	r.moments = s
	r.fit(0)
	n := s.p.LeafRank()
	product := make([]float32, n*n)
	for j := range s.p.Nodes() {
		r.advance(j, int(s.p.Changed[j]))
		node := &unitMoments
		if top := len(r.levels) - 1; top >= 0 {
			node = &r.levels[top]
		}
		copy(product, node.cov)
		s.b.chain.rank1(product, node.mean, node.mean)
		for c := s.p.Start[j]; c < s.p.Start[j+1]; c++ {
			s.b.chain.axpy(grad[int(s.p.LeafEntity[c])*n*n:][:n*n], s.spreadAt(int(c)), product)
		}
	}
}

// spreadAt returns the adjoint v of the variance of a cell.
func (s *moments) spreadAt(c int) float32 {
	w := float32(1)
	if s.job.Weight != nil {
		w = s.job.Weight[c]
	}
	switch {
	case s.job.Adjoint == backend.Residual:
		return -w / 2
	case s.job.Adjoint == backend.Product:
		return w / 2
	case s.job.Spread != nil:
		return s.job.Spread[c]
	}
	return 0
}
