package spec_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/spec"
)

func ExampleParse() {
	spec, _, err := spec.Parse([]byte(`
version: 1
data: {files: [sales.csv], target: bottles, modes: [store, item, time=year+month]}
fit: {sweeps: 40}
`), "kft.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	spec.Seed = 7 // a flag overrides the file
	spec.Fill()
	fmt.Println(spec.Validate())
	fmt.Println(spec.Terms, spec.Fit.Sweeps, spec.Fit.Solver, spec.Fit.Lambda)
	// Output:
	// <nil>
	// [store,item,time:20] 40 als auto
}

func ExampleSpec_Validate() {
	spec := spec.Spec{
		Data:      spec.Data{Target: "bottles", Modes: []string{"store", "item"}},
		Terms:     []string{"store,item:5", "stores"},
		Transform: "log1",
	}
	spec.Fill()
	fmt.Println(spec.Validate())
	// Output:
	// transform: "log1" is not known; use identity, log1p, sqrt, cbrt1p or auto (did you mean "log1p"?)
	// terms[1]: mode "stores" is not among the modes (did you mean "store"?)
}
