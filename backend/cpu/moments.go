package cpu

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
)

// moments is one call of Pass with second moments: the data that its shards
// share.
//
// The mean u and the covariance C of the product so far are propagated along
// the chain. With G the slice as it acts on u (the slice itself if the leaf
// core is the first, its transpose if it is the last) and S its variances,
//
//	u <- G u,   C <- G C G' + diag(S (u^2 + diag C)),
//
// and a cell with leaf row m, variances s has E f = m.u and Var f = m'C m +
// s.(u^2 + diag C).
//
// In names and formulas of these files a hat (Hat, uhat) marks an adjoint.
type moments struct {
	b     *Backend
	p     *backend.Plan
	cores []backend.Slices
	job   *backend.Job
	division

	grads   []momentSums // by core
	private int          // length of the sums that a shard keeps for itself
}

// momentSums records where the gradients of a core are summed.
type momentSums struct{ mean, variance, covariance sink }

// sink is one gradient. dst is nil if it is not requested. It is summed in
// place if shards do not share it, otherwise by each shard at an offset of its
// own memory.
type sink struct {
	dst    []float32
	offset int
	shared bool
}

// passSecondMoments is Pass with second moments.
func (b *Backend) passSecondMoments(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	s := moments{b: b, p: p, cores: cores, job: job, division: b.divide(p)}
	s.check()
	loss := 0.0
	switch {
	case !s.needsSweep():
	case s.onlyLeafEquations():
		s.leafRightSides()
		s.leafCovariance()
		s.subtractProducts()
		return 0
	case s.isPair():
		loss = s.passPair()
	default:
		loss = s.passNodes()
	}
	s.leafCovariance()
	return loss
}

// passNodes processes the nodes and returns the loss.
func (s *moments) passNodes() float64 {
	s.allocateSums()
	s.packCovariances()
	losses := make([]float64, len(s.p.Shards)-1)
	s.b.forEachShard(s.p, s.division, func(worker, i int) { losses[i] = s.shard(&s.b.workers[worker].moments, i) })
	s.reduceSums()
	owner := s.grads[s.p.Alone]
	return s.gatherPass(s.p, losses, s.job, owner.mean.dst, owner.variance.dst)
}

// check panics if the job requests a gradient that is not available.
func (s *moments) check() {
	for core, g := range s.job.Grad {
		if g.Cov != nil && !s.p.HasCovariances(core, s.cores) {
			panic(fmt.Sprintf("cpu: the gradient with respect to the covariances of core %d is requested, but the leaf core is %d", core, s.p.Leaf))
		}
	}
}

// needsSweep reports whether anything is requested in addition to the gradient with
// respect to the covariances of the leaf core, which does not need the moments
// of cells.
func (s *moments) needsSweep() bool {
	if s.job.Adjoint != backend.Given || s.job.Mean != nil || s.job.Var != nil {
		return true
	}
	for core := range s.job.Grad {
		if s.wanted(core) {
			return true
		}
	}
	return false
}

// allocateSums allocates memory for the shards' own sums.
func (s *moments) allocateSums() {
	s.grads = make([]momentSums, len(s.cores))
	if s.job.Adjoint == backend.None {
		return
	}
	for core, g := range s.job.Grad {
		lay := func(dst []float32) sink {
			k := sink{dst: dst, shared: dst != nil && core != s.p.Alone}
			if k.shared {
				k.offset = s.private
				s.private += (len(dst) + 15) &^ 15
			}
			return k
		}
		s.grads[core] = momentSums{mean: lay(g.Mean), variance: lay(g.Var)}
		if core != s.p.Leaf {
			s.grads[core].covariance = lay(g.Cov)
		}
	}
	s.b.arena = s.b.resizeLong(s.b.arena, s.count()*s.private)
}

// sumOf returns the memory where a shard sums a gradient, nil if that gradient
// is not requested.
func (s *moments) sumOf(k sink, shard int) []float32 {
	if k.shared {
		return s.b.arena[(shard-s.first)*s.private+k.offset:][:len(k.dst)]
	}
	return k.dst
}

// reduceSums adds the sums of the shards in order.
func (s *moments) reduceSums() {
	for _, g := range s.grads {
		for _, k := range []sink{g.mean, g.variance, g.covariance} {
			if !k.shared {
				continue
			}
			sum := s.b.sumShards(&s.division, func(shard int) []float32 { return s.sumOf(k, shard) })
			s.b.forRanges(len(k.dst), func(from, to int) { copy(k.dst[from:to], sum[from:to]) })
		}
	}
}
