package kft_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kernel-fried-tensor/kft"
)

// Take three products of a new row into a model, and predict another one.
func ExampleUpdater() {
	ctx := context.Background()
	spec := productSpec()
	spec.Uncertainty.Inference = "mean-field"
	m, _, err := kft.Fit(ctx, spec, products(), kft.Options{})
	if err != nil {
		log.Fatal(err)
	}
	u, err := m.NewUpdater(1)
	if err != nil {
		log.Fatal(err)
	}
	cell := kft.Cell{"row": "9", "column": "6"}
	before, err := m.Predict(ctx, []kft.Cell{cell})
	if err != nil {
		log.Fatal(err)
	}
	for _, column := range []int{1, 4, 8} {
		row := kft.UpdateRow{Cell: kft.Cell{"row": "9", "column": fmt.Sprint(column)}, Value: float64(9 * column)}
		if _, err := u.Take(ctx, []kft.UpdateRow{row}, kft.UpdateOptions{Local: true}); err != nil {
			log.Fatal(err)
		}
	}
	updated, err := u.Model()
	if err != nil {
		log.Fatal(err)
	}
	after, err := updated.Predict(ctx, []kft.Cell{cell})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(before[0].Unseen, after[0].Unseen, updated.Taken())
	fmt.Printf("%.0f %.0f\n", before[0].Mean, after[0].Mean)
	// Output:
	// [row] [] 3
	// 27 54
}
