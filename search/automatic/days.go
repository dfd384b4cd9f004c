package automatic

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

const (
	yearsOfDays = 2.0 // years of days from which single days of the year are looked for
	daysFolds   = 3   // divisions of the days, each of which is predicted from the others
	mostDays    = 40  // rules of days, at most
	largestDay  = 3.0 // error of a day, in standard deviations
	leastDay    = 4.0 // standard errors by which the mean error of the days of a rule must differ from 0
)

// chooseDays offers effects of single days of the year, as holidays have them. Few days differ from those
// around them, and an effect of every day would be more than some years of days support, so the
// days are looked for first.
func (c *chooser) chooseDays(ctx context.Context) error {
	at := c.data.TimeMode()
	if at < 0 || c.quick() || c.late() || !c.hasResiduals() || c.data.Count(dataset.Valid) == 0 {
		return nil
	}
	days := c.data.Days(at)
	dates, ofYear := map[time.Time]bool{}, map[string]bool{}
	for _, t := range days {
		dates[t], ofYear[t.Format("01-02")] = true, true
	}
	if len(days) == 0 || float64(len(dates)) < yearsOfDays*float64(len(ofYear)) {
		return nil
	}
	folds, err := c.data.FoldsOfDays(days, at, daysFolds, c.spec.Seed)
	if err != nil {
		return err
	}
	defer c.compareOn(folds)()
	errors, err := c.errorsOfDays(ctx, folds, at, days)
	if err != nil {
		return err
	}
	rules := findDays(errors)
	terms, err := c.spec.ParseTerms()
	if err != nil || len(rules) == 0 {
		return err
	}
	weekday, part := c.modes[at]+".weekday", c.modes[at]+"."+dataset.DaysPrefix+strings.Join(rules, "_")
	terms = append(terms, spec.Term{Cores: [][]string{{part}}})
	with := func(more ...spec.Term) spec.Spec { return c.withTerms(slices.Concat(terms, more)) }
	label := plural.Count(len(rules), "day")
	// A holiday on a Sunday changes little.
	candidates := []candidate{{"none", c.spec}, {label, with()}, {label + ", by weekday", with(spec.Term{Cores: [][]string{{weekday}, {part}}, Ranks: []int{1}})}}
	var own []spec.Term
	for _, m := range c.entities() {
		if 2*c.sizes[m]*len(rules) < c.rows {
			own = append(own, spec.Term{Cores: [][]string{{c.modes[m], part}}})
		}
	}
	if len(own) > 0 {
		candidates = append(candidates, candidate{label + ", of each id", with(own...)})
	}
	return c.compare(ctx, "days of the year", candidates)
}

// compareOn sets the divisions of days on which candidates are compared, where they are otherwise compared on the last
// periods: these have few holidays and starts of months, or none, and days of all years have all of them. It returns
// the function that sets the last periods again.
func (c *chooser) compareOn(divisions []*fitdata.Data) func() {
	if !c.future() {
		return func() {}
	}
	folds, scores, conformal := c.folds, c.scores, c.spec.Uncertainty.Conformal
	c.folds, c.scores, c.spec.Uncertainty.Conformal = divisions, map[string]*score{}, "none" // none by the horizon
	if c.rows > c.effort.rows {
		c.folds = divisions[:1]
	}
	return func() { c.folds, c.scores, c.spec.Uncertainty.Conformal = folds, scores, conformal }
}

// errorsOfDays returns the mean error of each day in a fit without it.
func (c *chooser) errorsOfDays(ctx context.Context, folds []*fitdata.Data, at int, days []time.Time) (map[time.Time]float64, error) {
	s := c.spec.Clone()
	if s.Uncertainty.Noise == spec.Auto {
		s.Uncertainty.Noise = "constant"
	}
	sum, count := map[time.Time]float64{}, map[time.Time]float64{}
	known := &score{} // of the model without days
	for i, fold := range folds {
		if c.opt.Progress != nil {
			c.opt.Progress(train.Event{Stage: "choose", Note: fmt.Sprintf("days of the year: division %d of %d", i+1, len(folds))})
		}
		m, r, err := c.fitModel(ctx, s, fold, c.threads())
		if err != nil {
			if c.skips(err) {
				return nil, nil
			}
			return nil, err
		}
		known.divisions = append(known.divisions, validCRPS(r))
		rows := fold.SampleValid(pairRows, c.spec.Seed)
		residuals, err := train.Residuals(m, rows, c.threads())
		if err != nil {
			return nil, err
		}
		for row, code := range rows.Codes[at] {
			sum[days[code]] += residuals[row]
			count[days[code]]++
		}
	}
	if !(c.mean(known.divisions) <= spread(c.data.Targets())) {
		return nil, nil // worse than a constant, as a fit that fails in gaps may be
	}
	for t, n := range count {
		sum[t] /= n
	}
	if c.future() {
		c.scores[string(s.YAML())] = known
	}
	return sum, nil
}

// spread returns the mean distance of values from their median.
func spread(values []float32) float64 {
	sorted := slices.Sorted(slices.Values(values))
	total := 0.0
	for _, v := range sorted {
		total += math.Abs(float64(v) - float64(sorted[len(sorted)/2]))
	}
	return total / float64(max(len(sorted), 1))
}

// findDays returns the rules of days with errors beyond chance, those that explain most first. A day counts for one
// rule. Errors are those beyond the median of the weekday, whose effect the holidays on it have moved, and in
// units of their standard deviation in the month, because winters vary more than summers, say. What is beyond chance
// is judged by errors of at most largestDay, so that a single event does not make a rule.
func findDays(errors map[time.Time]float64) []string {
	dates := sortedDays(errors)
	scaled, sizes := map[time.Time]float64{}, map[time.Time]float64{}
	centres := medians(dates, errors, func(t time.Time) int { return int(t.Weekday()) })
	for _, t := range dates {
		scaled[t] = errors[t] - centres[int(t.Weekday())]
		sizes[t] = math.Abs(scaled[t])
	}
	ofMonth := medians(dates, sizes, func(t time.Time) int { return int(t.Month()) })
	of := map[string][]time.Time{}
	for _, t := range dates {
		sd := ofMonth[int(t.Month())] / 0.6745 // of the normal distribution with this median
		if sd == 0 {
			delete(scaled, t)
			continue
		}
		scaled[t] /= sd
		for _, rule := range dataset.DayRules(t) {
			of[rule] = append(of[rule], t)
		}
	}
	limited := func(e float64) float64 { return max(-largestDay, min(e, largestDay)) }
	var found []string
	for len(found) < mostDays {
		squares, n := 0.0, 0.0 // of days without a rule
		for _, t := range dates {
			if e, open := scaled[t]; open {
				squares, n = squares+limited(e)*limited(e), n+1
			}
		}
		least := leastDay * math.Sqrt(squares/max(n, 1))
		best, largest := "", 0.0
		for _, rule := range slices.Backward(slices.Sorted(maps.Keys(of))) { // with the same days, thanksgiving1 is more likely than 11-4fri
			var total, sure, n [2]float64 // of all days and of Monday to Friday, because a holiday on a Sunday may change nothing
			for _, t := range of[rule] {
				for k := range total {
					if k == 0 || t.Weekday() != time.Saturday && t.Weekday() != time.Sunday {
						total[k], sure[k], n[k] = total[k]+scaled[t], sure[k]+limited(scaled[t]), n[k]+1
					}
				}
			}
			for k := range total {
				if size := math.Abs(total[k]) / math.Sqrt(n[k]); n[k] > 1 && math.Abs(sure[k]) > least*math.Sqrt(n[k]) && size > largest {
					best, largest = rule, size
				}
			}
		}
		if best == "" {
			break
		}
		found = append(found, best)
		taken := of[best]
		for _, t := range taken {
			delete(scaled, t)
		}
		for rule, days := range of {
			of[rule] = slices.DeleteFunc(slices.Clone(days), func(t time.Time) bool { return slices.Contains(taken, t) })
		}
	}
	return found
}

// medians returns the medians of values of days by a number.
func medians(days []time.Time, values map[time.Time]float64, by func(time.Time) int) map[int]float64 {
	of := map[int][]float64{}
	for _, t := range days {
		of[by(t)] = append(of[by(t)], values[t])
	}
	medians := map[int]float64{}
	for k, v := range of {
		slices.Sort(v)
		medians[k] = v[len(v)/2]
	}
	return medians
}

func sortedDays(values map[time.Time]float64) []time.Time {
	return slices.SortedFunc(maps.Keys(values), time.Time.Compare)
}
