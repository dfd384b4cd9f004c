package serve

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// Values of a history have the digits of the table.
func TestHistoryValues(t *testing.T) {
	t.Parallel()
	h := &history{table: &dataset.Table{Y: []float32{51.04, 16777216, 3}}}
	for row, want := range []float64{51.04, 16777216, 3} {
		if got := h.value(row); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
