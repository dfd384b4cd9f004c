package solver

import (
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/backend"
)

// solveMiddle is solve for the free middle core of a train of three with a posterior, if the backend can form
// its equations entity by entity. Each system takes all of its steps at once, without passes.
func (s *conjugateGradient) solveMiddle(p *blockProblem) (stuck int, ok bool) {
	b, c := &p.block, p.train.Cores[p.core]
	systems, ok := p.d.b.(backend.MiddleSystems)
	if !ok || len(p.train.Cores) != 3 || p.core != 1 || !p.hasPosterior() || p.entityWeights != nil ||
		b.Map != nil || b.Multiplier != nil || b.Norm != nil || b.Posterior.Sigma != nil || c.Offset() != nil {
		return 0, false
	}
	size := c.Slices.Slice()
	workers := make([]conjugateGradient, p.d.b.Threads())
	var failures atomic.Int64
	runs, ok := systems.MiddleSystems(p.plan, p.train.Slices(), p.target, p.weight, func(worker, e int, system backend.MiddleSystem) {
		w := &workers[worker]
		if w.residual == nil {
			for _, v := range []*[]float32{&w.residual, &w.direction, &w.image, &w.diagonal, &w.lambda} {
				*v = make([]float32, size)
			}
		}
		if w.solveSystem(p, e, system) {
			failures.Add(1)
		}
	})
	if !ok {
		return 0, false
	}
	p.d.passes++
	runs.Share(b.Value, size)
	runs.Share(b.Posterior.Var, size)
	return int(runs.Sum(failures.Load())), true
}

// solveSystem improves the slice of an entity by p.steps steps and sets its variances. It reports whether a
// step failed.
func (s *conjugateGradient) solveSystem(p *blockProblem, e int, system backend.MiddleSystem) (failed bool) {
	n := len(s.residual)
	own := *p
	own.block.Value = p.block.Value[e*n:][:n]
	variances := p.block.Posterior.Var[e*n:][:n]
	system.Gradient(s.residual, own.block.Value)
	system.Diagonal(s.diagonal)
	rz := 0.0
	for k := range n {
		lambda := float32(p.penalty.At(e, k))
		s.lambda[k] = lambda
		s.residual[k] -= lambda * (own.block.Value[k] - float32(p.penalty.Center(k)))
		s.diagonal[k] += lambda
		s.direction[k] = 0
		if s.diagonal[k] > 0 {
			s.direction[k] = s.residual[k] / s.diagonal[k]
		}
		rz += float64(s.residual[k]) * float64(s.direction[k])
		if lambda > 0 {
			variances[k] = float32(p.noise) / s.diagonal[k]
		}
	}
	goal := cgTolerance * rz
	for step := 0; step < p.steps && rz > goal; step++ {
		system.Multiply(s.image, s.direction)
		rz, failed = s.step(&own, span{0, n}, s.direction, rz, goal)
	}
	return failed
}
