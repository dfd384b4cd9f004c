package automatic

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
	var interactions, slopes []spec.Term // curves per id, and a few curves of all ids in the measure of each
	modes := interactingModes
	if len(c.others) > manyCovariates {
		modes = 1
		if c.hasResiduals() && !c.future() && !c.single() {
			modes = 0
		}
	}
	for k := range c.others {
		for _, m := range c.bySize(modes) {
			if m != c.data.TimeMode() && float64(c.sizes[m])*rowsPerCurve <= float64(c.rows) {
				p := c.pairOf(m, len(c.modes)+k)
				interactions, slopes = append(interactions, p.curves()), append(slopes, p.trains())
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
	offer := func(interactions []spec.Term) {
		texts := make([]string, len(interactions))
		for i, t := range interactions {
			texts[i] = t.String()
		}
		if value := "effects and " + strings.Join(texts, ", "); value != candidates[len(candidates)-1].value {
			candidates = append(candidates, candidate{value, with(interactions, effects)})
		}
	}
	if !c.quick() && len(interactions) > 0 {
		offer(interactions)
		if !c.future() {
			offer(slopes)
		}
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
