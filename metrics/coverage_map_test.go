package metrics

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

func TestCoverageMap(t *testing.T) {
	t.Parallel()
	a, b := NewCoverageMap(2, 3), NewCoverageMap(2, 3)
	d := predictive.Gaussian(targetscale.Identity, 0, 0, 1)
	for i, y := range []float64{0, 1, 1.5, 3} { // inside 5, 2, 1 and 0 intervals
		m := a
		if i%2 == 1 {
			m = b
		}
		m.Add(1, 2, d, y)
		m.Add(-1, 2, d, y)
		m.Add(1, 7, d, y)
	}
	a.Merge(b)
	for level, want := range []int{3, 2, 1, 1, 1} {
		if got := a.Hits(level, 1, 2); got != want {
			t.Errorf("got %d values in the %g interval, want %d", got, IntervalLevels[level], want)
		}
	}
	if got, want := [3]int{a.Count(1, 2), a.RowCount(1), a.RowCount(0)}, [3]int{4, 4, 0}; got != want {
		t.Errorf("got counts %d, want %d", got, want)
	}
	var svg bytes.Buffer
	labels := CoverageMapLabels{"store", "month", []string{"idle", "busy"}, []string{"jan", "feb", "mar"}}
	if err := a.WriteSVG(&svg, 0, labels); err != nil {
		t.Fatal(err)
	}
	if text := svg.String(); !strings.Contains(text, "busy") || strings.Contains(text, "idle") || !strings.Contains(text, "90 % interval") {
		t.Error("the drawing must show the entities with values and no others")
	}
}
