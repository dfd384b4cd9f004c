package dynamics

import (
	"errors"
	"slices"

	"github.com/kernel-fried-tensor/kft/series"
)

// Paths are the entries of the slices of a core along time, with their priors and sites.
// The means and variances of slices, which follow from them, are in the core.
type Paths struct {
	// Prior is the prior from which each entry starts to learn. Its components are those
	// of all entries.
	Prior series.Prior

	// Learned has the parameters of each entry, as series.Prior.Values returns them.
	Learned []float32

	Step             []int32   // of the sites: ascending
	Value, Precision []float32 // sites, by step and entry; precision 0 is a step without data

	Of []int32 // by entity of the core: its step, which need not be one of a site
}

// New returns paths without data for slices with a number of entries. of has the step of
// each entity of the core.
func New(prior series.Prior, of []int32, entries int) *Paths {
	p := &Paths{Prior: prior, Of: of, Step: slices.Compact(slices.Sorted(slices.Values(of)))}
	p.Resize(entries)
	return p
}

// Resize sets the number of entries and forgets what was learned.
func (p *Paths) Resize(entries int) {
	p.Value, p.Precision = make([]float32, entries*len(p.Step)), make([]float32, entries*len(p.Step))
	p.Learned = nil
	for range entries {
		p.Learned = append(p.Learned, p.Prior.Values()...)
	}
}

// Reset forgets what was learned.
func (p *Paths) Reset() {
	if p != nil {
		p.Resize(p.Entries())
	}
}

// Keep keeps some entries.
func (p *Paths) Keep(entries []int) {
	old, n, width := *p, p.Entries(), p.width()
	p.Resize(len(entries))
	for i, k := range entries {
		copy(p.Learned[i*width:][:width], old.Learned[k*width:])
		for t := range p.Step {
			p.Value[t*len(entries)+i], p.Precision[t*len(entries)+i] = old.Value[t*n+k], old.Precision[t*n+k]
		}
	}
}

// width is the number of parameters of an entry.
func (p *Paths) width() int { return len(p.Prior.Values()) }

// Entries returns the number of entries of a slice.
func (p *Paths) Entries() int { return len(p.Learned) / p.width() }

// Arrays returns all learned numbers. They share memory with the paths.
func (p *Paths) Arrays() [][]float32 {
	if p == nil {
		return nil
	}
	return [][]float32{p.Learned, p.Value, p.Precision}
}

// PriorOf returns the prior of entry k.
func (p *Paths) PriorOf(k int) series.Prior {
	q := p.Prior
	q.Seasons = slices.Clone(q.Seasons)
	q.SetValues(p.Learned[k*p.width():])
	return q
}

func (p *Paths) setPrior(k int, q series.Prior) { copy(p.Learned[k*p.width():], q.Values()) }

// process returns entry k as a process of one series. Its sites are copies.
func (p *Paths) process(k int) *series.Process {
	n := p.Entries()
	s := &series.Process{Prior: p.PriorOf(k), Start: []int32{0, int32(len(p.Step))}, Step: p.Step,
		Value: make([]float32, len(p.Step)), Precision: make([]float32, len(p.Step))}
	for t := range p.Step {
		s.Value[t], s.Precision[t] = p.Value[t*n+k], p.Precision[t*n+k]
	}
	return s
}

// Scale adapts sites and priors to slices that are multiplied by a number.
func (p *Paths) Scale(by float64) {
	if p == nil {
		return
	}
	for i := range p.Value {
		p.Value[i] *= float32(by)
		p.Precision[i] /= float32(by * by)
	}
	for k := range p.Entries() {
		p.setPrior(k, p.PriorOf(k).Scaled(by*by))
	}
}

// Divergences returns for each entry the divergence of its posterior from its prior.
func (p *Paths) Divergences() []float64 {
	out := make([]float64, p.Entries())
	mean, variance := make([]float32, len(p.Step)), make([]float32, len(p.Step))
	for k := range out {
		out[k], _ = p.process(k).Smooth(1, mean, variance)
	}
	return out
}

// Divergence returns the sum of Divergences.
func (p *Paths) Divergence() float64 {
	sum := 0.0
	for _, v := range p.Divergences() {
		sum += v
	}
	return sum
}

// Extended returns paths of a core with further entities, given their steps.
func (p *Paths) Extended(steps []int32) *Paths {
	q := *p
	q.Of = slices.Concat(p.Of, steps)
	return &q
}

var errShape = errors.New("dynamics: the sites of a core along time do not fit its slices")

// Check returns an error unless the paths are possible and belong to slices of a number of
// entries; those of a file may come from anywhere.
func (p *Paths) Check(entries int) error {
	if err := p.Prior.Check(); err != nil {
		return err
	}
	if n := entries * len(p.Step); len(p.Learned) != entries*p.width() || len(p.Value) != n || len(p.Precision) != n {
		return errShape
	}
	for k := range entries {
		if err := p.process(k).Check(); err != nil {
			return err
		}
	}
	return nil
}
