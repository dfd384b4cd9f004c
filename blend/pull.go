package blend

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/baseline"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// The forecasts of a small table are pulled on the scale of the model,
//
//	location + sum_k s_k (f_k - location) + rise d h,
//
// towards formulas f_k on that scale: the last value of the series, the line from its first
// to its last value, continued, the values of seasons, and these plus the rise of the line
// since then. All series of a fit share how
// fast they change and how long they trend; for few series of different kinds that is a
// compromise, which the formulas do not make. The shares s_k are not negative and add up to
// at most 1. Series that return to their means or whose trends are damped are behind a growth
// that goes on: forecasts rise with the horizon h, up to the longest one that was seen, by a
// share of the usual change d of the series per step.
// Shares and rise are those of the least squares of forecasts from several origins, each
// with what was known there.
const (
	ownFormulas = 2 // the last value and the line
	pullStep    = 0.05
	// The penalty of a share, and of the rise, is this part of the squares of its own feature.
	pullRidge = 0.05
	// mostRise is the largest rise: that of a series which always changes in one direction.
	mostRise = 1
	// leastPullGain is the mean share by which the squares of origins that were left out
	// must fall; it must also be leastErrors standard errors of this mean.
	leastPullGain = 0.01
)

// A Pull says how forecasts are pulled.
type Pull struct {
	shares []float64 // of formulas
	rise   float64   // in changes of the series per step
	reach  int32     // the longest horizon that was seen
}

// An Origin holds forecasts whose values are known.
type Origin struct {
	Table *Table // of the training rows of the origin
	Scale targetscale.Transform
	Rows  Rows
}

// pullers writes the formulas of a row minus its location, and what the rise is multiplied
// by: the horizon times the usual change of the series per step, so that a series that does
// not change does not rise either. What is not known is 0.
func (t *Table) pullers(dst *choice, scale targetscale.Transform, location float64, codes [][]int32, row int, horizon int32) {
	*dst = choice{}
	s := t.series.Find(codes, row)
	if s < 0 || horizon < 1 || t.start[s] == t.start[s+1] {
		return
	}
	steps, values := t.step[t.start[s]:t.start[s+1]], t.value[t.start[s]:t.start[s+1]]
	n := len(values)
	last := float64(values[n-1])
	line, slope := last, 0.0
	if first := t.first[s]; steps[n-1] > first.step {
		slope = (last - float64(first.value)) / float64(steps[n-1]-first.step)
		line += slope * (float64(t.series.Origin(s)) + float64(horizon) - float64(steps[n-1]))
	}
	if !scale.InDomain(line) {
		line = last
	}
	dst[0], dst[1] = scale.Forward(last)-location, scale.Forward(line)-location
	for k, season := range t.seasons {
		if v, known := t.before(s, season, horizon); known {
			dst[ownFormulas+k] = scale.Forward(v) - location
			if risen := v + slope*float64(seasonsBack(season, horizon)); scale.InDomain(risen) {
				v = risen
			}
			dst[ownFormulas+len(t.seasons)+k] = scale.Forward(v) - location
		}
	}
	dst[rise] = t.change(scale, steps, values) * float64(min(horizon, t.reach()))
}

// change returns the mean size of the changes of a series per step on the scale, over one
// season, or from one value to the next in a table without seasons.
func (t *Table) change(scale targetscale.Transform, steps []int32, values []float32) float64 {
	season := int32(1)
	if len(t.seasons) > 0 {
		season = t.seasons[0]
	}
	sum, count, before := 0.0, 0.0, 0
	for k, step := range steps {
		for steps[before] < step-season {
			before++
		}
		if steps[before] == step-season {
			sum += math.Abs(scale.Forward(float64(values[k])) - scale.Forward(float64(values[before])))
			count += float64(season)
		}
	}
	return sum / max(count, 1)
}

// reach returns the horizon at which forecasts end to rise.
func (t *Table) reach() int32 {
	if t.pull == nil {
		return math.MaxInt32
	}
	return t.pull.reach
}

// pulled returns by how much the forecast of a row moves.
func (t *Table) pulled(scale targetscale.Transform, location float64, codes [][]int32, row int, horizon int32) (by float64) {
	var f choice
	t.pullers(&f, scale, location, codes, row, horizon)
	for k, share := range t.pull.shares {
		by += share * f[k]
	}
	return by + t.pull.rise*f[rise]
}

// Pulls says which share of a forecast formulas have, as in "0.3 last value"; nil for none.
func (t *Table) Pulls() (parts []string) {
	if t == nil || t.pull == nil {
		return nil
	}
	for k, share := range t.pull.shares {
		if share == 0 {
			continue
		}
		name := [...]string{"last value", "line from the first to the last value"}[min(k, 1)]
		if k >= ownFormulas {
			name = t.seasonName((k - ownFormulas) % len(t.seasons))
		}
		if k >= ownFormulas+len(t.seasons) {
			name += " plus drift"
		}
		parts = append(parts, fmt.Sprintf("%.2g %s", share, name))
	}
	if t.pull.rise != 0 {
		parts = append(parts, fmt.Sprintf("%.2g usual changes per %s", t.pull.rise, t.unit()))
	}
	return parts
}

// WithPull returns the table with a pull.
func (t *Table) WithPull(p *Pull) *Table {
	changed := *t
	changed.pull = p
	return &changed
}

// addFirst adds the first value of each series.
func (t *Table) addFirst(codes [][]int32, target func(row int) float64) {
	t.first = make([]firstValue, t.series.Len())
	steps := t.series.Steps()
	for i, code := range codes[t.series.Time] {
		if s := t.series.Find(codes, i); s >= 0 && steps[code] == t.series.First[s] {
			t.first[s] = firstValue{steps[code], float32(target(i))}
		}
	}
}

// A firstValue is the first value of a series.
type firstValue struct {
	step  int32
	value float32
}

// LearnPull returns the shares of formulas and the rise that were best for the forecasts of several
// origins, shrunk by the share of their gain that chance explains, nil if forecasts of origins that
// were left out are not better by them. A row counts by the derivative of its value by its
// location, divided by the root of its size: halfway between squares on the scale of the model,
// where small series decide, and squares in the units of the target divided by size. It costs O(n
// p^2) for n rows and p formulas.
func LearnPull(threads int, origins []Origin) *Pull {
	if len(origins) < 2 {
		return nil
	}
	p := origins[0].Table.formulas()
	moments := make([]moment, len(origins))
	for o, origin := range origins {
		if origin.Table.formulas() != p {
			return nil
		}
		moments[o] = origin.moment(threads)
	}
	var gain, squares float64
	n := float64(len(moments))
	for left := range moments {
		var others moment
		for o := range moments {
			if o != left {
				others.add(&moments[o])
			}
		}
		if own := &moments[left]; own.error > 0 {
			g := own.gain(others.best(p)) / own.error
			gain += g / n
			squares += g * g / n
		}
	}
	deviation := math.Sqrt(max(squares-gain*gain, 0) / (n - 1))
	if !(gain >= max(leastPullGain, leastErrors*deviation)) {
		return nil
	}
	keep := 1.0
	if deviation > 0 {
		keep = kept(gain / deviation)
	}
	var all moment
	for o := range moments {
		all.add(&moments[o])
	}
	best := all.best(p)
	pull := &Pull{rise: keep * best[rise]}
	for _, share := range best[:p] {
		pull.shares = append(pull.shares, keep*share)
	}
	for _, o := range origins {
		for _, h := range o.Rows.Horizon {
			pull.reach = max(pull.reach, h)
		}
	}
	return pull
}

// formulas returns the number of formulas.
func (t *Table) formulas() int { return ownFormulas + 2*len(t.seasons) }

// A feature is one of the formulas or, at place rise, the horizon.
const (
	rise     = ownFormulas + 2*maxSeasons
	features = rise + 1
)

// A choice has a coefficient of every feature.
type choice [features]float64

// A moment holds the weighted sums of products of features, and of features and errors.
type moment struct {
	product [features][features]float64
	right   [features]float64
	error   float64 // squared errors
}

func (m *moment) add(o *moment) {
	for a := range m.product {
		for b := range m.product[a] {
			m.product[a][b] += o.product[a][b]
		}
		m.right[a] += o.right[a]
	}
	m.error += o.error
}

// gain returns by how much a choice lowers the squared errors.
func (m *moment) gain(c choice) float64 {
	sum := 0.0
	for a := range features {
		sum += 2 * c[a] * m.right[a]
		for b := range features {
			sum -= c[a] * c[b] * m.product[a][b]
		}
	}
	return sum
}

// best returns the choice with the largest penalised gain: shares of p formulas, what they
// leave being that of the model, with the rise that is best beside them.
func (m *moment) best(p int) choice {
	penalised := *m
	for a := range features {
		penalised.product[a][a] *= 1 + pullRidge
	}
	var best choice
	most := math.Inf(-1)
	baseline.EachShares(p+1, pullStep, func(shares []float64) {
		var c choice
		copy(c[:p], shares)
		if square := penalised.product[rise][rise]; square > 0 {
			c[rise] = m.right[rise] / square
			for a := range p {
				c[rise] -= c[a] * m.product[rise][a] / square
			}
			c[rise] = min(max(c[rise], -mostRise), mostRise)
		}
		if g := penalised.gain(c); g > most {
			best, most = c, g
		}
	})
	return best
}

func (o *Origin) moment(threads int) moment {
	rows := &o.Rows
	n := len(rows.Y)
	size := rows.size()
	type values struct {
		feature choice
		error   float64
		weight  float64
	}
	of := make([]values, n)
	parallel.Blocks(threads, n, func(from, to int) {
		for i := from; i < to; i++ {
			v, location := &of[i], rows.Location[i]
			if rows.Horizon[i] < 1 {
				continue
			}
			o.Table.pullers(&v.feature, o.Scale, location, rows.Codes, i, rows.Horizon[i])
			v.error = o.Scale.Forward(rows.Y[i]) - location
			v.weight = math.Exp(-o.Scale.LogDerivative(o.Scale.Inverse(location))) / math.Sqrt(max(math.Abs(rows.Mean[i])+leastSize*size, math.SmallestNonzeroFloat32))
			if rows.Weight != nil {
				v.weight *= float64(rows.Weight[i])
			}
			if math.IsNaN(v.weight) || math.IsInf(v.weight, 0) {
				v.weight = 0
			}
		}
	})
	var sum moment
	for i := range of {
		v := &of[i]
		for a, x := range v.feature {
			for b, z := range v.feature {
				sum.product[a][b] += v.weight * x * z
			}
			sum.right[a] += v.weight * x * v.error
		}
		sum.error += v.weight * v.error * v.error
	}
	return sum
}
