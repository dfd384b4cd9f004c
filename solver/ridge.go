package solver

import "github.com/kernel-fried-tensor/kft/solver/penalty"

// RidgeKind is how the penalty of an entity depends on its observations.
type RidgeKind = penalty.Kind

// The kinds of penalty; see package penalty.
const (
	Uniform   = penalty.Uniform
	Frequency = penalty.Frequency
	Paper     = penalty.Paper
)

// Ridge is a quadratic penalty in units of the summed loss; see package penalty.
type Ridge = penalty.Ridge

// PenaltySearch finds the penalty with the lowest validation error by short runs, and a
// Trial is the result of one; see package penalty.
type (
	PenaltySearch = penalty.Search
	Trial         = penalty.Trial
)

// blockPenalty is the penalty of one block while the others are fixed.
type blockPenalty = penalty.Block

// penalizedLoss returns the penalized loss per observation.
func (d *data) penalizedLoss(r Ridge, loss float64) float64 {
	return (loss + r.FieldPenalty(d.b, d.field, d.entityWeights)) / float64(len(d.y))
}
