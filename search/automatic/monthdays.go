package automatic

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

const (
	monthsOfDays     = 6   // least number of months with training days from which effects of days of the month are offered
	leastMonthExcess = 3.0 // standard deviations by which the differences between days of the month must exceed chance
)

// chooseMonthDays offers effects of the day of the month, or of the workday of the month, as paydays and payments have
// them, also in an amount per id. Most tables have none, so the days are looked at first: this takes no fit. The
// candidates are compared on divisions of whole months, because a series that knows the days around
// a day knows much of what the first ten days of a month have in common.
func (c *chooser) chooseMonthDays(ctx context.Context) error {
	at := c.data.TimeMode()
	if at < 0 || c.quick() || c.late() || !c.hasResiduals() || c.data.Count(dataset.Valid) == 0 {
		return nil
	}
	days := c.data.Days(at)
	if len(days) == 0 {
		return nil
	}
	part := partOfMonth(c.data.DayMeans(days, at, c.entities()))
	if part == "" {
		return nil
	}
	folds, err := c.data.FoldsOfMonths(days, at, daysFolds)
	if err != nil || len(folds) == 0 {
		return err
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	defer c.compareOn(folds)()
	name := c.modes[at] + "." + part
	terms = append(terms, spec.Term{Cores: [][]string{{name}}})
	candidates := []candidate{{"none", c.spec}, {part, c.withTerms(terms)}}
	var own []spec.Term
	for _, m := range c.entities() {
		if 2*c.sizes[m] < c.rows {
			own = append(own, spec.Term{Cores: [][]string{{c.modes[m]}, {name}}, Ranks: []int{1}})
		}
	}
	if len(own) > 0 {
		candidates = append(candidates, candidate{part + ", amounts of each id", c.withTerms(slices.Concat(terms, own))})
	}
	return c.compare(ctx, "days of the month", candidates)
}

func firstOfMonth(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// partOfMonth returns the part of the date, monthday or workday, by whose levels the values of days differ most, or "" if
// they do not differ by more than chance. With values z less the median of their weekday and the mean of their month, limited to
// largestDay, n(l) days of L levels and the mean square v,
//
//	excess = (sum over l of n(l) mean(l)^2 / v - (L - 1)) / sqrt(2 (L - 1)).
func partOfMonth(values map[time.Time]float64) string {
	dates := sortedDays(values)
	centres := medians(dates, values, func(t time.Time) int { return int(t.Weekday()) })
	sum, count := map[time.Time]float64{}, map[time.Time]float64{}
	for _, t := range dates {
		month := firstOfMonth(t)
		sum[month] += values[t] - centres[int(t.Weekday())]
		count[month]++
	}
	if len(count) < monthsOfDays {
		return ""
	}
	z, sizes := make([]float64, len(dates)), make([]float64, len(dates))
	for i, t := range dates {
		month := firstOfMonth(t)
		z[i] = values[t] - centres[int(t.Weekday())] - sum[month]/count[month]
		sizes[i] = math.Abs(z[i])
	}
	slices.Sort(sizes)
	sd := sizes[len(sizes)/2] / 0.6745 // of the normal distribution with this median
	squares := 0.0
	for i := range z {
		if sd > 0 {
			z[i] = max(-largestDay, min(z[i]/sd, largestDay))
		}
		squares += z[i] * z[i]
	}
	best, largest := "", leastMonthExcess
	for _, part := range []string{"monthday", "workday"} {
		var total, n [1 << 6]float64 // by level
		for i, t := range dates {
			text, _ := dataset.Calendar(part, t)
			level, _ := strconv.Atoi(text)
			total[level&63] += z[i]
			n[level&63]++
		}
		explained, levels := 0.0, -1.0
		for l := range total {
			if n[l] > 0 {
				explained += total[l] * total[l] / n[l]
				levels++
			}
		}
		if levels < 1 {
			continue // such as workdays where all days are weekends
		}
		if excess := (explained/squares*float64(len(z)) - levels) / math.Sqrt(2*levels); excess > largest {
			best, largest = part, excess
		}
	}
	return best
}
