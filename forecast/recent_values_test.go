package forecast

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/train"
)

// TestRecentValues fits a model without a term for pairs to series whose levels differ by
// pair, so that recent values tell more than the model: forecasts move, also in a file
// and in totals, whose draws move with them.
func TestRecentValues(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	var stores, items []string
	var years, months []int
	var units []float64
	for s := range 30 {
		for i := range 30 {
			level := 2 + 0.5*rng.NormFloat64()
			for m := range 15 {
				stores, items = append(stores, fmt.Sprint("s", s)), append(items, fmt.Sprint("i", i))
				years, months = append(years, 2014+m/12), append(months, m%12+1)
				units = append(units, math.Exp(level+0.1*rng.NormFloat64()))
			}
		}
	}
	c, err := dataset.NewColumns(dataset.StringColumn("store", stores), dataset.StringColumn("item", items), dataset.IntColumn("year", years), dataset.IntColumn("month", months), dataset.FloatColumn("units", units))
	if err != nil {
		t.Fatal(err)
	}
	s := salesSpec()
	s.Terms = []string{"store", "item"}
	m, r, err := search.Fit(t.Context(), s, tableio.Columns(c), train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	none := s
	none.Uncertainty.Mixing = "none"
	if m, _, err := search.Fit(t.Context(), none, tableio.Columns(c), train.Options{}); err != nil || m.Uncertainty().Mixed != nil || m.Uncertainty().Moved != nil {
		t.Errorf("without mixing: got %v, error %v", m.Uncertainty(), err)
	}
	moved := strings.Join(m.Uncertainty().Moved, " + ")
	if !strings.Contains(moved, "mean of the last 12 months") || !(r.Test.R2 > 0.9) {
		t.Fatalf("got forecasts moved by %s, R2 %g", moved, r.Test.R2)
	}
	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := model.Read(&file, "m.kft")
	if err != nil {
		t.Fatal(err)
	}
	before, _ := write(t, m, Options{Horizon: 1})
	after, _ := write(t, loaded, Options{Horizon: 1})
	total, _ := write(t, loaded, Options{Horizon: 1, By: "total"})
	sum := 0.0
	for i, row := range before.rows {
		if row["mean"] != after.rows[i]["mean"] {
			t.Fatalf("row %d: the mean is %s, and %s in a file", i, row["mean"], after.rows[i]["mean"])
		}
		sum += number(t, row, "mean")
	}
	byPair, _ := write(t, loaded, Options{Horizon: 1, By: "store,item", Draws: 20})
	all, _ := write(t, loaded, Options{Horizon: 1, By: "total", Draws: 20})
	draws := 0.0
	for _, row := range byPair.rows {
		draws += number(t, row, "sample_1")
		if lo := number(t, row, "lo-90"); !(lo > 0) {
			t.Fatalf("the interval of a positive value starts at %g", lo)
		}
	}
	if of := number(t, all.rows[0], "sample_1"); math.Abs(draws-of) > 1e-3*of {
		t.Errorf("draws of pairs add up to %g, that of the total is %g", draws, of)
	}
	of := total.rows[0]
	if mean := number(t, of, "mean"); math.Abs(mean-sum) > 1e-3*sum || !(number(t, of, "lo-90") < mean && mean < number(t, of, "hi-90")) {
		t.Errorf("got the total %v of means that add up to %g", of, sum)
	}
}
