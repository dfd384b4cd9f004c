// Package kernel is k(x, z): how alike two entities are by their side
// information.
//
// A kernel is an expression over base kernels, each of a squared distance
// s = sum_c (x_c - z_c)^2 / l_c^2 over some columns of the features:
//
//	rbf        exp(-s/2)
//	matern12   exp(-a),                 a = sqrt(s)
//	matern32   (1 + a) exp(-a),         a = sqrt(3 s)
//	matern52   (1 + a + a^2/3) exp(-a), a = sqrt(5 s)
//	periodic:p exp(-2 sum_c sin^2(pi (x_c - z_c)/p) / l_c^2)
//	constant   1
//
// joined by products and by weighted sums. Base kernels are 1 at distance 0, so
// k(x, x) is the same everywhere ([Kernel.Diagonal]). Length-scales and weights
// are learned as their logarithms, one flat vector a kernel.
//
// [Parse] reads the text form, [Bind] fits it to the columns of a table, [Start]
// sets length-scales to the median distance. [Gram] computes k for all pairs of
// rows in float32, [Pull] its derivatives, and [Sample] draws random Fourier
// features whose inner products converge to k.
package kernel
