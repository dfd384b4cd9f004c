package likelihood_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/likelihood"
)

// A cell with 7 sales where the field is 1, an expected count of exp(1). The
// Gaussian observation that replaces it has a target above the mean and a
// precision near the expected count.
func ExamplePoisson_Expect() {
	e := likelihood.Poisson{}.Expect(7, 1, 0.1)
	target, precision := e.Site(1)
	fmt.Printf("%.3f %.3f %.3f\n", e.Value, target, precision)
	// Output: -4.383 2.450 2.858
}

func ExampleNegativeBinomial_CDF() {
	n := likelihood.NegativeBinomial{Size: 2}
	fmt.Printf("mean %.2f sd^2 %.2f P(Y<=5) %.3f\n", n.Mean(1), n.Var(1), n.CDF(5, 1))
	// Output: mean 2.72 sd^2 6.41 P(Y<=5) 0.870
}

func ExampleFitByEntity() {
	errors := likelihood.Errors{Squared: []float32{1, 1.2, 0.8, 1, 9, 11, 10, 10}}
	item := []int32{0, 0, 0, 0, 1, 1, 1, 1}
	noise := likelihood.FitByEntity(errors, [][]int32{item}, []int{3}, nil, 1)
	for _, code := range []int32{0, 1, 2} {
		fmt.Printf("%.1f ", noise.At([][]int32{{code}}, 0))
	}
	// Output: 1.8 6.9 4.4
}
