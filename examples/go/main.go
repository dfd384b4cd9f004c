// Command kft-example fits a model to a table in memory, predicts with intervals,
// draws the total of a store, and saves and loads the model.
//
// It is a module of its own, as a program outside of this repository would be:
//
//	cd examples/go && go run .
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	table, err := sales()
	if err != nil {
		return err
	}
	spec := kft.Spec{
		Data:        kft.DataSpec{Target: "units", Modes: []string{"store", "item", "month"}},
		Transform:   "log1p",
		Terms:       []string{"store", "item", "month", "store,item:3"},
		Uncertainty: kft.UncertaintySpec{Inference: "mean-field"},
	}
	model, report, err := kft.Fit(ctx, spec, table, kft.Options{})
	var domain *kft.DomainError
	switch {
	case errors.As(err, &domain):
		return fmt.Errorf("row %d cannot be used: %w", domain.Position, err)
	case err != nil:
		return err
	}
	fmt.Printf("test R2 %.2f; %.0f %% of the values are in their 90 %% interval\n", report.Test.R2, 100*report.Test.Calibration.Coverage90)

	// Single cells, with intervals.
	cells := make([]kft.Cell, 10)
	for i := range cells {
		cells[i] = kft.Cell{"store": "3", "item": fmt.Sprint(i), "month": "6"}
	}
	predictions, err := model.Predict(ctx, cells)
	if err != nil {
		return err
	}
	low, high := predictions[0].Interval(0.9)
	fmt.Printf("store 3, item 0, month 6: mean %.1f, 90 %% interval %.1f to %.1f\n", predictions[0].Mean, low, high)

	// The total of several cells: sums of joint draws are draws of the sum.
	draws, err := model.Samples(ctx, cells, 1000)
	if err != nil {
		return err
	}
	totals := make([]float64, 1000)
	for k := range totals {
		for c := range cells {
			totals[k] += draws[c][k]
		}
	}
	slices.Sort(totals)
	fmt.Printf("store 3, all ten items, month 6: 90 %% interval of the total %.0f to %.0f\n", totals[50], totals[950])

	// A model is bytes; Save and Load do the same with a file.
	var file bytes.Buffer
	if _, err := model.WriteTo(&file); err != nil {
		return err
	}
	loaded, err := kft.ReadModel(&file)
	if err != nil {
		return err
	}
	again, err := loaded.Predict(ctx, cells[:1])
	if err != nil {
		return err
	}
	fmt.Println("the loaded model predicts the same:", again[0].Mean == predictions[0].Mean)
	return nil
}

// sales returns a table in memory: units of 10 items in 12 stores and 12 months, with
// a third of the cells missing.
func sales() (kft.Source, error) {
	rng := rand.New(rand.NewPCG(1, 2))
	var store, item, month []int
	var units []float64
	for s := range 12 {
		for i := range 10 {
			taste := rng.NormFloat64() / 2
			for m := range 12 {
				if rng.IntN(3) == 0 {
					continue
				}
				level := 2 + float64(s)/10 + taste + math.Sin(float64(m)*math.Pi/6)/2
				store, item, month = append(store, s), append(item, i), append(month, m)
				units = append(units, math.Round(math.Exp(level+rng.NormFloat64()/5)))
			}
		}
	}
	return kft.Columns(kft.IntColumn("store", store), kft.IntColumn("item", item), kft.IntColumn("month", month), kft.FloatColumn("units", units))
}
