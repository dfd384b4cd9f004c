package train

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/spec"
)

// steadyItems returns 16 items that rise steadily, by different steps.
func steadyItems(rows int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("item,time,y\n")
	for i := range 16 {
		for m := range rows {
			y := 100 + 10*float64(i) + float64(1+i%4)*float64(m) + 2*rng.NormFloat64()
			fmt.Fprintf(&b, "i%d,%d-%02d,%.1f\n", i, 2020+m/12, m%12+1, y)
		}
	}
	return b.String()
}

func steadySpec() spec.Spec {
	s := spec.Spec{Version: 1, Split: "time:last=3", Terms: []string{"series(item; time; ar)", "item"}}
	s.Data = spec.Data{Target: "y", Modes: []string{"item", "time"}}
	s.Uncertainty.Inference = "mean-field"
	s.Uncertainty.Conformal = "auto"
	s.Fit.Sweeps = 10
	s.Fill()
	return s
}

// TestForecastsOfSeveralOrigins checks that a small table, whose series return to their
// means in the model, is pulled and corrected by the forecasts of several origins, and that
// nothing of them is left without mixing.
func TestForecastsOfSeveralOrigins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mixing, kind string
		rows         int // of the correction
	}{
		{"auto", "horizon", 4 * 16 * 3},
		{"none", "none", 0},
	} {
		s := steadySpec()
		s.Uncertainty.Mixing = c.mixing
		data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(steadyItems(48))), Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		m, report, err := Fit(t.Context(), s, data, Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		u := m.Uncertainty()
		if got := m.Spec().Uncertainty.Conformal; got != c.kind {
			t.Errorf("mixing %s: got the correction %s, want %s", c.mixing, got, c.kind)
		}
		if u.Conformal != nil && u.Conformal.Rows != c.rows || u.Conformal == nil && c.rows > 0 {
			t.Errorf("mixing %s: got %+v, want a correction from %d rows", c.mixing, u.Conformal, c.rows)
		}
		if c.mixing == "auto" && len(u.Pulled) == 0 {
			t.Errorf("forecasts are not pulled, with R2 %g on test", report.Test.R2)
		}
		if c.mixing == "none" && len(u.Pulled) > 0 {
			t.Errorf("forecasts are pulled by %v, although nothing is to be mixed", u.Pulled)
		}
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		split  string
		months int
		want   []int // training rows
	}{
		{"time:last=3", 48, []int{42 * 16, 39 * 16, 36 * 16, 33 * 16}},
		{"time:last=3", 14, []int{8 * 16, 5 * 16}}, // earlier ones would have less than half of the months
		{"random:60/20/20", 48, []int{461}},
	} {
		s := steadySpec()
		s.Split = c.split
		data, err := Read(t.Context(), s, tableio.Reader("t.csv", strings.NewReader(steadyItems(c.months))), Options{Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		all, err := data.Origins()
		if err != nil {
			t.Fatal(err)
		}
		var rows []int
		for _, d := range all {
			rows = append(rows, d.Count(dataset.Train))
		}
		if !slices.Equal(rows, c.want) {
			t.Errorf("%s of %d months: got origins with %v training rows, want %v", c.split, c.months, rows, c.want)
		}
	}
}
