package search

import (
	"context"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

// interactingModes is the number of modes, those with the most ids, whose interactions with all
// covariates are offered; of many covariates none are where choosePairs follows, otherwise those
// with the largest mode.
const (
	interactingModes = 2
	manyCovariates   = 12
)

// chooseCovariates offers the effects of covariates, and their interactions with the
// largest modes: item*price gives each item a curve of its own. What the data does not
// support, its learned variance removes. With little effort only the effects are taken.
func (c *chooser) chooseCovariates(ctx context.Context) error {
	if len(c.others) == 0 || len(c.modes) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	effects := c.curves()
	var interactions []spec.Term
	modes := interactingModes
	if len(c.others) > manyCovariates {
		modes = 1
		if c.hasResiduals() && !c.future() && !c.single() {
			modes = 0
		}
	}
	for _, name := range c.others {
		for _, m := range c.bySize(modes) {
			if m != c.data.TimeMode() && float64(c.sizes[m])*rowsPerCurve <= float64(c.rows) {
				interactions = append(interactions, spec.Term{Cores: [][]string{c.names(m)}})
				core := &interactions[len(interactions)-1].Cores[0]
				*core = append(*core, name)
			}
		}
	}
	with := func(more ...[]spec.Term) spec.Spec {
		all := terms
		for _, list := range more {
			all = append(all[:len(all):len(all)], list...)
		}
		return c.withTerms(all)
	}
	names := strings.Join(c.others, ", ")
	candidates := []candidate{{"effects of " + names, with(effects)}}
	if !c.quick() && c.data.Count(dataset.Valid) > 0 && !c.late() {
		candidates = []candidate{{"none", c.spec}, candidates[0]} // rows to predict need covariates, so they must help
	}
	if !c.quick() && len(interactions) > 0 {
		var texts []string
		for _, t := range interactions {
			texts = append(texts, t.String())
		}
		candidates = append(candidates, candidate{"effects and " + strings.Join(texts, ", "), with(interactions, effects)})
	}
	return c.compare(ctx, "covariates", candidates)
}

// curves returns the effects of the covariates.
func (c *chooser) curves() []spec.Term {
	var effects []spec.Term
	for _, name := range c.others {
		effects = append(effects, spec.Term{Cores: [][]string{{name}}})
	}
	return effects
}

// rowsPerCurve is the least number of rows per curve of an interaction.
const rowsPerCurve = 20.0
