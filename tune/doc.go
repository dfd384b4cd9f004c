// Package tune searches for the best values of named parameters by trials that
// any number of worker processes share.
//
// A [Space] says what may vary, a [Sampler] proposes values from what the
// finished trials scored, a [Store] keeps the trials, and a [Study] joins the
// three. The package knows nothing of models: what a trial does is a function
// that is handed to [Study.Work].
//
// Invariants:
//
//   - What is proposed for a trial depends on the seed, the trial's number and
//     the trials finished before, and on nothing else.
//   - A trial is held by one worker at a time, by a lease that heartbeats renew.
//     A worker that dies loses its own trial only; when the lease has run out
//     another worker takes the same values up again.
//   - A trial finishes once: its attempts are numbered, and only the last one
//     may record a result.
//   - A trial that is pruned at a rung is never the best; what was scored at the
//     rungs of an attempt that was lost is forgotten.
//   - A study is opened by those alone who mean the same one: same space, goal,
//     seed, sampler, rungs, first trial and facts.
package tune
