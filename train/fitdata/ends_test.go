package fitdata

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Series with ends of their own that are all too short for the split are divided at the end of the
// table.
func TestShortSeriesAreSplitAtTheEndOfTheTable(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("patient,month,y\n")
	for i := range 40 {
		for m := range 4 {
			fmt.Fprintf(&b, "p%d,%d-%02d,%d\n", i, 2000+(2*i+m)/12, (2*i+m)%12+1, m)
		}
	}
	s := spec.Spec{Version: 1, Split: "time:last=3", Terms: []string{"patient"}}
	s.Data = spec.Data{Target: "y", Modes: []string{"patient", "time=month"}}
	s.Fill()
	d, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(b.String())), Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if own, why := d.OwnEnds(); own || why != "" || d.split.Count(dataset.Test) != 4 {
		t.Errorf("got own ends %v (%s) and %d test rows, want 4 of the last three months", own, why, d.split.Count(dataset.Test))
	}
}
