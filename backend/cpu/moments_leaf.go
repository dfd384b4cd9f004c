package cpu

import "github.com/kernel-fried-tensor/kft/backend"

// The gradients with respect to the means m and the covariances of the leaf core are those of its normal
// equations. With the second moments uu' + C of the product of the other cores, summed over the cells of an
// entity,
//
//	Ghat = sum w y u - H m,   Khat = -H/2,   H = sum w (uu' + C),
//
// so where only these two are requested, the first is a pass without second moments, and no moments of
// cells are needed.

// onlyLeafEquations reports whether the job asks for these two gradients only.
func (s *moments) onlyLeafEquations() bool {
	job, leaf := s.job, s.p.Leaf
	if job.Adjoint != backend.Residual || !job.GradientsOnly || job.Mean != nil || job.Var != nil || len(s.p.Chain) < 2 || leaf >= len(job.Grad) {
		return false
	}
	for core := range job.Grad {
		if core != leaf && s.wanted(core) {
			return false
		}
	}
	g := job.Grad[leaf]
	return g.Mean != nil && g.Cov != nil && g.Var == nil
}

// leafRightSides sets the gradient of the means to sum w y u.
func (s *moments) leafRightSides() {
	b, target := s.b, s.job.Target
	if w := s.job.Weight; w != nil {
		b.target = b.resizeLong(b.target, len(target))
		b.forRanges(len(target), func(from, to int) { b.chain.product(b.target[from:to], w[from:to], target[from:to]) })
		target = b.target
	}
	grad := make([]backend.Slices, len(s.job.Grad))
	grad[s.p.Leaf] = backend.Slices{Shape: s.job.Grad[s.p.Leaf].Shape, Mean: s.job.Grad[s.p.Leaf].Mean}
	b.Pass(s.p, s.cores, &backend.Job{Adjoint: backend.Given, Target: target, GradientsOnly: true, Local: s.job.Local, OwnEntities: s.job.OwnEntities, Grad: grad})
}

// subtractProducts adds -H m, given -H/2 in the gradient of the covariances.
func (s *moments) subtractProducts() {
	grad, core, b := s.job.Grad[s.p.Leaf], s.cores[s.p.Leaf], s.b
	r := s.p.LeafRank()
	first, end := 0, core.N
	if s.job.OwnEntities {
		if bounds := b.entityBounds(s.p, s.p.ByLeaf(b.threads)); bounds != nil {
			first, end = b.entityRange(s.p, bounds)
		}
	}
	b.forRowRanges(end-first, r*r, func(from, to int) {
		for e := first + from; e < first+to; e++ {
			mean := core.Mean[e*r:][:r]
			for i := range r {
				sum := 0.0
				for j, h := range grad.Cov[(e*r+i)*r:][:r] {
					sum += float64(h) * float64(mean[j])
				}
				grad.Mean[e*r+i] += float32(2 * sum)
			}
		}
	})
}
