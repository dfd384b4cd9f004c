package blend

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/internal/cholesky"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
)

// A forecast moves on the scale of the model by
//
//	c + sum_k b_k (r_k - location) + b log(W / (1 + steps since the last value)) + b log(1 + number of values),
//
// where the r_k are the last value, means of the last two, of the recent and of all values
// within the window of W steps, and the values of seasons, each on that scale; a value that is missing does not
// move, and a series without values has neither of the last two parts. What all series of a fit share
// follows their values too slowly for some and too fast for others, and a series that has no
// row for some steps, in a table that has rows only where something happened, continues
// lower than those that have one.
const (
	ownMeans    = 4 // the last, the last two, the recent and all values
	counts      = 2 // steps since the last value, number of values
	maxFeatures = ownMeans + (maxParts - 2) + counts

	// Forecasts that were left out must be better by this number of standard errors.
	leastMoveErrors = 2.0
	// The penalty of a coefficient is that of this number of rows, so that a feature that
	// does not vary has none.
	moveRidge = 10.0
	// leastNoise is the least factor of the noise variance.
	leastNoise = 0.01
	// Recent values of all series may be far from the forecasts on one side: the level has changed since them, and the constant
	// makes up for that. It does not hold for later forecasts, whose recent values are nearer. Moves are left out if it is
	// larger than this share of the sd of errors.
	mostConstant = 0.5
)

// features returns the number of features.
func (t *Table) features() int { return ownMeans + len(t.seasons) + counts }

// feature writes what moves the forecast of a row: zeros for a series without values.
func (t *Table) feature(dst *[maxFeatures]float64, scale targetscale.Transform, location float64, codes [][]int32, row int, horizon int32) {
	*dst = [maxFeatures]float64{}
	s := t.series.Find(codes, row)
	if s < 0 || t.start[s] == t.start[s+1] {
		return
	}
	steps, values := t.step[t.start[s]:t.start[s+1]], t.value[t.start[s]:t.start[s+1]]
	n, sum := len(values), 0.0
	recent := min(n, t.recent())
	for k := 1; k <= n; k++ {
		sum += scale.Forward(float64(values[n-k])) - location
		mean := sum / float64(k)
		if k == 1 {
			dst[0] = mean
		}
		if k == min(n, 2) {
			dst[1] = mean
		}
		if k == recent {
			dst[2] = mean
		}
		if k == n {
			dst[3] = mean
		}
	}
	for k, season := range t.seasons {
		if v, known := t.before(s, season, horizon); known {
			dst[ownMeans+k] = scale.Forward(v) - location
		}
	}
	at := ownMeans + len(t.seasons)
	since := float64(t.series.Origin(s)) - float64(steps[n-1])
	dst[at] = max(math.Log(float64(t.window())/(1+since)), 0)
	dst[at+1] = math.Log1p(float64(n))
}

// Move returns by how much the forecast of a row moves on the model's scale, horizon steps
// after the end of the training; 0 for a row that is no forecast.
func (t *Table) Move(scale targetscale.Transform, location float64, codes [][]int32, row int, horizon int32) float64 {
	if t == nil || horizon < 1 {
		return 0
	}
	if t.pull != nil {
		return t.pulled(scale, location, codes, row, horizon)
	}
	if t.move == nil {
		return 0
	}
	var x [maxFeatures]float64
	t.feature(&x, scale, location, codes, row, horizon)
	by := t.move[0]
	for k, b := range t.move[1:] {
		by += b * x[k]
	}
	return by
}

// Noise returns the factor of the noise variance of a row, below 1 for a forecast that
// moves: the errors that moves explain.
func (t *Table) Noise(horizon int32) float64 {
	if t == nil || t.move == nil || horizon < 1 {
		return 1
	}
	return t.noise
}

// LearnMove returns the table with the coefficients of moves, or nil if forecasts that were left
// out are not better by them. They are those of least squares, with a mean of each horizon that is
// then forgotten: what all series of a period have in common says little about others. They are
// means over fits without the series of one fold, shrunk by the share of their gain that chance
// explains. Mean and Location of the rows are those without moves. It costs O(n log s + n p^2) for
// n rows, s series and p features.
func (t *Table) LearnMove(threads int, scale targetscale.Transform, rows Rows) *Table {
	n, p := len(rows.Y), t.features()
	longest, ahead := int32(0), 0
	for _, h := range rows.Horizon {
		longest = max(longest, h)
		if h > 0 {
			ahead++
		}
	}
	if ahead < leastRows {
		return nil
	}
	x, fold := make([][maxFeatures + 1]float64, n), make([]uint8, n)
	parallel.Blocks(threads, n, func(from, to int) {
		for i := from; i < to; i++ {
			var f [maxFeatures]float64
			t.feature(&f, scale, rows.Location[i], rows.Codes, i, rows.Horizon[i])
			copy(x[i][:], f[:p])
			x[i][p] = scale.Forward(rows.Y[i]) - rows.Location[i]
			fold[i] = t.foldOf(rows.Codes, i)
		}
	})
	weight := func(i int) float64 {
		if rows.Horizon[i] < 1 {
			return 0
		}
		if rows.Weight == nil {
			return 1
		}
		return float64(rows.Weight[i])
	}
	var center [maxFeatures]float64
	ridge := make([]float64, p)
	total, sums := 0.0, make([][maxFeatures + 2]float64, longest+1) // by horizon, with the weight
	for i := range x {
		w := weight(i)
		if w == 0 {
			continue
		}
		s := &sums[rows.Horizon[i]]
		for k := range p + 1 {
			s[k] += w * x[i][k]
		}
		s[maxFeatures+1] += w
		for k := range p {
			center[k] += w * x[i][k]
			ridge[k] += w * x[i][k] * x[i][k]
		}
		total += w
	}
	if !(total > 0) {
		return nil
	}
	for k, s := range ridge {
		ridge[k] = moveRidge * s / total
	}
	for i := range x {
		if s := &sums[max(rows.Horizon[i], 0)]; s[maxFeatures+1] > 0 {
			for k := range p + 1 {
				x[i][k] -= s[k] / s[maxFeatures+1]
			}
		}
	}
	// Moments of all features and the error, by fold.
	var moments [folds][(maxFeatures + 1) * (maxFeatures + 1)]float64
	q := p + 1
	for i := range x {
		w, m := weight(i), &moments[fold[i]]
		for a := range q {
			for b := range a + 1 {
				m[a*q+b] += w * x[i][a] * x[i][b]
			}
		}
	}
	coefficients := make([]float64, p)
	var gain, squares, before float64
	for f := range folds {
		own := leftOut(&moments, f, p, ridge)
		m, by := &moments[f], 0.0 // the squared error of fold f falls by 2 b'c - b'Ab
		for a := range p {
			by += 2 * own[a] * m[p*q+a]
			for b := range p {
				by -= own[a] * own[b] * m[max(a, b)*q+min(a, b)]
			}
			coefficients[a] += own[a] / folds
		}
		before += m[p*q+p]
		gain += by
		squares += by * by
	}
	errors := standardErrors(gain, squares)
	if !(errors >= leastMoveErrors) {
		return nil
	}
	shared := 0.0 // squared errors that all series of a horizon have in common
	for h := range sums {
		if w := sums[h][maxFeatures+1]; w > 0 {
			shared += sums[h][p] * sums[h][p] / w
		}
	}
	if shared > before {
		return nil // the periods were a surprise, which says nothing about later ones
	}
	constant := 0.0
	for k := range p - counts {
		constant += coefficients[k] * center[k] / total
	}
	if math.Abs(constant) > mostConstant*math.Sqrt(max(before-gain, 0)/total) {
		return nil
	}
	changed := *t
	changed.move, changed.noise = make([]float64, 1+p), min(max(1-gain/before, leastNoise), 1)
	for k, b := range coefficients {
		b *= kept(errors)
		changed.move[1+k] = b
		changed.move[0] -= b * center[k] / total
	}
	return &changed
}

// leftOut returns the coefficients of least squares without a fold.
func leftOut(moments *[folds][(maxFeatures + 1) * (maxFeatures + 1)]float64, fold, p int, ridge []float64) []float64 {
	q := p + 1
	a, b := make([]float64, p*p), make([]float64, p)
	for f := range moments {
		if f == fold {
			continue
		}
		for i := range p {
			for j := range i + 1 {
				a[i*p+j] += moments[f][i*q+j]
			}
			b[i] += moments[f][p*q+i]
		}
	}
	cholesky.SolveRidge(a, p, ridge, b, make([]float64, p*p))
	return b
}

// Moves says what forecasts are moved by, as in "0.1 last value"; nil for nothing.
func (t *Table) Moves() (parts []string) {
	if t == nil || t.move == nil {
		return nil
	}
	names := []string{"last value", "mean of the last 2", fmt.Sprintf("mean of the last %d", t.recent()), "mean of the last " + plural.Count(int(t.window()), t.unit())}
	for k := range t.seasons {
		names = append(names, t.seasonName(k))
	}
	for k, name := range append(names, "log of recency", "log of the number of values") {
		parts = append(parts, fmt.Sprintf("%.2g %s", t.move[1+k], name))
	}
	return parts
}
