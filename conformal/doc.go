// Package conformal corrects predictive distributions on held-out data, so that
// their intervals have the nominal coverage.
//
// A [Correction] holds the empirical distribution of the standardised score
//
//	z = (g(y) - m) / sd
//
// on a calibration set (for counts, of the normal score of the randomised PIT). It
// replaces the standard normal distribution of z: the quantile at level p becomes
// g^-1(m + sd Z(p)).
//
// Guarantee: on data exchangeable with the calibration set, and on average over such
// data, the central 1-2a interval covers a share 1-2a of the values, however wrong the
// model is. This does not hold for every single cell, nor for every entity unless
// each entity is a group of its own, nor for the future of a series that was
// calibrated on its past.
//
// [NewMeanCurve] corrects predicted means, which the score does not change, by their
// size on the same rows.
package conformal
