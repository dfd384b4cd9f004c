// Package predictive holds the predictive distribution of one cell.
//
// A [targetscale.Transform] g maps the target to the modelling scale, on which package noisemodel
// has the noise.
//
// A [Distribution] is the distribution of one cell in the units of the target. Its
// mean, quantiles, density, CRPS and draws all describe the same distribution. It
// is either
//
//	g(y) ~ N(m, model variance + noise variance)
//
// or a [CountDistribution] mixed over f ~ N(m, v). In both cases a value has a
// standardised score z: (g(y) - m) / sd, or for counts the normal score of the
// randomised PIT. By default z is standard normal. A [ScoreDistribution] estimated
// on held-out data can replace that normal distribution; package conformal does so.
package predictive
