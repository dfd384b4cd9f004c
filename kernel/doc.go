// Package kernel provides covariance functions k(x, z), which measure the
// similarity of two entities by their side information.
//
// A kernel is an expression over base kernels. Each base kernel is a function
// of a squared distance s = sum_c (x_c - z_c)^2 / l_c^2 over some columns of
// the features:
//
//	rbf        exp(-s/2)
//	matern12   exp(-a),                 a = sqrt(s)
//	matern32   (1 + a) exp(-a),         a = sqrt(3 s)
//	matern52   (1 + a + a^2/3) exp(-a), a = sqrt(5 s)
//	periodic:p exp(-2 sum_c sin^2(pi (x_c - z_c)/p) / l_c^2)
//	constant   1
//
// Base kernels are combined by products and weighted sums. They are 1 at
// distance 0, so k(x, x) is the same for all x ([Kernel.Diagonal]).
// Length-scales and weights are learned as their logarithms, one flat vector
// per kernel.
//
// [Parse] reads the text form, [Bind] resolves it for the columns of a table,
// [InitLengthScales] sets length-scales to the median distance. [Gram] computes
// k for all pairs of rows in float32, [ParamGradient] its derivatives, and
// [SampleSpectrum] draws random Fourier features whose inner products converge
// to k.
package kernel
