package spec_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/spec"
)

func ExampleParse() {
	s, warnings, err := spec.Parse([]byte(`
version: 1
data: {files: [sales.csv], target: bottles, modes: [store, item, time=year+month]}
fit: {sweeps: 40, rate: 0.1}
`), "kft.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Seed = 7 // overrides the file
	s.Fill()
	fmt.Println(s.Validate())
	fmt.Println(s.Terms, s.Fit.Sweeps, s.Fit.Solver, s.Fit.Lambda)
	fmt.Println(warnings[0])
	// Output:
	// <nil>
	// [auto] 40 cavi auto
	// kft.yaml:4: fit.rate is deprecated; use fit.learning-rate
}

func ExampleSpec_Validate() {
	s := spec.Spec{
		Data:      spec.Data{Target: "bottles", Modes: []string{"store", "item"}},
		Terms:     []string{"store,item:5", "stores"},
		Transform: "log1",
	}
	s.Fill()
	fmt.Println(s.Validate())
	// Output:
	// transform: unknown value "log1"; use identity, log1p, sqrt, cbrt1p, power, power:P or auto (did you mean "log1p"?)
	// terms[1]: unknown mode "stores" (did you mean "store"?)
}

func ExampleSpec_Set() {
	s := spec.Default()
	for _, key := range []string{"fit.sweeps", "fit.cgsteps", "fit.sweps"} {
		warnings, err := s.Set(key, false, "50")
		fmt.Println(s.Fit.Sweeps, s.Fit.CGSteps, warnings, err)
	}
	// Output:
	// 50 6 [] <nil>
	// 50 50 [fit.cgsteps is deprecated; use fit.cg-steps] <nil>
	// 50 50 [] fit.sweps: unknown key (did you mean "sweeps"?)
}

func ExampleLambda() {
	var auto spec.Lambda
	fmt.Println(auto, spec.LambdaOf(0), spec.LambdaOf(2.5))
	// Output: auto 0 2.5
}
