package guess

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Of many columns those that say most about the target become covariates, wherever they are, in the order of the table.
func TestCovariatesOfWideRecords(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const width = 2 * MostCovariates
	names := []string{"price"}
	for k := range width {
		names = append(names, fmt.Sprintf("q%02d", k))
	}
	var rows [][]string
	for range 400 {
		values, price := make([]string, width), 100.0
		for k := range values {
			x := rng.Float64()
			values[k] = fmt.Sprintf("%.5f", x)
			if k == width-1 {
				price += 20 * (x - 0.5) * (x - 0.5)
			}
			if k == width/2 {
				price += 5 * x
				if rng.IntN(10) == 0 {
					values[k] = ""
				}
			}
		}
		rows = append(rows, append([]string{fmt.Sprintf("%.3f", price+0.3*rng.NormFloat64())}, values...))
	}
	g := Columns(Sample{Names: names, Rows: rows}, Given{Target: "price"})
	want := []string{fmt.Sprintf("q%02d", width/2), fmt.Sprintf("q%02d", width-1)}
	if len(g.Covariates) != MostCovariates || !slices.Contains(g.Covariates, want[0]) || !slices.Contains(g.Covariates, want[1]) || !slices.IsSorted(g.Covariates) {
		t.Errorf("got %q, want %d with %q", g.Covariates, MostCovariates, want)
	}
}
