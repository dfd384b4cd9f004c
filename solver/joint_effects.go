package solver

import (
	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/tt"
)

// This file holds the update of the means of all effects at once. An effect is a term of one core, one number
// per entity. Given the other terms, the bound is quadratic in the means m_j of the effects together,
//
//	-1/(2 s2) [ sum_n w_n (r_n - sum_j m_j(n))^2 + sum_j lambda_j |m_j - mu_j|^2 ],    lambda_j = s2/tau_j,
//
// and blocks that are updated in turn approach its maximum slowly where effects can stand in for each other, as
// those of correlated covariates can. Conjugate gradients over all of them need few steps. A step costs a pass
// over the observations for each effect, or a product with the Gram matrix of all of them (joint_gram.go).

// jointEffect is one effect while all are updated.
type jointEffect struct {
	term   int
	core   *tt.Core
	plan   *backend.Plan
	zeros  []backend.Slices
	sums   backend.Slices // one number per entity
	blocks []jointBlock
}

// jointBlock is a block of weights of an effect. An additive core has two.
type jointBlock struct {
	tt.Block
	id                                   int
	penalty                              *blockPenalty
	weights                              int // without the prior slice
	residual, direction, image, diagonal []float32
}

const (
	// jointColumns limits the columns of an effect that is updated with the others. Effects of points and of
	// combinations of ids stay out of it: they take what the others leave.
	jointColumns = 64

	// jointSteps limits the steps of an update of all effects.
	jointSteps = 30

	// jointGain is the gain of the bound per observation at which an update of all effects ends.
	jointGain = 1e-5
)

// hasJointEffects reports whether the means of effects are updated at once: if several of them are curves. Effects of
// ids alone hardly stand in for each other.
func (a *cavi) hasJointEffects() bool {
	if a.d.field.Group != nil || a.d.sites != nil {
		return false
	}
	n := 0
	for i := range a.ids {
		if _, _, b := a.at(i); b.Map != nil && a.isJoint(i) {
			n++
		}
	}
	return n > 1
}

// isJoint reports whether a block is linear in an effect whatever the other blocks are.
func (a *cavi) isJoint(i int) bool {
	t, c, b := a.at(i)
	if len(c.Modes) > 1 || b.Map != nil && b.Map.Rows() > jointColumns {
		return false
	}
	return len(t.train.Cores) == 1 && c.Slices.Slice() == 1 && b.Multiplier == nil && b.Along == nil && b.Norm == nil
}

func (a *cavi) newJointEffects() []*jointEffect {
	var effects []*jointEffect
	for i, at := range a.ids {
		if !a.isJoint(i) {
			continue
		}
		t, c, b := a.at(i)
		if n := len(effects); n == 0 || effects[n-1].term != at.term {
			shape := c.Slices.Shape
			effects = append(effects, &jointEffect{term: at.term, core: c, plan: t.Cheapest, zeros: []backend.Slices{backend.NewSlices(shape)}, sums: backend.NewSlices(shape)})
		}
		block := jointBlock{Block: b, id: i, penalty: a.d.priorPenalty(&b), weights: len(b.Value)}
		if b.Map == nil {
			block.weights = c.Slices.N - 1
		}
		for _, v := range []*[]float32{&block.residual, &block.direction, &block.image, &block.diagonal} {
			*v = make([]float32, len(b.Value))
		}
		e := effects[len(effects)-1]
		e.blocks = append(e.blocks, block)
	}
	return effects
}

// updateJointEffects moves the means of all effects towards their common optimum.
func (a *cavi) updateJointEffects() {
	effects := a.newJointEffects()
	gram := a.gramOf(effects)
	if gram != nil {
		gram.diagonal(effects)
	}
	a.knownLoss = nil
	a.residualFor(noTerm)
	rz := 0.0
	for _, e := range effects {
		a.passEffect(e, backend.Residual)
		for i := range e.blocks {
			e.blocks[i].Adjoint(a.d.b, e.blocks[i].residual, e.sums.Mean, false)
		}
		if gram == nil {
			a.passEffect(e, backend.Given)
		}
		for i := range e.blocks {
			b := &e.blocks[i]
			if gram == nil {
				b.Adjoint(a.d.b, b.diagonal, e.sums.Mean, true)
			}
			lambda, center := float32(b.penalty.At(0, 0)), float32(b.penalty.Center(0))
			for k := range b.weights {
				b.residual[k] -= lambda * (b.Value[k] - center)
				b.diagonal[k] += lambda
				b.direction[k] = b.residual[k] / b.diagonal[k]
				rz += float64(b.residual[k]) * float64(b.direction[k])
			}
		}
	}
	goal := max(jointGain*float64(a.d.noise[0])*float64(len(a.d.y)), cgTolerance*rz)
	if !(rz > goal) {
		return
	}
	for step := 0; step < jointSteps && rz > goal; step++ {
		next := a.jointStep(effects, gram, rz)
		if !(next >= 0) {
			break
		}
		rz = next
	}
	for _, e := range effects {
		e.core.Refresh(a.d.b, e.core.Map != nil)
		for i := range e.blocks {
			a.learnPrior(e.blocks[i].id)
		}
		a.evaluate(e.term)
	}
	a.changed()
	a.updateOffset()
	a.learnNoise()
}

// jointStep takes one step of conjugate gradients and returns the new r'z, or -1 if there is no
// direction in which the bound rises.
func (a *cavi) jointStep(effects []*jointEffect, gram *jointGram, rz float64) float64 {
	if gram != nil {
		a.applyGram(gram, effects)
	} else {
		a.applyEffects(effects)
	}
	curvature := 0.0
	for _, e := range effects {
		for i := range e.blocks {
			b := &e.blocks[i]
			lambda := float32(b.penalty.At(0, 0))
			for k := range b.weights {
				b.image[k] += lambda * b.direction[k]
				curvature += float64(b.image[k]) * float64(b.direction[k])
			}
		}
	}
	alpha, next := float32(rz/curvature), 0.0
	if !(curvature > 0) || alpha-alpha != 0 {
		return -1
	}
	for _, e := range effects {
		for i := range e.blocks {
			b := &e.blocks[i]
			for k := range b.weights {
				b.Value[k] += alpha * b.direction[k]
				b.residual[k] -= alpha * b.image[k]
				next += float64(b.residual[k]) * float64(b.residual[k]) / float64(b.diagonal[k])
			}
		}
	}
	beta := float32(next / rz)
	for _, e := range effects {
		for i := range e.blocks {
			b := &e.blocks[i]
			for k := range b.weights {
				b.direction[k] = b.residual[k]/b.diagonal[k] + beta*b.direction[k]
			}
		}
	}
	return next
}

// applyEffects writes A'WA times the direction to the image of each block, by passes over the observations.
func (a *cavi) applyEffects(effects []*jointEffect) {
	terms := make([]int, len(effects))
	for i, e := range effects {
		terms[i] = e.term
		e.blocks[0].Apply(a.d.b, e.sums.Mean, e.blocks[0].direction)
		for j := range e.blocks[1:] {
			b := &e.blocks[1+j]
			part := make([]float32, len(e.sums.Mean))
			b.Apply(a.d.b, part, b.direction)
			for k, v := range part {
				e.sums.Mean[k] += v
			}
		}
		a.obs.Refresh(e.term, []backend.Slices{e.sums}, false)
	}
	a.obs.SumOf(terms)
	for _, e := range effects {
		a.passEffect(e, backend.Residual)
		for i := range e.blocks {
			e.blocks[i].Adjoint(a.d.b, e.blocks[i].image, e.sums.Mean, false)
		}
	}
}

// passEffect sums the weighted target over the observations of each entity, for backend.Given the weights.
func (a *cavi) passEffect(e *jointEffect, adjoint backend.Adjoint) {
	target, weight := a.obs.InPlanOrder(e.plan)
	job := &backend.Job{Adjoint: adjoint, GradientsOnly: true, Target: target, Weight: weight, Grad: []backend.Slices{{Shape: e.sums.Shape, Mean: e.sums.Mean}}}
	if adjoint == backend.Given {
		if job.Target, job.Weight = weight, nil; weight == nil {
			job.Target = a.d.ones(e.plan)
		}
	}
	a.d.pass(e.plan, e.zeros, job)
}
