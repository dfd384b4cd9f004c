package tuning

import (
	"testing"

	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/spec"
)

func TestHalving(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		halving string
		rows    int
		want    string
	}{{"auto", 999_999, "none"}, {"auto", 1_000_000, "both"}, {"rows", 10, "rows"}, {"none", 1e6, "none"}} {
		if got := resolveHalving(c.halving, c.rows); got != c.want {
			t.Errorf("resolveHalving(%s, %d) = %s, want %s", c.halving, c.rows, got, c.want)
		}
	}
	for _, c := range []struct {
		halving      string
		rows, sweeps float64
	}{{"both", 0.5, 0.5}, {"rows", 0.25, 1}, {"sweeps", 1, 0.25}, {"none", 1, 1}} {
		if rows, sweeps := shares(c.halving, 0.25); rows != c.rows || sweeps != c.sweeps {
			t.Errorf("shares(%s, 0.25) = %v, %v; want %v, %v", c.halving, rows, sweeps, c.rows, c.sweeps)
		}
	}
	if got := shortened(spec.Spec{Fit: spec.Fit{Sweeps: 30, Epochs: 3}}, 1./9).Fit; got.Sweeps != 3 || got.Epochs != 2 {
		t.Errorf("got %d sweeps and %d epochs, want 3 and 2", got.Sweeps, got.Epochs)
	}
	for _, halving := range Halvings() {
		if err := CheckHalving(halving); err != nil {
			t.Errorf("CheckHalving(%s): %v", halving, err)
		}
	}
	if err := CheckHalving("bth"); fielderr.Path(err) != "halving" || err.Error() != `unknown halving "bth" (did you mean "both"?); use one of auto, both, sweeps, rows, none` {
		t.Errorf("CheckHalving(bth): got error %v", err)
	}
}
