// Package sideinfo turns what is known about the entities of a mode into the
// mode's operator.
//
// Encoders turn a side table into [Features], a plain standardised matrix of one
// row an entity. An [Operator] turns features into A, n x m, which is applied
// along the mode of a core:
//
//	T = A W,   T the n slices of the core, W its m weights.
//
// A is the table itself (primal), random features of it, or a factor L of the
// kernel matrix K = L L' (dual). Every operator knows the rows of entities it
// has not seen, and how much prior variance those rows lose.
package sideinfo
