package blend

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/predictive"
)

// The forecasts of a small table are pulled on the scale of the model,
//
//	location + sum_k s_k (f_k - location),
//
// towards formulas f_k on that scale: the last value of the series, the line from its first
// to its last value, continued, and the values of seasons. All series of a fit share how
// fast they change and how long they trend; for few series of different kinds that is a
// compromise, which the formulas do not make. The shares s_k are not negative and add up to
// at most 1. They are those of the least squares of forecasts from several origins, each
// with what was known there.
const (
	ownFormulas = 2 // the last value and the line
	pullStep    = 0.05
	// The penalty of a share is this part of the squares of its own feature.
	pullRidge = 0.05
	// leastPullGain is the mean share by which the squares of origins that were left out
	// must fall; it must also be a standard error of this mean.
	leastPullGain = 0.01
)

// An Origin holds forecasts whose values are known.
type Origin struct {
	Table *Table // of the training rows of the origin
	Scale predictive.Transform
	Rows  Rows
}

// formulas writes the formulas of a row minus its location; one that is not known is 0.
func (t *Table) formulas(dst *[maxParts]float64, scale predictive.Transform, location float64, codes [][]int32, row int, horizon int32) {
	*dst = [maxParts]float64{}
	s := t.series.Find(codes, row)
	if s < 0 || horizon < 1 || t.start[s] == t.start[s+1] {
		return
	}
	steps, values := t.step[t.start[s]:t.start[s+1]], t.value[t.start[s]:t.start[s+1]]
	n := len(values)
	last := float64(values[n-1])
	line := last
	if first := t.first[s]; steps[n-1] > first.step {
		slope := (last - float64(first.value)) / float64(steps[n-1]-first.step)
		line += slope * (float64(t.series.End) + float64(horizon) - float64(steps[n-1]))
	}
	if !scale.InDomain(line) {
		line = last
	}
	dst[0], dst[1] = scale.Forward(last)-location, scale.Forward(line)-location
	for k, season := range t.seasons {
		if v, known := t.before(steps, values, season, horizon); known {
			dst[ownFormulas+k] = scale.Forward(v) - location
		}
	}
}

// pulled returns by how much the forecast of a row moves.
func (t *Table) pulled(scale predictive.Transform, location float64, codes [][]int32, row int, horizon int32) (by float64) {
	var f [maxParts]float64
	t.formulas(&f, scale, location, codes, row, horizon)
	for k, share := range t.pull {
		by += share * f[k]
	}
	return by
}

// Pulls says which share of a forecast formulas have, as in "0.3 last value"; nil for none.
func (t *Table) Pulls() (parts []string) {
	if t == nil {
		return nil
	}
	for k, share := range t.pull {
		if share == 0 {
			continue
		}
		name := [...]string{"last value", "line from the first to the last value"}[min(k, 1)]
		if k >= ownFormulas {
			name = t.seasonName(k - ownFormulas)
		}
		parts = append(parts, fmt.Sprintf("%.2g %s", share, name))
	}
	return parts
}

// WithPull returns the table with the shares of formulas.
func (t *Table) WithPull(shares []float64) *Table {
	changed := *t
	changed.pull = shares
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

// LearnPull returns the shares of formulas that were best for the forecasts of several
// origins, nil if forecasts of origins that were left out are not better by them. A row
// counts by the derivative of its value by its location, divided by the root of its size:
// halfway between squares on the scale of the model, where small series decide, and squares
// in the units of the target divided by size. It costs O(n p^2) for n rows and p formulas.
func LearnPull(threads int, origins []Origin) []float64 {
	if len(origins) < 2 {
		return nil
	}
	p := ownFormulas + len(origins[0].Table.seasons)
	moments := make([]moment, len(origins))
	for o, origin := range origins {
		if ownFormulas+len(origin.Table.seasons) != p {
			return nil
		}
		moments[o] = origin.moment(threads, p)
	}
	candidates := sharesOf(p)
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
			g := own.gain(others.best(candidates, p), p) / own.error
			gain += g / n
			squares += g * g / n
		}
	}
	if !(gain >= max(leastPullGain, math.Sqrt(max(squares-gain*gain, 0)/(n-1)))) {
		return nil
	}
	var all moment
	for o := range moments {
		all.add(&moments[o])
	}
	return all.best(candidates, p)
}

// A moment holds the weighted sums of products of formulas, and of formulas and errors.
type moment struct {
	product [maxParts][maxParts]float64
	right   [maxParts]float64
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

// gain returns by how much shares lower the squared errors.
func (m *moment) gain(shares []float64, p int) float64 {
	sum := 0.0
	for a := range p {
		sum += 2 * shares[a] * m.right[a]
		for b := range p {
			sum -= shares[a] * shares[b] * m.product[a][b]
		}
	}
	return sum
}

// best returns the candidate with the largest penalised gain.
func (m *moment) best(candidates [][]float64, p int) []float64 {
	penalised := *m
	for a := range p {
		penalised.product[a][a] *= 1 + pullRidge
	}
	best, most := candidates[0], math.Inf(-1)
	for _, c := range candidates {
		if g := penalised.gain(c, p); g > most {
			best, most = c, g
		}
	}
	return best
}

// sharesOf returns all shares of p formulas in steps, first those of the model alone.
func sharesOf(p int) [][]float64 {
	var all [][]float64
	shares := make([]float64, p)
	var divide func(at, left int)
	divide = func(at, left int) {
		if at == p {
			all = append(all, append([]float64(nil), shares...))
			return
		}
		for n := range left + 1 {
			shares[at] = float64(n) * pullStep
			divide(at+1, left-n)
		}
	}
	divide(0, int(math.Round(1/pullStep)))
	return all
}

func (o *Origin) moment(threads, p int) moment {
	rows := &o.Rows
	n := len(rows.Y)
	size := 0.0
	for _, m := range rows.Mean {
		size += math.Abs(m) / float64(n)
	}
	type values struct {
		formula [maxParts]float64
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
			o.Table.formulas(&v.formula, o.Scale, location, rows.Codes, i, rows.Horizon[i])
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
		for a := range p {
			for b := range p {
				sum.product[a][b] += v.weight * v.formula[a] * v.formula[b]
			}
			sum.right[a] += v.weight * v.formula[a] * v.error
		}
		sum.error += v.weight * v.error * v.error
	}
	return sum
}
