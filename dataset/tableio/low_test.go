package tableio

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// TestTargetsFarFromZero checks that targets keep the digits that float32 lacks if these
// matter, in text and in memory, and after repeated cells were merged.
func TestTargetsFarFromZero(t *testing.T) {
	t.Parallel()
	values := []float64{1e12 + 0.5, 1e12 - 1000.25, 1e12 + 777.125, 1e12 + 3}
	var text strings.Builder
	text.WriteString("a,y\n")
	for i, v := range values {
		fmt.Fprintf(&text, "i%d,%.3f\n", i%3, v)
	}
	columns, err := dataset.NewColumns(dataset.StringColumn("a", []string{"i0", "i1", "i2", "i0"}), dataset.FloatColumn("y", values))
	if err != nil {
		t.Fatal(err)
	}
	mode, err := dataset.ParseMode("a")
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]Source{"text": Reader("table", strings.NewReader(text.String())), "memory": Columns(columns)} {
		table, err := Read(t.Context(), source, dataset.Schema{Target: "y", Modes: []dataset.Mode{mode}, Duplicates: "mean"}, Format{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range []float64{(values[0] + values[3]) / 2, values[1], values[2]} {
			if got := table.Target(k); got != want {
				t.Errorf("%s, row %d: got %.6f, want %.6f", name, k, got, want)
			}
		}
	}
	table, err := Read(t.Context(), Reader("table", strings.NewReader("a,y\ni0,1.1\ni1,-0.3\ni2,2.7\n")), dataset.Schema{Target: "y", Modes: []dataset.Mode{mode}}, Format{}, 1)
	if err != nil || table.Low != nil {
		t.Errorf("got low parts %v and error %v for targets near 0, want neither", table.Low, err)
	}
}
