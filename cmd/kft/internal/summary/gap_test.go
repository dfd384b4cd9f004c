package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
)

// The split that the note names can be made: it is along the mode that --split time takes, and
// leaves periods for training.
func TestGapNote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		periods int
		want    string
	}{
		{8, "split by time: --split time:last=3.\n"},
		{4, "split by time: --split time:last=1.\n"},
		{2, ""},
	} {
		var table strings.Builder
		table.WriteString("hour,year,y\n")
		for hour := range 12 {
			for period := range c.periods {
				fmt.Fprintf(&table, "%d,%d,%d\n", hour, 2000+period, hour+period*period%5)
			}
		}
		fit := kft.Spec{Data: kft.DataSpec{Target: "y", Modes: []string{"hour", "time=year"}}, Terms: []string{"hour", "time"}}
		m, report, err := kft.Fit(t.Context(), fit, kft.Reader("table", strings.NewReader(table.String())), kft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		writeGapNote(&b, m, report.Record)
		if got := b.String(); !strings.HasSuffix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%d periods: got %q, want %q at the end", c.periods, got, c.want)
		}
	}
}
