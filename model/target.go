package model

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Target is one of several targets of a model.
type Target = fitrecord.Target

// Targets returns the names of the targets, nil if there is only one.
func (m *Model) Targets() []string {
	var names []string
	for _, t := range m.record.Targets {
		names = append(names, t.Name)
	}
	return names
}

// ForTarget returns the model of one of several targets: a model of tables with that
// column, whose cells do not name the target. It shares the weights. The model of all
// targets predicts standardised values z = (g(y) - Center)/Spread; this one has the scale
// of y, and the noise of z times Spread^2.
func (m *Model) ForTarget(name string) (*Model, error) {
	for code, t := range m.record.Targets {
		if t.Name == name {
			return m.forTarget(int32(code), t), nil
		}
	}
	names := m.Targets()
	return nil, fmt.Errorf("the model has no target %q%s; its targets are %q", name, suggest.Hint(name, names), names)
}

// CheckOneTarget returns an error if cells and tables of the model have several targets.
func (m *Model) CheckOneTarget() error {
	if names := m.Targets(); len(names) > 0 {
		return fielderr.Errorf("data.target", "the model has the targets %q; choose the model of one of them", names)
	}
	return nil
}

func (m *Model) forTarget(code int32, t Target) *Model {
	one := m.copy()
	one.held = tt.Moments{}
	square := t.Scale.Spread * t.Scale.Spread
	if noise := m.noise.Entity; noise != nil {
		own := *noise
		own.Variance *= square
		one.setNoise(Noise{Entity: &own, Entities: m.noise.Entities})
	}
	if noise := m.noise.Constant; noise != nil {
		own := *noise
		own.Variance *= square
		one.setNoise(Noise{Constant: &own})
	}
	one.scale = targetscale.Scale{Transform: t.Scale.Transform, Center: t.Scale.Center + t.Scale.Spread*m.scale.Center, Spread: t.Scale.Spread * m.scale.Spread, NonNegative: t.Scale.NonNegative}
	one.means, one.covariates, one.prefix = nil, m.covariates.ForTarget(code), t.Name+"_"
	one.spec = m.spec.Clone()
	one.spec.Data.Target, one.spec.Transform = t.Name, t.Scale.Transform.Name()
	one.series = m.series.Only(len(m.modes)-1, code)
	one.seen, one.ledger, one.fitted = nil, nil, nil // means of ids and statistics are those of all targets
	one.record = t.Record(m.record)
	return one
}

// checkTargets returns an error unless the targets are those of the last mode, with scales
// that a fit can have.
func checkTargets(targets []Target, m *Model) error {
	if !m.spec.SeveralTargets() && len(targets) == 0 {
		return nil
	}
	ids := m.dicts[len(m.dicts)-1].IDs()
	if !m.modes[len(m.modes)-1].Target() || len(targets) != len(ids) {
		return fmt.Errorf("its record has %d targets, and its last mode %d ids", len(targets), len(ids))
	}
	for i, t := range targets {
		if t.Name != ids[i] || t.Scale.Transform.Linked() {
			return fmt.Errorf("its record has the target %q on the scale %s in place of %q", t.Name, t.Scale.Transform, ids[i])
		}
		if err := t.Scale.Validate(); err != nil {
			return fmt.Errorf("the scale of its target %q: %w", t.Name, err)
		}
	}
	return nil
}
