// Package solver trains a field. A solver visits blocks of weights in turn. The
// schedule, early stopping on the validation set, the penalty search, checkpoints
// and progress are common to all solvers.
//
// Let f_n be the field at observation n with value y_n and weight w_n, G a core,
// R a rank, and s2 the noise variance.
//
// # als
//
// Alternating least squares minimizes the penalized loss
//
//	sum_n w_n (y_n - f_n)^2 + sum over cores and entities e of lambda_e |G(e)|^2
//
// over one block at a time; see [Ridge] for the penalty of regressions. The free
// weights of an outer core have independent normal equations per entity and are
// solved exactly, with R^2 multiply-adds per cell and R^3 per entity. Other blocks
// take a few preconditioned conjugate gradient steps, with one pass over the cells
// per step.
//
// # cavi
//
// Coordinate ascent variational inference maximizes the evidence lower bound
//
//	-1/2 sum_n [ log(2 pi s2) + w_n E(y_n - f_n)^2 / s2 ] - KL(q || prior)
//
// over the posterior of one block at a time. The equations are those of als with
// expected second moments. Noise and prior variances have closed forms. A block
// costs one pass with second moments and one per conjugate gradient step. Count
// likelihoods are handled through Gaussian sites; see [Likelihood].
//
// # adam
//
// Adam takes first-order steps on minibatches, on the objective of als for point
// estimates and on that of cavi for posteriors, where it updates first the means
// and then the variances. An epoch costs one pass over the cells, two if the field
// has several terms, and one update of every weight per step.
//
// # Reproducibility
//
// The same problem and options give identical bits on any number of threads, and
// for a run that was interrupted and resumed. Only the moment at which a time
// budget stops a run depends on the clock.
package solver
