package tune

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/randstream"
)

// TPE is the multivariate tree-structured Parzen estimator (Bergstra and others
// 2011; Falkner and others 2018 for the product kernel). The finished trials are
// split into the good ones, about the best sixth, and the others. The density of
// each part is a mixture of the uniform density and one kernel per trial,
//
//	p(x) = (1 + sum_k prod_i K(x_i; x_ki, h)) / (n + 1),   h = n^(-1/(d+4)) / 5,
//
// where K is a normal distribution truncated to [0, 1], or for a choice among c
// values the weight n/(n + c) at the value of the trial, with the remaining
// weight spread uniformly. Of several draws from the good density, TPE takes the
// one with the largest good(x) / others(x). It avoids points that were tried
// before while it finds others. Until Start trials are finished, points come from
// the Halton sequence. A proposal costs O(draws n d).
type TPE struct {
	Seed  uint64
	Start int // finished trials before the estimator is used; 0 means 10
	Draws int // candidates per proposal; 0 means 64
}

const (
	defaultStart = 10
	defaultDraws = 64
)

// Propose implements Sampler.
func (t TPE) Propose(space Space, number int, history []Observation) Values {
	if len(history) < cmp.Or(t.Start, defaultStart) {
		return t.haltonValues(space, number, history)
	}
	ranked := slices.Clone(history)
	slices.SortStableFunc(ranked, Observation.compare)
	count := goodCount(ranked)
	good, others := newParzen(space, ranked[:count]), newParzen(space, ranked[count:])
	draw := randstream.New(t.Seed, "tune tpe", uint64(number))
	var best Values
	greatest, bestIsNew := math.Inf(-1), false
	for range cmp.Or(t.Draws, defaultDraws) {
		values := space.values(good.draw(draw))
		point, err := space.point(values)
		if err != nil {
			panic("tune: " + err.Error())
		}
		ratio := good.logDensity(point) - others.logDensity(point)
		isNew := !tried(point, history)
		if best == nil || isNew && !bestIsNew || isNew == bestIsNew && ratio > greatest {
			best, greatest, bestIsNew = maps.Clone(values), ratio, isNew
		}
	}
	return best
}

// haltonValues returns a point of the Halton sequence, or a later one if that point
// was tried before.
func (t TPE) haltonValues(space Space, number int, history []Observation) Values {
	const attempts, far = 8, 1000
	var values Values
	for i := range attempts {
		values = space.values(halton(t.Seed, number+i*far, len(space)))
		if point, err := space.point(values); err == nil && !tried(point, history) {
			break
		}
	}
	return values
}

func tried(point []float64, history []Observation) bool {
	return slices.ContainsFunc(history, func(o Observation) bool { return slices.Equal(o.Point, point) })
}

// goodCount returns how many of the ranked trials are good: a sixth of them, at
// most 25, and no failed ones.
func goodCount(ranked []Observation) int {
	failed := slices.IndexFunc(ranked, func(o Observation) bool { return math.IsInf(o.Loss, 1) })
	if failed < 0 {
		failed = len(ranked)
	}
	return min((len(ranked)+5)/6, 25, failed)
}

// parzen is the density estimate of one part of the trials.
type parzen struct {
	space  Space
	points [][]float64
	width  float64
}

func newParzen(space Space, part []Observation) *parzen {
	p := &parzen{space: space}
	for _, o := range part {
		p.points = append(p.points, o.Point)
	}
	p.width = 0.2 * math.Pow(float64(max(1, len(part))), -1/float64(len(space)+4))
	return p
}

// draw selects a mixture component and draws from it.
func (p *parzen) draw(r *rand.Rand) []float64 {
	point := make([]float64, len(p.space))
	k := r.IntN(len(p.points) + 1)
	for i, param := range p.space {
		switch {
		case k == len(p.points), param.Kind == Choice && r.Float64() < p.uniformWeight(len(param.Choices)):
			point[i] = r.Float64()
		case param.Kind == Choice:
			point[i] = p.points[k][i]
		default:
			point[i] = p.drawTruncated(p.points[k][i], r)
		}
	}
	return point
}

// drawTruncated draws from the truncated normal distribution by rejection. At least about
// half of the draws are accepted, because the centre is in [0, 1].
func (p *parzen) drawTruncated(centre float64, r *rand.Rand) float64 {
	for {
		if x := centre + p.width*r.NormFloat64(); x >= 0 && x <= 1 {
			return x
		}
	}
}

// logDensity returns the logarithm of the density.
func (p *parzen) logDensity(x []float64) float64 {
	sum := 1.0
	for _, centre := range p.points {
		density := 1.0
		for i, param := range p.space {
			if param.Kind == Choice {
				density *= p.mass(x[i] == centre[i], len(param.Choices))
			} else {
				density *= p.normal(x[i], centre[i])
			}
		}
		sum += density
	}
	return math.Log(sum / float64(len(p.points)+1))
}

// uniformWeight returns the weight that a choice among c values distributes uniformly,
// which corresponds to one additional observation of each value.
func (p *parzen) uniformWeight(c int) float64 { return float64(c) / float64(len(p.points)+c) }

// mass returns the density of a choice among c values relative to the uniform one.
func (p *parzen) mass(same bool, c int) float64 {
	h := p.uniformWeight(c)
	if same {
		return (1-h)*float64(c) + h
	}
	return h
}

func (p *parzen) normal(x, centre float64) float64 {
	z := (x - centre) / p.width
	upper := func(v float64) float64 { return math.Erfc((v-centre)/p.width/math.Sqrt2) / 2 }
	return math.Exp(-z*z/2) / (p.width * math.Sqrt(2*math.Pi) * (upper(0) - upper(1)))
}
