package kft_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
)

// A rank whose weights no machine can hold is an error, before they are allocated.
func TestFitRefusesMemory(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("a,b,c,y\n")
	for i := range 20000 {
		fmt.Fprintf(&table, "a%d,b%d,c%d,%d\n", i, (i*7)%20000, (i*13)%20000, i%17)
	}
	for _, inference := range []string{"map", "mean-field", "entity-covariance"} {
		spec := kft.Spec{Version: 1, Data: kft.DataSpec{Target: "y", Modes: []string{"a", "b", "c"}}, Transform: "identity", Terms: []string{"a,b,c:10000"}}
		spec.Uncertainty.Inference = inference
		_, _, err := kft.Fit(t.Context(), spec, kft.Reader("table", strings.NewReader(table.String())), kft.Options{})
		if err == nil || fielderr.Path(err) != "terms" || !strings.Contains(err.Error(), "GiB of memory") {
			t.Errorf("%s: got %v (field %q), want an error about the memory of terms", inference, err, fielderr.Path(err))
		}
	}
}
