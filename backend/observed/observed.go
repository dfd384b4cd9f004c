// Package observed holds what has one entry per observation while a sum of products of
// trains is fitted: targets, weights, the values of all terms, and what the other terms
// leave for one of them. Solvers see sums, and plans to pass to a backend.
//
// Loops over observations run in parallel in blocks of fixed length, whose sums are
// combined along a balanced binary tree. Results do not depend on the number of threads.
//
// Memory: 4 bytes per observation for each of Y, W, the target, the plan's copy of it, and
// the values of each term, or its entities; weights and variances only where they are needed; 8 bytes for an exact
// target of [leastExchanged] terms or more.
package observed

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/internal/gather"
)

// None is the term of a target that all terms are subtracted from.
const None = -1

// unknown is the term of a target that has to be computed again.
const unknown = -2

// Data holds the observations and the terms that are fitted to them.
type Data struct {
	Y, W []float32 // W nil means weight 1

	// Terms are the trains of the sum, Added other parts of it, which have no plans.
	Terms, Added []*Term

	// Partners returns the other factors of the product that term k belongs to. Nil
	// means that there are no products.
	Partners func(k int) []int

	b      backend.Backend
	target []float32 // by observation
	exact  []float64 // the target before it is rounded; nil if there are few terms, or products
	weight []float32 // of the target; nil means 1
	of     int       // the term that target and weight belong to
	offset float32   // the offset of the target
	square float64   // the sum of the squares of the target of an effect
	summed int       // the effect whose sums by entity are those of the target

	planTarget, planWeight []float32 // in the order of gathered
	gathered               *backend.Plan

	spread *Spread // nil if this process has all observations
}

// New returns observations without terms.
func New(b backend.Backend, y, w []float32, partners func(k int) []int) *Data {
	d := &Data{Y: y, W: w, Partners: partners, b: b, of: unknown, summed: None}
	d.target, d.planTarget = backend.Make[float32](b, len(y)), backend.Make[float32](b, len(y))
	if w != nil || partners != nil {
		d.weight, d.planWeight = backend.Make[float32](b, len(y)), backend.Make[float32](b, len(y))
	}
	return d
}

// Len returns the number of observations.
func (d *Data) Len() int { return len(d.Y) }

// Planned are observations as they were planned for the terms of a sum.
type Planned struct {
	Plans  []*backend.Plan // by term: its cheapest one
	Spread *Spread         // nil if this process has all observations

	// Entities are those of effects, by observation of this process, over several ranks.
	Entities [][]int32
}

// Planned returns the plans of the terms.
func (d *Data) Planned() *Planned {
	p := &Planned{Spread: d.spread}
	for _, t := range d.Terms {
		var entities []int32
		if t.effect != nil && d.spread != nil {
			entities = t.effect.entity
		}
		p.Plans, p.Entities = append(p.Plans, t.Cheapest), append(p.Entities, entities)
	}
	return p
}

// Changed tells the data that targets, weights or terms changed.
func (d *Data) Changed() {
	d.of, d.gathered = unknown, nil
	for _, terms := range [][]*Term{d.Terms, d.Added} {
		for _, t := range terms {
			t.summed = false
		}
	}
}

// tinyFactor is the smallest mean square of the partners' product for which an
// observation contributes to a factor.
const tinyFactor = 1e-12

// Target sets the target and the weight of term k, unless they are still known. The
// target is y minus the offset and the other products, times E m / E m^2, where m is the
// product of the term's partners; the weight is w E m^2. The values of term k itself do not
// matter. Added[i] is term len(Terms) + i. It costs one pass over the values of all other terms.
//
// Of a plain sum of several terms, the target of a term j, of which only the values of j changed
// since, becomes that of k by
//
//	target_k = target_j - f_j + f_k + offset_j - offset_k,
//
// a pass over two terms. Both ways have the same bits, because sums of rounded values are exact,
// so a run that is resumed, and has no target to start from, continues as it would have.
func (d *Data) Target(k int, offset float32) {
	if d.of == k && d.offset == offset {
		return
	}
	d.gathered = nil
	if d.of != unknown && d.exact != nil {
		d.exchange(d.of, k, rounded(d.offset)-rounded(offset))
	} else {
		d.fromY(k, offset)
	}
	d.of, d.offset = k, offset
}

// leastExchanged is the number of terms from which exact sums of them are kept.
const leastExchanged = 5

// Exact reports whether exact sums are kept for a number of terms, 8 bytes per observation.
func Exact(terms int, products bool) bool { return terms >= leastExchanged && !products }

// rounding rounds numbers below 2^19 to multiples of 2^-32 when it is added and subtracted. Sums
// below 2^20 of such numbers are exact in float64, in any order.
const rounding = 3 << 19

// piece is the number of observations whose values are in cache together.
const piece = 1 << 10

func rounded(f float32) float64 { return (float64(f) + rounding) - rounding }

// exchange turns the target of term j into that of term k, after the offset fell by a number.
func (d *Data) exchange(j, k int, fallen float64) {
	d.eachTarget(k, func(from, end int) {
		var was, is [piece]float32
		for to := from; from < end; from = to {
			to = min(end, from+piece)
			less, more := d.valuesOf(j, from, to, was[:]), d.valuesOf(k, from, to, is[:])
			sum, target := d.exact[from:to][:len(less)], d.target[from:to][:len(less)]
			for n, f := range less {
				sum[n] += rounded(more[n]) - rounded(f) + fallen
				target[n] = float32(sum[n])
			}
		}
	})
}

// valuesOf returns the values of term k at observations, 0 for none.
func (d *Data) valuesOf(k, from, to int, space []float32) []float32 {
	if k < 0 {
		clear(space)
		return space[:to-from]
	}
	return d.term(k).values(from, to, space)
}

// term returns a term of the sum, or an added part.
func (d *Data) term(k int) *Term {
	if k < len(d.Terms) {
		return d.Terms[k]
	}
	return d.Added[k-len(d.Terms)]
}

// fromY computes the target of term k from all other terms.
func (d *Data) fromY(k int, offset float32) {
	if d.exact == nil && Exact(len(d.Terms)+len(d.Added), d.Partners != nil) {
		d.exact = backend.Make[float64](d.b, d.Len())
	}
	partners := d.partners(k)
	type product struct {
		lead    *Term
		factors [][]float32
	}
	var products []product // the others
	for j, t := range d.Terms {
		others := d.partners(j)
		if j == k || slices.Contains(partners, j) || len(others) > 0 && others[0] < j {
			continue // its own product, or counted with the first factor
		}
		p := product{lead: t}
		for _, o := range others {
			p.factors = append(p.factors, d.Terms[o].Mean)
		}
		products = append(products, p)
	}
	for i, t := range d.Added {
		if len(d.Terms)+i != k {
			products = append(products, product{lead: t})
		}
	}
	start := rounded(offset)
	d.eachTarget(k, func(from, end int) {
		var space [piece]float64
		var values [piece]float32
		for to := from; from < end; from = to {
			to = min(end, from+piece)
			sum := space[:to-from]
			if d.exact != nil {
				sum = d.exact[from:to]
			}
			for n, y := range d.Y[from:to][:len(sum)] {
				sum[n] = rounded(y) - start
			}
			for _, p := range products {
				lead := p.lead.values(from, to, values[:])
				if len(p.factors) == 0 {
					subtract(sum, lead)
					continue
				}
				for n := range sum {
					f := lead[n]
					for _, o := range p.factors {
						f *= o[from+n]
					}
					sum[n] -= rounded(f)
				}
			}
			for n, t := range sum {
				d.target[from+n] = float32(t)
			}
			if d.weight != nil {
				d.weigh(partners, from, to)
			}
		}
	})
}

func subtract(sum []float64, values []float32) {
	for n, f := range values[:len(sum)] {
		sum[n] -= rounded(f)
	}
}

// weigh sets the weights of some observations for a term with the given partners, and
// divides their targets by the partners.
func (d *Data) weigh(partners []int, from, to int) {
	for n := from; n < to; n++ {
		w, m, square := float32(d.weightAt(n)), float32(1), float32(1)
		for _, j := range partners {
			f := d.Terms[j].Mean[n]
			m *= f
			square *= f*f + d.Terms[j].varianceAt(n)
		}
		if square < tinyFactor {
			d.weight[n], d.target[n] = 0, 0 // no information about this factor, and the quotient would overflow
			continue
		}
		d.weight[n] = w * square
		d.target[n] *= m / square
	}
}

func (d *Data) partners(k int) []int {
	if k < 0 || k >= len(d.Terms) || d.Partners == nil {
		return nil
	}
	return d.Partners(k)
}

func (d *Data) weightAt(n int) float64 {
	if d.W == nil {
		return 1
	}
	return float64(d.W[n])
}

// InPlanOrder returns the target and the weight in the order of a plan, until the next call
// of another method. A nil weight means 1.
func (d *Data) InPlanOrder(p *backend.Plan) (target, weight []float32) {
	if d.gathered != p {
		d.gather(p, d.planTarget, d.target)
		if d.weight != nil {
			backend.Gather(d.b, p, d.planWeight, d.weight)
		}
		d.gathered = p
	}
	if d.weight == nil {
		return d.planTarget, nil
	}
	return d.planTarget, d.planWeight
}

// Values returns the target and the weight by observation. A nil weight means 1.
func (d *Data) Values() (target, weight []float32) {
	d.complete(d.target)
	return d.target, d.weight
}

// TargetAt returns the target at some observations, in increasing order.
func (d *Data) TargetAt(rows []int) []float32 {
	values := gather.Rows(d.target, rows)
	if d.spread != nil {
		shareAt(d.spread, values, rows)
	}
	return values
}

// SumOf sets the target to the sum of the values of some terms, without products.
func (d *Data) SumOf(terms []int) {
	d.Changed()
	d.eachBlock(func(from, end int) {
		var values [piece]float32
		for to := from; from < end; from = to {
			to = min(end, from+piece)
			target := d.target[from:to]
			clear(target)
			for _, k := range terms {
				for n, f := range d.term(k).values(from, to, values[:])[:len(target)] {
					target[n] += f
				}
			}
			if d.weight != nil {
				d.weigh(nil, from, to)
			}
		}
	})
}

// Scratch returns memory for one number per observation, in place of the target.
func (d *Data) Scratch() []float32 {
	d.Changed()
	return d.target
}
