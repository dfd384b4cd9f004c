package search

import (
	"context"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/spec"
)

// chooseCalendar offers effects of parts of the date, such as store*time.weekday. An effect
// of time.weekday alone is part of that of the time.
func (c *chooser) chooseCalendar(ctx context.Context) error {
	time := c.data.TimeMode()
	if time < 0 || c.quick() || c.rows > c.effort.rows {
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
	}
	return c.compare(ctx, "parts of the date", []candidate{{"none", c.spec}, {strings.Join(parts, ", "), c.withTerms(slices.Clone(terms))}})
}
