// Package update takes rows into a fitted model without training it again.
//
// The fitted model is the prior. With all other cores fixed at the fit, the field is
// linear in the slices of an outer core, in effects and in series,
//
//	f_n = f0_n + sum over blocks b of x_bn'd_b,
//
// where b is the slice of one entity in one core, d_b its move and x_bn the product of the
// other cores at row n. The fit gives each block the prior N(0, P_b^-1), with the precision
//
//	P_b = 1/tau + 1/s2 sum over its training rows of (x x' + C),
//
// which is all that the training rows say about it: C is the covariance of x. A
// block without training rows has the prior of an unseen entity. Rows y_n with precision
// w_n that are taken in then move all blocks that they touch to the joint optimum
//
//	(P_b + sum_n w_n (x x' + C)) d_b = sum_n w_n x_bn (y_n - f0_n - sum of the moves of others),
//
// a fixed point of coordinate updates like those of package solver, with hyperparameters and
// designs of the fit. Unlike in a fit, training rows do not couple the moves of different blocks:
// the posterior has no covariance between blocks. The system is linear with one solution, so it
// does not matter in which order rows arrive, or in how many parts, and a row that is taken out
// again leaves no trace. A row of the fit is removed with a negative precision from each of its
// blocks, as if the fit had ended without it and all other blocks were the same. A series is a
// block whose posterior follows from its sites by a filter and smoother.
//
// The weights of a regression that a kernel smooths, a curve, are a block too, with the design z = a (x) x for the
// row a of its operator: one block per id for curves per id, and one for all curves that every row
// moves, whose precision the training rows couple. Beyond the range of the fit the part of the prior that the
// operator does not span adds to the noise of a row.
//
// Inner cores of trains, other regressions on side information, the offset and all
// hyperparameters stay as they are. The report says how far the offset would have moved.
//
// A row costs O(P R^3) for a train of P cores and rank R, and O(R^2) per pass.
package update
