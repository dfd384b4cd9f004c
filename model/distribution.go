package model

import (
	"errors"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/noisemodel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// noiseVariance returns the noise variance of row i, which has the row's weight. The level
// is the predicted mean of the row on the transform's scale.
func (m *Model) noiseVariance(level float64, rows Rows, i int) float64 {
	return m.noise.UnitVariance(level, rows.Codes, i) / rows.weight(i) * m.blend.Noise(rows.horizon(i))
}

// Noise returns the noise.
func (m *Model) Noise() Noise { return m.noise }

// Moments returns mean and variance of the field at cells, on the standardised
// scale. The variance is nil for a point estimate.
func (m *Model) Moments(b backend.Backend, codes [][]int32) tt.Moments {
	n := len(codes[0])
	z := tt.Moments{Mean: backend.Make[float32](b, n)}
	if m.spec.Uncertainty.Bayesian() {
		z.Var = backend.Make[float32](b, n)
	}
	if n <= MomentRows {
		z.Remember(codes)
		m.moments(b, z, codes)
		return z
	}
	var work tt.Workspace
	for from := 0; from < n; from += MomentRows {
		to := min(from+MomentRows, n)
		part := tt.Moments{Mean: z.Mean[from:to], Work: &work}
		if z.Var != nil {
			part.Var = z.Var[from:to]
		}
		rows := make([][]int32, len(codes))
		for i, column := range codes {
			rows[i] = column[from:to]
		}
		m.moments(b, part, rows)
	}
	return z
}

// MomentRows is the number of rows whose moments are computed at a time: plans and values of
// terms take some 100 bytes per row.
const MomentRows = 1 << 18

func (m *Model) moments(b backend.Backend, z tt.Moments, codes [][]int32) {
	switch {
	case z.Var == nil:
		m.field.Evaluate(b, z.Mean, codes)
	case m.spec.Uncertainty.Moments == "paper":
		m.field.EvaluateWithoutCrossTerms(b, z, codes)
	default:
		m.field.EvaluateMoments(b, z, codes)
	}
}

// Distribution returns the predictive distribution of row i, given the field's
// moments at all rows. It has the noise of the row's own weight.
func (m *Model) Distribution(z tt.Moments, rows Rows, i int) predictive.Distribution {
	d := m.Distributions(z, rows)
	return *d.At(i)
}

// Distributions returns the predictive distributions of rows, for loops over many of
// them. The result is not safe for concurrent use.
func (m *Model) Distributions(z tt.Moments, rows Rows) Distributions {
	d := Distributions{m: m, z: z, rows: rows, gaussian: m.noise.Count() == nil && m.noise.Finite() == nil}
	if d.gaussian {
		d.noise = m.noise.Rows(rows.Codes, found(z, rows.Codes, m.noise.Entities), func(i int) float64 { return m.Level(z.Mean[i], rows, i) })
		d.own = predictive.Gaussian(m.scale.Transform, 0, 0, 1).WithScores(m.scores).WithMeanCurve(m.means)
		if m.scale.NonNegative {
			d.own = d.own.NonNegative()
		}
	}
	if m.heaping != nil {
		d.levels = found(z, rows.Codes, m.heaping.Indexes())
	}
	return d
}

// found returns the entities of rows by index, as far as the evaluation of their moments found them.
func found(z tt.Moments, codes [][]int32, indexes []noisemodel.EntityIndex) [][]int32 {
	entities := make([][]int32, len(indexes))
	for k, x := range indexes {
		if x, ok := x.(*entity.Index); ok {
			entities[k] = z.Entities(x, codes)
		}
	}
	return entities
}

// Distributions are the predictive distributions of rows.
type Distributions struct {
	m        *Model
	z        tt.Moments
	rows     Rows
	noise    *noisemodel.RowNoise
	placed   []predictive.NormalRow // by row, if they are known
	group    []int32                // groups in the conformal correction plus 1, by row, if they are known
	gaussian bool
	own      predictive.Distribution
	plain    predictive.Distribution // of a row without corrections
	heaped   predictive.Heaped       // of the row
	levels   [][]int32               // entities of the heaped values, by level
}

// At returns the distribution of row i. It is valid until the next call.
func (d *Distributions) At(i int) *predictive.Distribution {
	p := d.bare(i)
	if p == &d.plain { // outgrown
		return p
	}
	if c := d.m.correction; c != nil {
		if d.group != nil {
			c.ApplyGroup(p, int(d.group[i])-1, d.rows.horizon(i))
		} else {
			c.ApplyTo(p, d.groupEntity(i), d.rows.horizon(i))
		}
	}
	if t := d.m.heaping; t != nil {
		t.Apply(p, &d.heaped, d.rows.Codes, d.levels, i)
	}
	return p
}

// Sort sorts the rows, those with the same distribution of scores after each other: of many groups
// the distributions do not fit into the caches. From then on row j is the one that had the number
// order[j]. The distributions of rows do not depend on their order.
func (d *Distributions) Sort() (order []int32) {
	d.Place()
	n := len(d.z.Mean)
	group := make([]int32, n) // plus 1: the pooled distribution is first
	if c := d.m.correction; c != nil && d.placed != nil {
		for i := range group {
			group[i] = 1 + int32(c.GroupOf(d.placed[i].M, d.placed[i].SD, d.groupEntity(i)))
		}
		d.group = group
	}
	order = gather.Order(group)
	d.group, d.placed = gather.Rows(d.group, order), gather.Rows(d.placed, order)
	d.z = tt.Moments{Mean: gather.Rows(d.z.Mean, order), Var: gather.Rows(d.z.Var, order)}
	d.rows = Rows{gather.All(d.rows.Codes, order), gather.Rows(d.rows.Weight, order), gather.Rows(d.rows.Exposure, order), gather.Rows(d.rows.Horizon, order)}
	d.levels = gather.All(d.levels, order)
	return order
}

// Place computes what the moments of all rows need, which takes less time than one by one.
func (d *Distributions) Place() {
	if n := len(d.z.Mean); d.gaussian && n > 1 {
		d.placed = make([]predictive.NormalRow, n)
		for i := range d.placed {
			d.placed[i] = predictive.NewNormalRow(d.place(i))
		}
		d.own.SetMoments(d.placed)
	}
}

// place returns the level of row i and its variances.
func (d *Distributions) place(i int) (level, model, noise float64) {
	level = d.m.Level(d.z.Mean[i], d.rows, i)
	noise = d.noise.UnitVariance(i) * d.m.blend.Noise(d.rows.horizon(i))
	if d.rows.Weight != nil {
		noise /= float64(d.rows.Weight[i])
	}
	return level, d.m.FieldVariance(d.z, i), noise
}

// groupEntity returns the entity of row i that its group in the conformal correction may depend on.
func (d *Distributions) groupEntity(i int) int32 {
	if d.m.correction.Grouping() != conformal.ByEntity {
		return entity.Unknown
	}
	return d.rows.Codes[d.m.groupMode][i]
}

// Mean returns the mean of row i, which does not depend on the conformal correction.
func (d *Distributions) Mean(i int) float64 { return d.bare(i).Mean() }

// bare returns the distribution of row i without the conformal correction.
func (d *Distributions) bare(i int) *predictive.Distribution {
	if d.m.outgrown(&d.rows, i) {
		d.plain = d.m.Uncorrected(d.z, d.rows, i)
		return &d.plain
	}
	if !d.gaussian {
		d.own = d.m.Uncorrected(d.z, d.rows, i).WithMeanCurve(d.m.means)
		d.mixMean(i)
		return &d.own
	}
	if d.placed != nil {
		d.own.MoveTo(&d.placed[i])
	} else {
		d.own.Move(d.place(i))
	}
	d.mixMean(i)
	return &d.own
}

// corrected applies a conformal correction to the distribution of row i.
func (m *Model) corrected(c *conformal.Correction, p predictive.Distribution, rows Rows, i int) predictive.Distribution {
	entity := int32(entity.Unknown)
	if c.Grouping() == conformal.ByEntity {
		entity = rows.Codes[m.groupMode][i]
	}
	return c.Apply(p, entity, rows.horizon(i))
}

// Uncorrected returns the distribution of row i without the conformal correction and
// the correction of its mean.
func (m *Model) Uncorrected(z tt.Moments, rows Rows, i int) predictive.Distribution {
	level, variance := m.Level(z.Mean[i], rows, i), m.FieldVariance(z, i)
	if counts := m.noise.Count(); counts != nil {
		return predictive.CountMixture(counts, level, variance)
	}
	if finite := m.noise.Finite(); finite != nil {
		return predictive.FiniteMixture(finite, level, variance)
	}
	p := predictive.Gaussian(m.scale.Transform, level, variance, m.noiseVariance(level, rows, i)).WithScores(m.scores)
	if m.scale.NonNegative {
		p = p.NonNegative()
	}
	return p
}

// FieldVariance returns the variance of the field at row i on the transform's scale, 0 for a point estimate.
func (m *Model) FieldVariance(z tt.Moments, i int) float64 {
	if z.Var == nil {
		return 0
	}
	// With covariances of entities the variance is a sum with negative parts, which rounding may leave below 0.
	return m.scale.Spread * m.scale.Spread * max(0, float64(z.Var[i]))
}

// CheckTarget returns a *targetscale.DomainError if the model's scale or likelihood does not allow the target y[i].
func (m *Model) CheckTarget(y []float32, i int) error {
	err := targetscale.CheckDomain(m.scale.Transform, y[i:i+1])
	var domain *targetscale.DomainError
	if errors.As(err, &domain) {
		domain.Position = i
	}
	if o := m.noise.Ordinal; o != nil && !slices.Contains(o.Levels, float64(y[i])) {
		return &targetscale.DomainError{Transform: m.scale.Transform, Position: i, Value: float64(y[i])}
	}
	return err
}
