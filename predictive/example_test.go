package predictive_test

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A sale that is log-normal after adding 1, with uncertainty of the model and noise.
func ExampleGaussian() {
	d := predictive.Gaussian(targetscale.Log1p, 2, 0.05, 0.35)
	fmt.Printf("mean %.2f, median %.2f\n", d.Mean(), d.Median())
	fmt.Printf("90 %% interval %.2f to %.2f\n", d.Quantile(.05), d.Quantile(.95))
	fmt.Printf("CRPS of 10: %.2f\n", d.CRPS(10))
	// Output:
	// mean 8.03, median 6.39
	// 90 % interval 1.61 to 19.91
	// CRPS of 10: 2.09
}

// A count whose logarithmic rate is known up to a variance of 0.1.
func ExampleCountMixture() {
	d := predictive.CountMixture(likelihood.Poisson{}, 1, 0.1)
	m := d.Moments()
	fmt.Printf("mean %.2f, sd %.2f (model %.2f, noise %.2f)\n", m.Mean, m.SD, m.SDModel, m.SDNoise)
	fmt.Printf("P(Y <= 2) = %.3f, 90 %% interval %g to %g\n", d.CDF(2), d.Quantile(.05), d.Quantile(.95))
	// Output:
	// mean 2.86, sd 1.93 (model 0.93, noise 1.69)
	// P(Y <= 2) = 0.483, 90 % interval 0 to 6
}
