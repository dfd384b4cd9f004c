package kernel_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/backend/ref"
	"github.com/kernel-fried-tensor/kft/kernel"
)

func Example() {
	k, err := kernel.Parse("matern32[price] + rbf[month]*periodic:12[month]")
	if err != nil {
		fmt.Println(err)
		return
	}
	if k, err = kernel.Bind(k, kernel.Columns{Count: 2, Names: []string{"price", "month"}}); err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range k.ParamNames() {
		fmt.Println(name)
	}
	x := kernel.Rows{N: 2, C: 2, X: []float32{0, 0, 0, 12}}
	gram := make([]float32, 4)
	kernel.Gram(ref.Backend{}, gram, k, x, x)
	fmt.Println(gram[0], gram[1])
	// Output:
	// weight of matern32[price]
	// weight of rbf[month]*periodic:12[month]
	// matern32[price] length
	// rbf[month] length
	// periodic[month] length
	// 1 0.5
}

func ExampleParse_unknown() {
	_, err := kernel.Parse("matern23")
	fmt.Println(err)
	// Output: kernel "matern23": unknown kernel "matern23" (did you mean "matern32"?); kernels are rbf, matern12, matern32, matern52, periodic, constant
}
