// Package tune searches for the best values of named parameters. Any number of
// worker processes share the trials.
//
// A [Space] defines the parameters, a [Sampler] proposes values given the scores
// of the finished trials, a [Store] persists the trials, and a [Study] combines
// the three. The package does not depend on models: the caller passes the
// objective function to [Study.Work].
//
// Invariants:
//
//   - The values proposed for a trial depend only on the seed, the number of the
//     trial and the trials finished before it.
//   - One worker at a time holds a trial, by a lease that heartbeats renew. A
//     worker that dies loses only its own trial. When the lease expires, another
//     worker retries the same values.
//   - A trial finishes once. Its attempts are numbered, and only the latest
//     attempt may record a result.
//   - A trial pruned at a rung is never the best one. The rung scores of a lost
//     attempt are discarded.
//   - A study can only be opened with the definition it was created with: the
//     same space, goal, seed, sampler, rungs, first trial and facts.
package tune
