package targetscale_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A scale fitted to training targets standardises them.
func ExampleNewScale() {
	y := []float32{0, 3, 8, 15}
	scale, err := targetscale.NewScale(targetscale.Sqrt, y, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	z := make([]float32, len(y))
	if err := scale.Forward(z, y); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", z)
	fmt.Println(scale.Forward(z, []float32{-1}))
	// Output:
	// [-1.47 -0.26 0.50 1.23]
	// the target -1 is outside the domain of transform sqrt, which requires values of 0 or more; correct the value, or use transform identity
}
