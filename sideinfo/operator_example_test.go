package sideinfo_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// Three training entities at 0, 1 and 2, and a new one at 1.
func ExampleDual() {
	table := sideinfo.Features{N: 3, C: 1, X: []float32{0, 1, 2}, Names: []string{"size"}}
	b := cpu.New(cpu.Generic, 1)
	op, notices, err := sideinfo.Dual(table, kernel.Matern32(), sideinfo.Options{Backend: b, Columns: 3, Learn: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(op.Kind(), op.Rows(), op.Columns(), notices, op.ThetaNames())
	rows, residual, err := op.NewRows(sideinfo.Features{N: 1, C: 1, X: []float32{1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	trained := op.Matrix()[op.Columns() : 2*op.Columns()]
	fmt.Printf("%.3f %.3f residual %.3f\n", rows, trained, residual)
	// Output:
	// dual 3 4 [] [intercept matern32 length]
	// [1.000 1.000 0.000 0.000] [1.000 1.000 0.000 0.000] residual [0.000]
}
