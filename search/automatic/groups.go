package automatic

import (
	"context"
	"strings"

	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Rules of the columns of side tables whose groups are offered.
const (
	leastGroups  = 3
	mostGroups   = 500
	groupColumns = 2 // of a side table
)

// chooseGroups offers, where the validation rows are of new ids, effects of categories of
// the side tables with the largest other mode, as in store*item.category: the regression
// of a train has only as many components as its rank, while each store may like categories
// in its own way. With known ids they would add little to the effects of pairs.
func (c *chooser) chooseGroups(ctx context.Context) error {
	informed, err := c.informedModes()
	if err != nil || len(informed) == 0 || c.quick() || c.late() || !c.newIDs() || len(c.modes) < 2 {
		return err
	}
	s := c.spec
	if s.Uncertainty.Noise == spec.Auto {
		s.Uncertainty.Noise = "constant"
	}
	crps, r, err := c.fit(ctx, s, c.data)
	if err != nil {
		if c.skips(err) {
			return nil
		}
		return err
	}
	c.scores[string(s.YAML())] = &score{divisions: []float64{crps}}
	var groups []spec.Term
	var texts []string
	for _, side := range r.Side {
		other := c.largestBut(side.Mode)
		taken := 0
		for _, column := range side.Table.Columns {
			if other == "" || taken == groupColumns || column.Type != sideinfo.Cat || column.Constant || column.Levels < leastGroups || column.Levels > mostGroups || 2*column.Levels > side.Table.Entities {
				continue
			}
			t := spec.Term{Cores: [][]string{{other, side.Mode + "." + column.Name}}}
			if _, err := spec.ParseTerm(t.String(), c.spec.ModeNames()); err != nil {
				continue // a name with signs of the grammar
			}
			taken++
			groups, texts = append(groups, t), append(texts, t.String())
		}
	}
	if len(groups) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	at := 0 // after the trains, which explain what they can
	for at < len(terms) && len(terms[at].Ranks) > 0 {
		at++
	}
	with := append(append(append([]spec.Term{}, terms[:at]...), groups...), terms[at:]...)
	return c.compare(ctx, "effects of categories", []candidate{{"none", c.spec}, {strings.Join(texts, ", "), c.withTerms(with)}})
}

// largestBut returns the mode with the most ids that is neither a time nor the given one,
// "" if there is none.
func (c *chooser) largestBut(name string) string {
	best, size := "", 0
	for m, mode := range c.modes {
		if mode != name && !c.data.IsCalendar(m) && m != c.data.TimeMode() && c.sizes[m] > size {
			best, size = mode, c.sizes[m]
		}
	}
	return best
}
