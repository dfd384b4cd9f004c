package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fitrecord"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/response"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A checksum shows that a file is complete, not that a fit wrote it. The checks of this
// file are what the rest of the package relies on, so that a crafted file can neither
// crash nor stall a prediction.

// checkSpec returns an error unless the specification is valid.
func (d *decoder) checkSpec() error {
	s := d.m.spec
	if err := s.Validate(); err != nil {
		return fmt.Errorf("its specification: %w", err)
	}
	if s.Transform == "auto" || s.Transform == "power" || s.Uncertainty.Likelihood == "auto" {
		return errors.New("its specification leaves the scale or the likelihood open")
	}
	return nil
}

// checkScale returns an error unless the scale is one that a fit with the specification
// can have.
func (d *decoder) checkScale() error {
	s := d.m.scale
	if err := s.Validate(); err != nil {
		return fmt.Errorf("its scale: %w", err)
	}
	u := d.m.spec.Uncertainty
	if u.Counts() != (s.Transform == targetscale.LogRate) || (u.Likelihood == "bernoulli") != (s.Transform == targetscale.Logit) ||
		(u.Likelihood == "ordinal") != (s.Transform == targetscale.Ordinal) {
		return fmt.Errorf("its scale %s does not fit the likelihood %s", s.Transform, d.m.spec.Uncertainty.Likelihood)
	}
	if s.Transform.Linked() && s.Spread != 1 {
		return fmt.Errorf("its scale %s has the spread %g, expected 1", s.Transform, s.Spread)
	}
	return nil
}

// checkIDs returns an error unless the ids of a mode are distinct.
func checkIDs(mode string, ids []string) error {
	if len(ids) == 0 {
		return fmt.Errorf("mode %s has no ids", mode)
	}
	if len(ids) > math.MaxInt32 {
		return fmt.Errorf("mode %s has %d ids", mode, len(ids))
	}
	seen := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		if _, again := seen[id]; again {
			return fmt.Errorf("mode %s has the id %q twice", mode, id)
		}
		seen[id] = struct{}{}
	}
	return nil
}

// checkModeGroups returns an error unless groups are those of a mode with that many ids,
// each column once and with no more groups than a fit allows.
func checkModeGroups(mode string, ids int, g *sideinfo.Groups) error {
	if g.Table.Mode != mode {
		return fmt.Errorf("their table is one of mode %q", g.Table.Mode)
	}
	names := g.Names()
	for i, c := range g.Columns {
		if c.Name == "" || slices.Contains(names[:i], c.Name) {
			return fmt.Errorf("column %q has no name or is there twice", c.Name)
		}
		if n := len(c.Levels); n == 0 || n > sideinfo.MaxGroups {
			return fmt.Errorf("column %q has %d groups, expected 1 to %d", c.Name, n, sideinfo.MaxGroups)
		}
	}
	return g.Check(ids)
}

// checkNoise returns an error unless the noise is the one kind that the specification
// names, with variances and parameters above 0. The factors of entities are read later.
func (d *decoder) checkNoise() error {
	n, u := d.m.noise, d.m.spec.Uncertainty
	if err := n.Validate(); err != nil {
		return err
	}
	if n.Likelihood() != u.Likelihood {
		return fmt.Errorf("its noise does not fit the likelihood %s", u.Likelihood)
	}
	return nil
}

// checkResponse returns an error unless draws can be widened by a factor.
func checkResponse(factor float64) error {
	if !(factor > 1 && factor <= response.MaxFactor) {
		return fmt.Errorf("its draws are widened by a factor of %g, which is not between 1 and %d", factor, response.MaxFactor)
	}
	return nil
}

// checkCorrection returns an error unless the groups of the conformal correction exist.
func (d *decoder) checkGroups(entity bool, groups []int64) error {
	if !entity {
		return nil
	}
	if d.m.spec.Uncertainty.ConformalMode() == "" || d.m.groupMode < 0 {
		return fmt.Errorf("its conformal correction is by entity, but the specification has uncertainty.conformal %s", d.m.spec.Uncertainty.Conformal)
	}
	if n := d.sizes[d.m.groupMode]; len(groups) > 0 && slices.Max(groups) >= int64(n) {
		return fmt.Errorf("its conformal correction has a group %d for %d ids", slices.Max(groups), n)
	}
	return nil
}

// checkRecord returns an error unless the record can be shown and used.
func (d *decoder) checkRecord() error {
	r := d.m.record
	names := d.m.spec.ModeNames()
	for _, s := range r.Side {
		if !slices.Contains(names, s.Mode) || s.Table.Entities < 0 {
			return fmt.Errorf("its record of side information describes %d ids of %q", s.Table.Entities, s.Mode)
		}
		for _, g := range s.Groups {
			if g.Levels < 0 || g.Missing < 0 {
				return fmt.Errorf("its record describes %d groups of %s.%s and %d ids without one", g.Levels, s.Mode, g.Column, g.Missing)
			}
		}
	}
	if len(r.Client) > fitrecord.MaxClient {
		return fmt.Errorf("its record has a client's value of %d bytes", len(r.Client))
	}
	if r.Rows.Rows < 0 {
		return fmt.Errorf("its record has %d rows", r.Rows.Rows)
	}
	if r.Refit != nil && (r.Refit.Rows < 0 || r.Refit.Sweeps < 0 || r.Refit.Measured < 0 || r.Refit.Measured > r.Refit.Rows) {
		return fmt.Errorf("its record has a refit on %d rows in %d sweeps", r.Refit.Rows, r.Refit.Sweeps)
	}
	if err := checkTargets(r.Targets, d.m); err != nil {
		return err
	}
	for _, t := range r.Terms {
		for _, rank := range slices.Concat(t.Ranks, t.Offered) {
			if rank < 1 {
				return fmt.Errorf("its record has the rank %d of the term %q", rank, t.Term)
			}
		}
	}
	return nil
}

// checkParts returns an error unless every row belongs to a part.
func checkParts(parts []uint8) error {
	for i, p := range parts {
		if dataset.Part(p) > dataset.Unused {
			return fmt.Errorf("row %d of its split belongs to the unknown part %d", i, p)
		}
	}
	return nil
}

// checkTrains returns an error unless the description of the trains can be read: every
// train has cores over distinct modes, all or none of them have a posterior, and groups
// are numbered in order.
func (d *decoder) checkTrains(trains []trainMeta) error {
	if _, series := d.f.Meta["series"]; len(trains) == 0 && !series {
		return errors.New("it has no terms")
	}
	for k, t := range trains {
		if t.Group < 0 || t.Group > k {
			return fmt.Errorf("term %d belongs to the group %d", k, t.Group)
		}
		seen := map[string]bool{}
		for p, c := range t.Cores {
			if len(c.Modes) == 0 {
				return fmt.Errorf("core %d of term %d has no mode", p, k)
			}
			for _, mode := range c.Modes {
				if seen[mode] {
					return fmt.Errorf("term %d has the mode %q twice", k, mode)
				}
				seen[mode] = true
			}
			if err := checkAlong(k, p, len(t.Cores), c); err != nil {
				return err
			}
			if (c.Posterior != nil) != d.m.spec.Uncertainty.Bayesian() {
				return fmt.Errorf("core %d of term %d does not fit the inference %s", p, k, d.m.spec.Uncertainty.Inference)
			}
			if c.Posterior != nil && !(c.Posterior.Free >= 0 && c.Posterior.Free <= math.MaxFloat32 && c.Posterior.Side >= 0 && c.Posterior.Side <= math.MaxFloat32) {
				return fmt.Errorf("core %d of term %d has the prior variances %g and %g", p, k, c.Posterior.Free, c.Posterior.Side)
			}
		}
	}
	return nil
}

// checkSize returns an error unless a tensor has at least one value for each of n. It
// precedes allocations of that size.
func (d *decoder) checkSize(name string, n int) error {
	t, found := d.f.Tensor(name)
	if !found {
		return fmt.Errorf("tensor %q is missing", name)
	}
	if t.Len() < n {
		return fmt.Errorf("tensor %q has %d values, expected %d", name, t.Len(), n)
	}
	return nil
}

// checkPosteriorSize returns an error if the file lacks the variances that the family of
// a core's posterior has, before memory for them is allocated.
func (d *decoder) checkPosteriorSize(k, p int, c *tt.Core, outer bool) error {
	size := c.Slices.Slice()
	if d.m.spec.Uncertainty.Family() == tt.EntityCovariance && outer && c.Variant != tt.Side && c.Along == nil {
		if size > math.MaxInt32 || size*size > math.MaxInt/max(c.Slices.N, 1) {
			return fmt.Errorf("core %d of term %d has slices of %d weights", p, k, size)
		}
		return d.checkSize(coreTensor(k, p, "covariance"), c.Slices.N*size*size)
	}
	return d.checkSize(coreTensor(k, p, "variance"), c.Slices.Len())
}

// checkPosterior returns an error unless all variances of a core are 0 or more and all
// covariances are possible.
func checkPosterior(name string, c *tt.Core) error {
	arrays := [][]float32{c.Slices.Var}
	var squares [][]float32
	if s := c.FreePosterior; s != nil {
		arrays, squares = append(arrays, s.Var), append(squares, s.Cov)
	}
	if s := c.WeightPosterior; s != nil {
		arrays = append(arrays, s.Var)
		for _, sigma := range s.Sigma {
			arrays = append(arrays, sigma.Diag)
		}
	}
	for _, values := range arrays {
		for _, v := range values {
			if v < 0 {
				return fmt.Errorf("%s has the negative variance %g", name, v)
			}
		}
	}
	for _, values := range append(squares, c.Slices.Cov) {
		if err := checkCovariances(values, c.Slices.Slice()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// covarianceTolerance allows for the rounding of a covariance to float32.
const covarianceTolerance = 1e-3

// checkCovariances checks r x r covariances, one after the other.
func checkCovariances(values []float32, r int) error {
	for ; len(values) >= r*r && r > 0; values = values[r*r:] {
		for i := range r {
			own := float64(values[i*r+i])
			if own < 0 {
				return fmt.Errorf("a variance is negative: %g", own)
			}
			for j := range i {
				v, w := float64(values[i*r+j]), float64(values[j*r+i])
				limit := math.Sqrt(own*float64(values[j*r+j])) * (1 + covarianceTolerance)
				if math.Abs(v) > limit || math.Abs(v-w) > covarianceTolerance*limit {
					return fmt.Errorf("the covariance %g is not possible with variances %g and %g", v, own, values[j*r+j])
				}
			}
		}
	}
	return nil
}

// counts reads numbers of training rows by id of a mode.
func (d *decoder) rowCounts(mode string, ids int) ([]int32, error) {
	seen, err := modelfile.Values[int32](d.f, "seen/"+mode, -1)
	if err != nil {
		return nil, err
	}
	if len(seen) > ids {
		return nil, fmt.Errorf("%d row counts for %d ids of %s", len(seen), ids, mode)
	}
	if len(seen) > 0 && slices.Min(seen) < 0 {
		return nil, fmt.Errorf("a number of training rows of %s is negative", mode)
	}
	return seen, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// positive returns an error unless a number is finite and above 0.
func positive(name string, v float64) error {
	if v > 0 && finite(v) {
		return nil
	}
	return fmt.Errorf("%s is %g, expected a finite number above 0", name, v)
}
