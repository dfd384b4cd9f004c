package automatic

import (
	"context"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/spec"
)

// chooseCalendar offers effects of parts of the date, such as store*time.weekday, those of
// each series, and those that all ids share: few series have few rows of each time, but many of its hour.
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
		terms = append(terms, spec.Term{Cores: [][]string{{name}}})
	}
	label := strings.Join(parts, ", ")
	candidates := []candidate{{"none", c.spec}, {label, c.withTerms(terms)}}
	if own := c.partsOfSeries(parts); len(own) > 0 {
		candidates = append(candidates, candidate{label + ", effects of each series", c.withTerms(slices.Concat(terms, own))})
	}
	return c.compare(ctx, "parts of the date", candidates)
}

// partsOfSeries returns an effect of each part of the date for every series, where the series
// have several rows of a part. Those of a single mode are effects already.
func (c *chooser) partsOfSeries(parts []string) []spec.Term {
	time, entities := c.data.TimeMode(), c.entities()
	var own []spec.Term
	for _, part := range parts {
		if n := c.data.CombinationsWith(entities, time, part); len(entities) > 1 && 1.5*float64(n) <= float64(c.rows) {
			own = append(own, spec.Term{Cores: [][]string{append(c.names(entities...), c.modes[time]+"."+part)}})
		}
	}
	return own
}
