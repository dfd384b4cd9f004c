package automatic

import (
	"context"

	"github.com/kernel-fried-tensor/kft/spec"
)

// workdayYears is the number of years of months from which the number of their workdays can be told from the season:
// the same month of three years has different numbers of them.
const workdayYears = 3

// chooseWorkdays offers an effect of the number of days from Monday to Friday in a month, by which sums over the month
// (sales, payments, accidents) differ from year to year. The months of one series are few and each has one row, so there the evidence
// decides. Rows of several series in one month share its surprises, which the evidence counts once for each row, so
// forecasts are compared there.
func (c *chooser) chooseWorkdays(ctx context.Context) error {
	time := c.data.TimeMode()
	if time < 0 || c.quick() || c.late() || c.rows > c.effort.rows || c.years() < workdayYears || !c.data.HasWorkdays(time) {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return err
	}
	with := c.withTerms(append(terms, spec.Term{Cores: [][]string{{c.modes[time] + ".workdays"}}}))
	candidates := []candidate{{"no", c.spec}, {"yes", with}}
	if !c.single() || c.spec.Uncertainty.Likelihood != "gaussian" {
		return c.compare(ctx, "workdays of the month", candidates)
	}
	best, err := c.mostEvident(ctx, "workdays of the month", candidates)
	if err == nil {
		c.spec = candidates[best].spec
	}
	return err
}
