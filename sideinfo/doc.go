// Package sideinfo turns side information about the entities of a mode into the
// operator of the mode.
//
// A [Spec] names the side information: a table, or columns computed from the ids of
// the mode. [Open] reads the table and joins it with the ids. [Fit] fits an
// [Encoder], which turns the joined rows into [Features], a standardised matrix with
// one row per entity. [New] turns features into an [Operator] A, n x m, which is
// applied along the mode of a core:
//
//	T = A W,   T the n slices of the core, W its m weights.
//
// A is the table itself (primal), random features of it (primal-rff, dual-rff), a
// factor L of the kernel matrix K = L L' (dual), or K (dual-unwhitened). Every
// operator can compute the rows of entities that were not in the training data, and
// the prior variance that these rows do not span.
package sideinfo
