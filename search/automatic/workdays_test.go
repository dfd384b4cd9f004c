package automatic_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

// TestWorkdays checks that the number of workdays of a month is used where values are sums over them, of one series and of several, and
// only there, and that future months have theirs.
func TestWorkdays(t *testing.T) {
	t.Parallel()
	for _, series := range []int{1, 6} {
		for _, perDay := range []float64{0.04, 0} {
			rng := rand.New(rand.NewPCG(uint64(series), 9))
			var text strings.Builder
			text.WriteString(strings.Repeat("shop,", min(series-1, 1)) + "when,value\n")
			for s := range series {
				level := 0.0
				for k := range 96 {
					day, days := time.Date(2015, time.Month(1+k), 1, 0, 0, 0, 0, time.UTC), 0
					for at := day; at.Month() == day.Month(); at = at.AddDate(0, 0, 1) {
						if at.Weekday() != time.Saturday && at.Weekday() != time.Sunday {
							days++
						}
					}
					level += 0.01 * rng.NormFloat64()
					value := 1000 * math.Exp(level+0.2*math.Sin(math.Pi*float64(k)/6)+perDay*float64(days)+0.01*rng.NormFloat64())
					if series > 1 {
						fmt.Fprintf(&text, "s%d,", s)
					}
					fmt.Fprintf(&text, "%s,%.2f\n", day.Format("2006-01"), value)
				}
			}
			file := filepath.Join(t.TempDir(), "months.csv")
			writeFile(t, file, text.String())
			m, r := mustFit(t, spec.Spec{Data: spec.Data{Files: []string{file}}, Split: "time:last=12"}, train.Options{Threads: 2})
			if got := slices.Contains(r.Spec.Terms, "time.workdays"); got != (perDay > 0) {
				t.Errorf("%d series, %g per day: got the terms %q", series, perDay, r.Spec.Terms)
			}
			if got := r.Test.R2; perDay > 0 && !(got > 0.95) {
				t.Errorf("%d series: R2 of the test months is %g with %d weights", series, got, m.Weights())
			}
		}
	}
}
