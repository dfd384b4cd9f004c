package kft

import (
	"fmt"

	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/tt"
)

// spreadMeta describes the posterior of a core's blocks in a model file.
type spreadMeta struct {
	Free float64 `json:"free,omitempty"` // prior variances
	Side float64 `json:"side,omitempty"`
	Lead []int   `json:"lead,omitempty"` // of each Sigma
}

func spreadMetaOf(c *tt.Core) *spreadMeta {
	if c.FreeSpread == nil && c.WeightSpread == nil {
		return nil
	}
	meta := &spreadMeta{}
	if c.FreeSpread != nil {
		meta.Free = float64(c.FreeSpread.PriorVar[0])
	}
	if c.WeightSpread != nil {
		meta.Side = float64(c.WeightSpread.PriorVar[0])
		for _, s := range c.WeightSpread.Sigma {
			meta.Lead = append(meta.Lead, s.Lead)
		}
	}
	return meta
}

// spreadArrays names the arrays of a core's posterior. What shares memory with the
// slices is named once.
func spreadArrays(c *tt.Core, each func(name string, values []float32)) {
	each("variance", c.Slices.Var)
	each("covariance", c.Slices.Cov)
	if c.Map == nil {
		return
	}
	if s := c.FreeSpread; s != nil {
		each("weight/variance", s.Var)
		each("weight/covariance", s.Cov)
	}
	if s := c.WeightSpread; s != nil {
		each("side/variance", s.Var)
		for q, sigma := range s.Sigma {
			each(fmt.Sprintf("side/factor/%d", q), sigma.Factor)
			each(fmt.Sprintf("side/diagonal/%d", q), sigma.Diag)
		}
	}
}

// spreadTensors returns the arrays of a core's posterior.
func spreadTensors(k, p int, c *tt.Core) []modelfile.Tensor {
	var tensors []modelfile.Tensor
	spreadArrays(c, func(name string, values []float32) {
		if values != nil {
			tensors = append(tensors, modelfile.Of(coreTensor(k, p, name), values, len(values)))
		}
	})
	return tensors
}

// spread reads the posterior of a core whose means are read; outer tells whether
// it is the first or the last of its train.
func (l *loader) spread(k, p int, c *tt.Core, meta *spreadMeta, outer bool) error {
	if meta == nil {
		return nil
	}
	if err := c.SetFamily(l.m.spec.Uncertainty.Family(), outer); err != nil {
		return err
	}
	if s := c.FreeSpread; s != nil {
		s.PriorVar[0] = float32(meta.Free)
		if c.Map != nil { // entities that came after the fit have none of their own
			size := len(c.Free)
			s.Var = s.Var[:size]
			if s.Cov != nil {
				s.Cov = s.Cov[:size*c.Slices.Slice()]
			}
		}
	}
	if s := c.WeightSpread; s != nil {
		s.PriorVar[0] = float32(meta.Side)
	}
	var failed error
	spreadArrays(c, func(name string, values []float32) {
		if values == nil || failed != nil {
			return
		}
		read, err := modelfile.Values[float32](l.f, coreTensor(k, p, name), len(values))
		if err != nil {
			failed = err
			return
		}
		copy(values, read)
	})
	if failed == nil {
		c.CompleteSpread()
	}
	return failed
}

// layerTensors returns the arrays of the conformal layer, none without one.
func layerTensors(layer *calibrate.Layer) (grouping string, tensors []modelfile.Tensor) {
	if layer == nil {
		return "", nil
	}
	r := layer.Record()
	return string(r.Grouping), []modelfile.Tensor{
		modelfile.Of("conformal/edges", r.Edges, len(r.Edges)), modelfile.Of("conformal/group", r.Group, len(r.Group)),
		modelfile.Of("conformal/size", r.Size, len(r.Size)), modelfile.Of("conformal/knots", r.Knots, len(r.Knots)),
	}
}

// uncertainty reads noise, conformal layer and the counts of training rows.
func (l *loader) uncertainty() error {
	m := l.m
	if err := l.get("uncertainty", &m.uncertain); err != nil {
		return err
	}
	for i, mode := range m.modes {
		seen, err := modelfile.Values[int32](l.f, "seen/"+mode.Name, -1)
		if err != nil {
			return err
		}
		if len(seen) > l.sizes[i] {
			return fmt.Errorf("%d counts of rows for %d ids of %s", len(seen), l.sizes[i], mode.Name)
		}
		m.seen = append(m.seen, seen)
	}
	if m.uncertain.count() == nil && m.uncertain.Constant == nil && m.uncertain.Entity == nil && m.uncertain.Power == nil {
		return fmt.Errorf("it has neither noise nor a law of counts")
	}
	if grouping := l.f.Meta["conformal"]; grouping != "" {
		r := calibrate.Record{Grouping: calibrate.Grouping(grouping)}
		var err error
		if r.Edges, err = modelfile.Values[float64](l.f, "conformal/edges", -1); err != nil {
			return err
		}
		if r.Group, err = modelfile.Values[int64](l.f, "conformal/group", -1); err != nil {
			return err
		}
		if r.Size, err = modelfile.Values[int64](l.f, "conformal/size", -1); err != nil {
			return err
		}
		if r.Knots, err = modelfile.Values[float64](l.f, "conformal/knots", -1); err != nil {
			return err
		}
		if m.uncertain.layer, err = calibrate.FromRecord(r); err != nil {
			return err
		}
	}
	return m.resolve()
}
