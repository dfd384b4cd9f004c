package automatic

import (
	"testing"
	"time"
)

// For tests of fits, which are outside of the package because package search imports it.
var (
	EffectOf      = effectOf
	IsLastWorkday = isLastWorkday
)

// WriteDays writes the table of daysChooser and returns its file.
func WriteDays(t *testing.T, years, shops int, effect func(day time.Time) float64, split string, terms ...string) string {
	t.Helper()
	return daysChooser(t, years, shops, effect, split, terms...).spec.Data.Files[0]
}

// No test of this package but TestRefitHasPartsOfFinalFit fits with this effort.
func init() {
	e := efforts["thorough"]
	e.valid = 50
	efforts["thorough"] = e
}
