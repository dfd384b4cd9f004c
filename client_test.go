package kft_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/internal/testtable"
)

// TestWithClient checks that a client's value is kept in the model file, and that only
// JSON of a limited size is accepted.
func TestWithClient(t *testing.T) {
	t.Parallel()
	m, _ := fit(t, salesSpec(testtable.WriteSales(t, 500)), kft.Options{})
	const value = `{"edges":{"x0":[0.5,1]}}`
	with, err := m.WithClient(json.RawMessage(value))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(reload(t, with).Record().Client); got != value {
		t.Errorf("got %s, want %s", got, value)
	}
	if got := m.Record().Client; got != nil {
		t.Errorf("the model without it has %s", got)
	}
	for _, bad := range []string{"{", "", `"` + strings.Repeat("x", fitrecord.MaxClient) + `"`} {
		if _, err := m.WithClient(json.RawMessage(bad)); err == nil {
			t.Errorf("%.10q is accepted", bad)
		}
	}
}
