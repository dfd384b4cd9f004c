package tune

import (
	"cmp"
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// A Sampler proposes the values of a trial. The result depends only on the
// arguments. history holds the finished trials, ordered by number.
type Sampler interface {
	Propose(space Space, number int, history []Observation) Values
}

// An Observation is a finished trial as samplers see it: its point in the unit
// cube and its loss, which is smaller for better trials and +Inf for failed ones.
// A pruned trial is worse than all trials that reached a later rung.
type Observation struct {
	Point []float64
	Loss  float64
	Rung  int // number of rungs reached, with the full budget as one more
}

// compare orders better observations before worse ones.
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

// Samplers returns the names that NewSampler accepts.
func Samplers() []string { return []string{"tpe", "random"} }

// NewSampler returns the sampler with the given name.
func NewSampler(name string, seed uint64) (Sampler, error) {
	switch name {
	case "tpe":
		return TPE{Seed: seed}, nil
	case "random":
		return Random{Seed: seed}, nil
	}
	return nil, fmt.Errorf("unknown sampler %q%s", name, suggest.Hint(name, Samplers()))
}

// Random samples uniformly and ignores the history.
type Random struct{ Seed uint64 }

// Propose implements Sampler.
func (r Random) Propose(space Space, number int, _ []Observation) Values {
	draw := randstream.New(r.Seed, "tune random", uint64(number))
	point := make([]float64, len(space))
	for i := range point {
		point[i] = draw.Float64()
	}
	return space.values(point)
}
