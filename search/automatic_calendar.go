package search

import (
	"context"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/spec"
)

// chooseCalendar offers effects of parts of the date: store*time.weekday, and, if the
// validation rows come after the training rows, also time.weekday. The time itself has no
// training rows there, but its weekday has. Otherwise the effect of the time contains it.
func (c *chooser) chooseCalendar(ctx context.Context) error {
	time := c.data.TimeMode()
	future := strings.HasPrefix(c.spec.Split, "time:") || c.data.Familiar() < 0.5
	if time < 0 || c.quick() || !future && c.rows > c.effort.rows {
		return nil
	}
	parts := c.data.CalendarParts(time)
	if len(parts) == 0 {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	for _, part := range parts {
		name := c.modes[time] + "." + part
		for m, mode := range c.modes {
			if m != time && c.sizes[m]*2 < c.rows {
				terms = append(terms, spec.Term{Cores: [][]string{{mode, name}}})
			}
		}
		if future {
			terms = append(terms, spec.Term{Cores: [][]string{{name}}})
		}
	}
	return c.compare(ctx, "parts of the date", []candidate{{"none", c.spec}, {strings.Join(parts, ", "), c.withTerms(slices.Clone(terms))}})
}
