package model

import (
	"errors"
	"fmt"

	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/tt"
)

// posterior reads the posterior of a core whose means are already there. outer says
// that the core is the first or the last of its train.
func (d *decoder) posterior(k, p int, c *tt.Core, meta *posteriorMeta, outer bool) error {
	if meta == nil {
		return nil
	}
	if err := d.checkPosteriorSize(k, p, c, outer); err != nil {
		return err
	}
	if err := c.SetFamily(d.m.spec.Uncertainty.Family(), outer); err != nil {
		return err
	}
	if s := c.FreePosterior; s != nil {
		s.PriorVar[0] = float32(meta.Free)
		if mean, given := d.m.spec.Uncertainty.PriorMean.Value(); given {
			s.PriorMean = mean
		}
		if c.Map != nil { // entities added after the fit have none of their own
			size := len(c.Free)
			s.Var = s.Var[:size]
			if s.Cov != nil {
				s.Cov = s.Cov[:size*c.Slices.Slice()]
			}
		}
	}
	if s := c.WeightPosterior; s != nil {
		s.PriorVar[0] = float32(meta.Side)
	}
	var failed error
	posteriorArrays(c, func(name string, values []float32) {
		if values == nil || failed != nil {
			return
		}
		read, err := modelfile.Values[float32](d.f, coreTensor(k, p, name), len(values))
		if err != nil {
			failed = err
			return
		}
		copy(values, read)
	})
	if failed != nil {
		return failed
	}
	c.FillVariances()
	return checkPosterior(fmt.Sprintf("core %d of term %d", p, k), c)
}

// uncertainty reads the noise, the conformal correction and the numbers of training
// rows.
func (d *decoder) uncertainty() error {
	m := d.m
	if err := d.get("uncertainty", &m.noise); err != nil {
		return err
	}
	for i, mode := range m.modes {
		seen, err := d.rowCounts(mode.Name, d.sizes[i])
		if err != nil {
			return err
		}
		m.rows = append(m.rows, seen)
		if _, has := d.f.Tensor("observed/" + mode.Name); !has {
			continue // a file of an earlier version
		}
		means, err := modelfile.Values[float64](d.f, "observed/"+mode.Name, len(seen))
		if err != nil {
			return err
		}
		m.seen = append(m.seen, means)
	}
	if m.seen != nil && len(m.seen) != len(m.modes) {
		return errors.New("it has the observed means of some modes only")
	}
	m.resolve()
	if err := d.checkNoise(); err != nil {
		return err
	}
	m.setNoise(m.noise)
	r, err := conformal.ReadRecord(d.f)
	if err != nil {
		return err
	}
	if r != nil {
		if err := d.checkGroups(r.Grouping == conformal.ByEntity, r.Group); err != nil {
			return err
		}
		if m.correction, err = conformal.FromRecord(*r); err != nil {
			return err
		}
	}
	return d.means()
}
