package fit

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/tt"
)

// RidgeKind is how the penalty depends on an entity's number of observations.
type RidgeKind string

const (
	Uniform   RidgeKind = "uniform"   // lambda for every entity
	Frequency RidgeKind = "frequency" // lambda n_e, n_e the summed weight of its observations
)

// Ridge is a penalty lambda_e |G(e)|^2 on every slice of every core, in units
// of the summed loss.
type Ridge struct {
	Kind   RidgeKind `json:"kind"`
	Lambda float64   `json:"lambda"`
}

func (r Ridge) String() string { return fmt.Sprintf("%s %.4g", r.Kind, r.Lambda) }

func (r Ridge) validate() error {
	if r.Kind != Uniform && r.Kind != Frequency {
		return fmt.Errorf("fit: unknown ridge %q; use uniform or frequency", r.Kind)
	}
	if !(r.Lambda >= 0) || math.IsInf(r.Lambda, 0) {
		return fmt.Errorf("fit: lambda %g is no penalty; it must be 0 or a positive number", r.Lambda)
	}
	return nil
}

// at returns lambda_e for an entity of the given count.
func (r Ridge) at(count float64) float64 {
	if r.Kind == Frequency {
		return r.Lambda * count
	}
	return r.Lambda
}

// penalty returns lambda-weighted squares of a core's slices.
func (r Ridge) penalty(c *tt.Core, counts []float64) float64 {
	size := c.Slices.Slice()
	total := 0.0
	for e := range c.Slices.N - 1 { // the prior's slice is no weight
		sum := 0.0
		for _, v := range c.Slices.Mean[e*size:][:size] {
			sum += float64(v) * float64(v)
		}
		total += r.at(counts[e]) * sum
	}
	return total
}

// total returns the penalty of the whole field.
func (r Ridge) total(f *tt.Field, counts [][][]float64) float64 {
	sum := 0.0
	for k, t := range f.Terms {
		for p, c := range t.Cores {
			sum += r.penalty(c, counts[k][p])
		}
	}
	return sum
}

// balance moves scale between the cores of each train until they pay equal
// penalties: that is the least sum for the same function, and steps of all
// cores then have one size.
func (r Ridge) balance(f *tt.Field, counts [][][]float64) {
	for k, t := range f.Terms {
		paid := make([]float64, len(t.Cores))
		logMean := 0.0
		for p, c := range t.Cores {
			paid[p] = r.penalty(c, counts[k][p])
			logMean += math.Log(paid[p]) / float64(len(t.Cores))
		}
		if math.IsInf(logMean, 0) || math.IsNaN(logMean) {
			continue // a core of zeros, or no penalty: no scale to move
		}
		for p, c := range t.Cores {
			scale := float32(math.Exp((logMean - math.Log(paid[p])) / 2))
			for i := range c.Slices.Mean {
				c.Slices.Mean[i] *= scale
			}
		}
	}
}
