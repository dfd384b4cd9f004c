package cpu

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend"
)

// moments is one call of Pass with second moments: what its shards share.
//
// Along the chain go the mean u and the covariance C of the product so far. With
// G the slice as it acts on u (the slice itself where the leaf core is the
// first, its transpose where it is the last) and S its variances,
//
//	u <- G u,   C <- G C G' + diag(S (u^2 + diag C)),
//
// and a cell with leaf row m, variances s has E f = m.u and
// Var f = m'C m + s.(u^2 + diag C).
type moments struct {
	b     *Backend
	p     *backend.Plan
	cores []backend.Slices
	job   *backend.Job

	grads   []momentSums // by core
	private int          // length of a shard's own sums
}

// momentSums says where the gradients of a core are summed.
type momentSums struct{ mean, variance sink }

// sink is one gradient: nil where it is not wanted; summed in place where
// shards do not share it, else by each shard at an offset of its own memory.
type sink struct {
	dst    []float32
	offset int
	shared bool
}

// passSecond is Pass with second moments.
func (b *Backend) passSecond(p *backend.Plan, cores []backend.Slices, job *backend.Job) float64 {
	s := moments{b: b, p: p, cores: cores, job: job}
	s.check()
	loss := 0.0
	switch {
	case !s.sweeps():
	case s.paired():
		loss = s.passPair()
	default:
		loss = s.passNodes()
	}
	s.leafCovariance()
	return loss
}

// passNodes sweeps the nodes and returns the loss.
func (s *moments) passNodes() float64 {
	shards := len(s.p.Shards) - 1
	s.laySums(shards)
	s.packCovariances()
	losses := make([]float64, shards)
	s.b.each(shards, func(worker, i int) { losses[i] = s.shard(&s.b.workers[worker].moments, i) })
	s.addSums(shards)
	loss := 0.0
	for _, l := range losses {
		loss += l
	}
	return loss
}

// check panics where more is wanted than is offered.
func (s *moments) check() {
	for core, g := range s.job.Grad {
		if g.Cov != nil && core != s.p.Leaf {
			panic(fmt.Sprintf("cpu: the gradient by the covariances of core %d is wanted, the leaf core is %d", core, s.p.Leaf))
		}
	}
}

// sweeps tells whether anything is wanted beside the leaf core's covariances,
// whose gradient needs no cell's moments.
func (s *moments) sweeps() bool {
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

// laySums finds room for the shards' own sums.
func (s *moments) laySums(shards int) {
	s.grads = make([]momentSums, len(s.cores))
	if s.job.Adjoint == backend.None {
		return
	}
	owner := -1
	if s.p.Owner >= 0 {
		owner = s.p.Chain[s.p.Owner]
	}
	for core, g := range s.job.Grad {
		lay := func(dst []float32) sink {
			k := sink{dst: dst, shared: dst != nil && core != owner}
			if k.shared {
				k.offset = s.private
				s.private += (len(dst) + 15) &^ 15
			}
			return k
		}
		s.grads[core] = momentSums{lay(g.Mean), lay(g.Var)}
	}
	s.b.arena = resize(s.b.arena, shards*s.private)
}

// of returns where a shard sums a gradient, nil where it is not wanted.
func (s *moments) of(k sink, shard int) []float32 {
	if k.shared {
		return s.b.arena[shard*s.private+k.offset:][:len(k.dst)]
	}
	return k.dst
}

// addSums adds the shards' sums in their order.
func (s *moments) addSums(shards int) {
	for _, g := range s.grads {
		for _, k := range []sink{g.mean, g.variance} {
			if !k.shared {
				continue
			}
			s.b.pieces(len(k.dst), func(from, to int) {
				sum := s.of(k, 0)[from:to]
				for shard := 1; shard < shards; shard++ {
					s.b.chain.add(sum, s.of(k, shard)[from:to])
				}
				copy(k.dst[from:to], sum)
			})
		}
	}
}
