package model

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/tt"
)

// posteriorMeta describes the posterior of a core's blocks in a model file.
type posteriorMeta struct {
	Free float64 `json:"free,omitempty"` // prior variances
	Side float64 `json:"side,omitempty"`
	Lead []int   `json:"lead,omitempty"` // of each Sigma
}

func posteriorMetaOf(c *tt.Core) *posteriorMeta {
	if c.FreePosterior == nil && c.WeightPosterior == nil {
		return nil
	}
	meta := &posteriorMeta{}
	if c.FreePosterior != nil {
		meta.Free = float64(c.FreePosterior.PriorVar[0])
	}
	if c.WeightPosterior != nil {
		meta.Side = float64(c.WeightPosterior.PriorVar[0])
		for _, s := range c.WeightPosterior.Sigma {
			meta.Lead = append(meta.Lead, s.Lead)
		}
	}
	return meta
}

// posteriorArrays calls each for the arrays of a core's posterior. Arrays that share
// memory with the slices are passed once.
func posteriorArrays(c *tt.Core, each func(name string, values []float32)) {
	each("variance", c.Slices.Var)
	each("covariance", c.Slices.Cov)
	if c.Map == nil {
		return
	}
	if s := c.FreePosterior; s != nil {
		each("weight/variance", s.Var)
		each("weight/covariance", s.Cov)
	}
	if s := c.WeightPosterior; s != nil {
		each("side/variance", s.Var)
		for q, sigma := range s.Sigma {
			each(fmt.Sprintf("side/factor/%d", q), sigma.Factor)
			each(fmt.Sprintf("side/diagonal/%d", q), sigma.Diag)
		}
	}
}

// posteriorTensors returns the arrays of a core's posterior.
func posteriorTensors(k, p int, c *tt.Core) []modelfile.Tensor {
	var tensors []modelfile.Tensor
	posteriorArrays(c, func(name string, values []float32) {
		if values != nil {
			tensors = append(tensors, modelfile.NewTensor(coreTensor(k, p, name), values, len(values)))
		}
	})
	return tensors
}
