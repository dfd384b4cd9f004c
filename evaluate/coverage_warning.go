package evaluate

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
)

// Intervals are warned about if they hold a share of the rows that differs from their
// level by more than coverageGap and by more than coverageDeviations standard deviations
// of that share, for which at least coverageRows rows are needed.
const (
	coverageRows       = 50
	coverageGap        = 0.1
	coverageDeviations = 4
)

// CoverageWarnings warns about intervals that hold far more or far fewer values than
// their level says. where names the rows, as in "the test set".
func CoverageWarnings(m *model.Model, score metrics.Score, where string) []string {
	worst, gap := wrongLevel(score)
	if gap == 0 {
		return nil
	}
	how := "narrow"
	if float64(worst.Share) > worst.Level {
		how = "wide"
	}
	text := fmt.Sprintf("the intervals are too %s: those of %g %% contain %.0f %% of the values of %s; ", how, 100*worst.Level, 100*float64(worst.Share), where)
	if how == "wide" && widerThanFirst(m, worst.Level, gap) {
		return []string{text + "noise and corrections are those of the first training, on fewer rows, whose errors were larger; recalibrate the model with rows that the fit has not used, or set fit.refit to none"}
	}
	if m.Uncertainty().Conformal == nil {
		return []string{text + "set uncertainty.conformal to split, or recalibrate the model with rows that the fit has not used"}
	}
	return []string{text + "these rows differ from those that the conformal correction comes from; recalibrate the model with rows like these that the fit has not used"}
}

// wrongLevel returns the level whose intervals are furthest off, and by how much: 0 if none is worth a warning.
func wrongLevel(score metrics.Score) (worst metrics.LevelShare, gap float64) {
	c := score.Calibration
	if c == nil || score.N < coverageRows || score.Binary != nil || score.Censored != nil {
		return worst, 0
	}
	for _, l := range c.XiByLevel {
		// The values of a count or of a rounded target have probability: an interval may have
		// to hold more of them than its level. The randomised PIT does not count that.
		inside := CentralShare(c.PIT, l.Level)
		off, offPIT := float64(l.Share)-l.Level, inside-l.Level
		if off*offPIT <= 0 {
			continue
		}
		g := min(math.Abs(off), math.Abs(offPIT))
		deviation := math.Sqrt(l.Level * (1 - l.Level) / float64(score.N))
		if g > coverageGap && g > coverageDeviations*deviation && g > gap {
			gap, worst = g, l
		}
	}
	return worst, gap
}

// widerThanFirst reports whether intervals that hold too many values, by a gap, follow from a refit: those of
// the first training held no more than half as many too many of the validation set.
func widerThanFirst(m *model.Model, level, gap float64) bool {
	record := m.Record()
	first := record.Valid.Calibration
	return record.Refit != nil && first != nil && CentralShare(first.PIT, level)-level < gap/2
}

// CentralShare returns the share of rows whose PIT is in the central interval of a level,
// from the shares of equal bins.
func CentralShare(pit []metrics.Number, level float64) float64 {
	sum := 0.0
	for i, share := range pit {
		low, high := float64(i)/float64(len(pit)), float64(i+1)/float64(len(pit))
		overlap := min(high, 0.5+level/2) - max(low, 0.5-level/2)
		if overlap > 0 {
			sum += float64(share) * overlap * float64(len(pit))
		}
	}
	return sum
}
