// Package calibrate turns what a model knows of a cell into a distribution in
// the user's units, corrects that distribution on data kept aside for it, and
// measures whether "90 %" means 90 %.
//
// A [Predictive] is the distribution of one cell: mean, quantiles, density and
// draws all come from it. It starts as N(m, model + noise variance) on the
// modelling scale, or as a count law mixed over f ~ N(m, v). A [Layer] holds the
// empirical distribution of
//
//	z = (g(y) - m) / sd
//
// on a calibration set (of the normal score of the PIT for counts) and replaces
// the normal law of z by it: quantile p becomes g^-1(m + sd Z(p)). A [Tally] adds
// up the measures: xi, CRPS, pinball and the others; a [Heat] the calibration
// rate by entity and time.
//
// What a layer promises: on data exchangeable with the calibration set, and on
// average over such data, the share of values in the central 1-2a interval is
// 1-2a, whatever the model got wrong. It does not promise that for each cell, nor
// for each entity unless the entity is a group of its own, nor for the future of
// a series calibrated on its past.
package calibrate
