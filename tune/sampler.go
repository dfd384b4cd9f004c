package tune

import (
	"cmp"
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/nearest"
	"github.com/kernel-fried-tensor/kft/internal/stream"
)

// A Sampler proposes the values of a trial, as a function of its arguments
// alone. History holds the trials that have finished, by their numbers.
type Sampler interface {
	Propose(space Space, number int, history []Observation) Values
}

// An Observation is a finished trial as samplers see it: where it was in the
// unit cube and its loss, less being better; +Inf where it failed. One that was
// pruned is worse than all that got further.
type Observation struct {
	Point []float64
	Loss  float64
	Rung  int // how many were climbed, the full budget being one more
}

// compare orders the better before the worse.
func (o Observation) compare(other Observation) int {
	failed, otherFailed := math.IsInf(o.Loss, 1), math.IsInf(other.Loss, 1)
	switch {
	case failed && otherFailed:
		return 0
	case failed:
		return 1
	case otherFailed:
		return -1
	}
	return cmp.Or(cmp.Compare(other.Rung, o.Rung), cmp.Compare(o.Loss, other.Loss))
}

// Samplers are the names that NewSampler knows.
func Samplers() []string { return []string{"tpe", "random"} }

// NewSampler returns the sampler of a name.
func NewSampler(name string, seed uint64) (Sampler, error) {
	switch name {
	case "tpe":
		return TPE{Seed: seed}, nil
	case "random":
		return Random{Seed: seed}, nil
	}
	return nil, fmt.Errorf("%q is no sampler%s", name, nearest.Hint(name, Samplers()))
}

// Random draws evenly and learns nothing.
type Random struct{ Seed uint64 }

// Propose draws a point.
func (r Random) Propose(space Space, number int, _ []Observation) Values {
	draw := stream.New(r.Seed, "tune random", uint64(number))
	point := make([]float64, len(space))
	for i := range point {
		point[i] = draw.Float64()
	}
	return space.values(point)
}
