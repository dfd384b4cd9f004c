package train

import (
	"slices"
	"testing"

	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// TestRefitTerms checks that a refit of trains starts with all terms, as the first training did:
// without an effect that was removed, a train of stores and months lost the season to the series
// that all stores share, and forecasts had errors 1.4 times as large.
func TestRefitTerms(t *testing.T) {
	t.Parallel()
	s := spec.Spec{Version: 1, Terms: []string{"series(; time)", "store", "store,time.month:2"}}
	s.Uncertainty.Inference = "mean-field"
	s.Fill()
	record := model.Record{Terms: []model.TermContribution{{Term: "series(; time)"}, {Term: "store", Removed: true}, {Term: "store,time.month"}}}
	for _, c := range []struct {
		linear bool
		want   []string
	}{{false, s.Terms}, {true, []string{"series(; time)", "store,time.month:2"}}} {
		if got := refitSpec(s, record, c.linear).Terms; !slices.Equal(got, c.want) {
			t.Errorf("linear %t: got the terms %q, want %q", c.linear, got, c.want)
		}
	}
}
