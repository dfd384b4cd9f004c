package search

import (
	"context"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/spec"
)

// chooseCalendar offers effects of parts of the date, such as time.month and
// store*time.weekday, if the validation rows come after the training rows. The time
// itself has no training rows there, but its month has.
func (c *chooser) chooseCalendar(ctx context.Context) error {
	time := c.data.TimeMode()
	if time < 0 || c.quick() || !strings.HasPrefix(c.spec.Split, "time:") && c.data.Familiar() >= 0.5 {
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
		terms = append(terms, spec.Term{Cores: [][]string{{name}}})
	}
	return c.compare(ctx, "parts of the date", []candidate{{"none", c.spec}, {strings.Join(parts, ", "), c.withTerms(slices.Clone(terms))}})
}
