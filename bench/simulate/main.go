// Simulate measures the coverage of intervals on simulated tables, whose truth is known:
// of cells, weighted rows, new ids and totals, and the bias of means. It prints a table
// in Markdown.
//
//	go run ./bench/simulate -seeds 20
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft"
)

func main() {
	seeds := flag.Int("seeds", 20, "tables per simulation, three times as many small ones")
	only := flag.String("only", "", "run the simulations whose name contains this text")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := simulate(ctx, os.Stdout, *seeds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

// simulate runs the scenarios and writes a row for each.
func simulate(ctx context.Context, out io.Writer, seeds int, only string) error {
	fmt.Fprintln(out, "| simulation | cells | store totals | item totals | period totals | other |")
	fmt.Fprintln(out, "| --- | ---: | ---: | ---: | ---: | --- |")
	for _, s := range scenarios() {
		if !strings.Contains(s.name, only) {
			continue
		}
		f := figures{weights: map[float64]*share{}}
		tables := seeds
		if s.truth.stores*s.truth.items*s.truth.periods < 10_000 {
			tables *= 3 // small ones have few totals and cost little
		}
		for seed := range uint64(tables) {
			if err := s.run(ctx, seed+1, &f); err != nil {
				return fmt.Errorf("%s, seed %d: %w", s.name, seed+1, err)
			}
		}
		if _, err := fmt.Fprintln(out, f.row(s)); err != nil {
			return err
		}
	}
	return nil
}

// row returns the figures as a row of the table.
func (f *figures) row(s scenario) string {
	columns := []string{s.name, f.cells.String()}
	for _, t := range f.totals {
		columns = append(columns, t.String())
	}
	var other []string
	var weights []float64
	for w := range f.weights {
		weights = append(weights, w)
	}
	slices.Sort(weights)
	for _, w := range weights {
		other = append(other, fmt.Sprintf("weight %g %v", w, *f.weights[w]))
	}
	if f.cold.n > 0 {
		other = append(other, "both modes cold "+f.cold.String())
	}
	if s.means {
		text := "predicted / actual by decile"
		for d := range f.predicted {
			text += " " + strings.TrimPrefix(fmt.Sprintf("%.2f", f.predicted[d]/f.actual[d]), "0")
		}
		other = append(other, text)
	}
	columns = append(columns, strings.Join(other, "; "))
	return "| " + strings.Join(columns, " | ") + " |"
}

// String returns the share in the form .901.
func (s share) String() string {
	if s.n == 0 {
		return "-"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", float64(s.hits)/float64(s.n)), "0")
}

// scenarios returns the simulations. Small tables have totals over 40 cells, large ones
// over 1,000; "all cells" are those of an id that the table lacks.
func scenarios() []scenario {
	small, large := truth{stores: 25, items: 30, periods: 8, noise: .7}, truth{stores: 40, items: 50, periods: 26, noise: .7}
	little := func(t truth, share float64) truth { t.share = share; return t }
	spec := func(inference, conformal string, terms ...string) kft.Spec {
		return kft.Spec{Data: kft.DataSpec{Target: "y", Modes: modes[:]}, Terms: terms, Split: "random:80/20",
			Uncertainty: kft.UncertaintySpec{Inference: inference, Conformal: conformal}}
	}
	train, effects := "s,i,t:2", []string{"s,i,t:2", "s", "i", "t"}
	withEffects := little(small, .15)
	withEffects.offset, withEffects.effects = 3, .7
	weighted, cold := little(small, .4), truth{stores: 60, items: 60, periods: 6, share: .4, offset: 2, effects: .8, noise: .5, cold: .25}
	weighted.weighted = true
	weightedSpec := spec("mean-field", "none", train)
	weightedSpec.Data.Weight = "w"
	positive := little(large, .3)
	positive.log, positive.offset, positive.effects, positive.noise = true, 2, .3, .4
	shifted := positive
	shifted.minus = 1
	scaled := spec("mean-field", "auto", effects...)
	scaled.Transform = "cbrt1p"
	return []scenario{
		{name: "40 cells, 15 % known, mean-field", truth: little(small, .15), total: 40, spec: spec("mean-field", "none", train)},
		{name: "40 cells, 15 % known, entity-covariance", truth: little(small, .15), total: 40, spec: spec("entity-covariance", "none", train)},
		{name: "40 cells, 40 % known, mean-field", truth: little(small, .4), total: 40, spec: spec("mean-field", "none", train)},
		{name: "40 cells, 40 % known, split conformal", truth: little(small, .4), total: 40, spec: spec("mean-field", "split", train)},
		{name: "40 cells, 15 % known, effects", truth: withEffects, total: 40, spec: spec("mean-field", "none", effects...)},
		{name: "40 cells, 40 % known, rank 8", truth: little(small, .4), total: 40, spec: spec("mean-field", "none", "s,i,t:8")},
		{name: "all cells, 15 % known, mean-field", truth: little(small, .15), total: math.MaxInt, spec: spec("mean-field", "none", train)},
		{name: "1,000 cells, 5 % known, mean-field", truth: little(large, .05), total: 1000, spec: spec("mean-field", "none", train)},
		{name: "1,000 cells, 20 % known, mean-field", truth: little(large, .2), total: 1000, spec: spec("mean-field", "none", train)},
		{name: "1,000 cells, 20 % known, split conformal", truth: little(large, .2), total: 1000, spec: spec("mean-field", "split", train)},
		{name: "1,000 cells, 40 % known, group:mean conformal", truth: little(large, .4), total: 1000, spec: spec("mean-field", "group:mean", train)},
		{name: "weighted rows", truth: weighted, spec: weightedSpec},
		{name: "cold stores and items", truth: cold, spec: spec("mean-field", "none", "s,i,t:6", "s", "i")},
		{name: "positive target on cbrt1p", truth: positive, spec: scaled, means: true},
		{name: "the same target minus 1, rarely below 0", truth: shifted, spec: scaled, means: true},
	}
}
