// Package covariate turns the values of covariates into ids of modes. A covariate
// describes a cell (its price, the temperature on its day) and does not identify it.
//
// A numeric covariate has at most [MaxBins] ids: its values, or the centres of quantile
// bins of them. A missing value is an id of its own. New values between the centres, and
// beyond them, are placed on a grid, so that the number of ids that predictions may ask
// for is bounded.
package covariate
