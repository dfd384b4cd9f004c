// Package metrics measures predictions on observed values.
//
// [PointSums] accumulates R2, RMSE, MAE and bias of point predictions into a [Score].
// [CalibrationSums] accumulates the measures of predictive distributions into a
// [Calibration]: coverage, CRPS, pinball loss, interval score, PIT histogram.
// [BiasSums] compares predicted with actual totals by size of the prediction.
// [CoverageMap] counts the coverage of intervals by the entities of two modes.
//
// Sums of disjoint rows can be merged. For results that do not depend on the number
// of threads, divide the rows independently of the threads, fill one value per
// division and merge in order.
package metrics
