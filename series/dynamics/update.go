package dynamics

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/series"
)

// rounds is the number of visits to each entry in an update. Entries of other cores that
// are nearly orthogonal need one.
const rounds = 4

// Equations are the data of the slices of a core. Arrays are laid out as its slices, by
// entity and entry.
type Equations struct {
	Mean, Variance []float32 // of the slices; Update replaces them. Variance may be nil

	// Gradient is g - H G at the means, Curvature is H.
	Gradient  []float32
	Curvature func(entity, i, j int) float64
	Noise     float64 // s2
}

// Update sets the posterior of each entry to its optimum given the others, several times,
// and with learn also its prior, by its evidence. No step lowers the evidence bound.
func (p *Paths) Update(e Equations, learn bool) {
	n, steps := p.Entries(), len(p.Step)
	gradient, moment := make([]float64, steps*n), make([]float64, steps*n) // by step
	curvature := make([]float64, steps*n*n)
	place := make([]int, len(p.Of))
	for entity, step := range p.Of {
		t, _ := slices.BinarySearch(p.Step, step)
		place[entity] = t
		for i := range n {
			moment[t*n+i] = float64(e.Mean[entity*n+i])
			for j := range n {
				curvature[(t*n+i)*n+j] += e.Curvature(entity, i, j)
			}
		}
	}
	// Entities of the same step, whose ids write one period differently, may start apart.
	for entity, t := range place {
		for i := range n {
			g := float64(e.Gradient[entity*n+i])
			for j := range n {
				g += e.Curvature(entity, i, j) * (float64(e.Mean[entity*n+j]) - moment[t*n+j])
			}
			gradient[t*n+i] += g
		}
	}
	mean, variance := make([]float32, steps), make([]float32, steps)
	spread := make([]float32, steps*n)
	for round := range rounds {
		for k := range n {
			fresh := p.setSites(k, gradient, moment, curvature, e.Noise)
			s := p.process(k)
			if learn && round == 0 {
				p.learn(k, s, fresh)
			}
			s.Smooth(1, mean, variance)
			for t := range steps {
				by := float64(mean[t]) - moment[t*n+k]
				moment[t*n+k], spread[t*n+k] = float64(mean[t]), variance[t]
				for j := range n {
					gradient[t*n+j] -= curvature[(t*n+j)*n+k] * by
				}
			}
		}
	}
	for entity, t := range place {
		for k := range n {
			e.Mean[entity*n+k] = float32(moment[t*n+k])
			if e.Variance != nil {
				e.Variance[entity*n+k] = spread[t*n+k]
			}
		}
	}
}

// searched is the number of sites up to which every update searches for the prior of each
// entry from the start. The first updates see other cores that are random, from which single
// steps may not find the way back: a walk can take the place of a season. Without a walk they do.
const searched = 4000

// learn improves the prior of entry k, whose process is s.
func (p *Paths) learn(k int, s *series.Process, fresh bool) {
	s.Learn(1, fresh)
	if !fresh && len(p.Value) <= searched && p.Prior.Walk > 0 {
		again := *s
		again.Prior = p.Prior
		again.Learn(1, true)
		mean, variance := make([]float32, len(p.Step)), make([]float32, len(p.Step))
		_, known := s.Smooth(1, mean, variance)
		if _, found := again.Smooth(1, mean, variance); found > known {
			s.Prior = again.Prior
		}
	}
	p.setPrior(k, s.Prior)
}

// setSites sets the sites of entry k and reports whether it had none.
func (p *Paths) setSites(k int, gradient, moment, curvature []float64, noise float64) (fresh bool) {
	n := p.Entries()
	fresh = true
	for t := range p.Step {
		at := t*n + k
		fresh = fresh && p.Precision[at] == 0
		p.Value[at], p.Precision[at] = 0, 0
		if h := curvature[at*n+k]; h > 0 {
			p.Value[at], p.Precision[at] = float32(moment[at]+gradient[at]/h), float32(h/noise)
		}
	}
	return fresh
}
