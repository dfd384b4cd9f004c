// Package series implements Gaussian processes along time: one value x_e(t) per series e
// and step t, with a prior that all series share,
//
//	x(t) = level(t) + drift(t) + ar(t) + season(t),
//
// where the level is a random walk, optionally with a damped trend, the drift is a straight
// line whose slope varies around one that all series share, ar is a stationary
// autoregression of order one, and each season is a sum of harmonics of its period. See
// [Prior] for the equations.
//
// The data of a series are sites: Gaussian observations of x_e(t), each a value and a
// precision. Given the sites, the posterior is exact. A Kalman filter and a backward
// recursion give mean and variance at all sites and at any other steps, past or
// future, in O(n d^2) for n steps and d states. Series are independent of each other.
//
// A [Process] holds the series of one term with their sites; it learns the prior by
// maximizing the summed log evidence.
package series
