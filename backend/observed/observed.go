// Package observed holds what has one entry per observation while a sum of products of
// trains is fitted: targets, weights, the values of all terms, and what the other terms
// leave for one of them. Solvers see sums, and plans to pass to a backend.
//
// Loops over observations run in parallel in blocks of fixed length, whose sums are
// combined along a balanced binary tree. Results do not depend on the number of threads.
//
// Memory: 4 bytes per observation for each of Y, W, the target, the plan's copy of it, and
// the values of each term; weights and variances only where they are needed.
package observed

import (
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
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
	weight []float32 // of the target; nil means 1
	of     int       // the term that target and weight belong to
	offset float32   // the offset of the target

	planTarget, planWeight []float32 // in the order of gathered
	gathered               *backend.Plan

	spread *Spread // nil if this process has all observations
}

// New returns observations without terms.
func New(b backend.Backend, y, w []float32, partners func(k int) []int) *Data {
	d := &Data{Y: y, W: w, Partners: partners, b: b, of: unknown}
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

	// Entities are those of terms of one core, by observation of this process, over several ranks.
	Entities [][]int32
}

// Planned returns the plans of the terms.
func (d *Data) Planned() *Planned {
	p := &Planned{Spread: d.spread}
	for _, t := range d.Terms {
		p.Plans, p.Entities = append(p.Plans, t.Cheapest), append(p.Entities, t.entity)
	}
	return p
}

// Changed tells the data that targets, weights or terms changed.
func (d *Data) Changed() { d.of, d.gathered = unknown, nil }

// tinyFactor is the smallest mean square of the partners' product for which an
// observation contributes to a factor.
const tinyFactor = 1e-12

// Target sets the target and the weight of term k, unless they are still known. The
// target is y minus the offset and the other products, times E m / E m^2, where m is the
// product of the term's partners; the weight is w E m^2. The values of term k itself do not
// matter. One pass over the values of all other terms.
func (d *Data) Target(k int, offset float32) {
	if d.of == k && d.offset == offset {
		return
	}
	d.Changed()
	partners := d.partners(k)
	type product struct {
		lead    []float32
		factors [][]float32
	}
	var products []product // the others
	for j, t := range d.Terms {
		others := d.partners(j)
		if j == k || slices.Contains(partners, j) || len(others) > 0 && others[0] < j {
			continue // its own product, or counted with the first factor
		}
		p := product{lead: t.Mean}
		for _, o := range others {
			p.factors = append(p.factors, d.Terms[o].Mean)
		}
		products = append(products, p)
	}
	for _, t := range d.Added {
		products = append(products, product{lead: t.Mean})
	}
	d.eachBlock(func(from, to int) {
		target := d.target[from:to]
		for n, y := range d.Y[from:to] {
			target[n] = y - offset
		}
		for _, p := range products {
			if len(p.factors) == 0 {
				subtract(target, p.lead[from:to])
				continue
			}
			for n := from; n < to; n++ {
				f := p.lead[n]
				for _, o := range p.factors {
					f *= o[n]
				}
				d.target[n] -= f
			}
		}
		if d.weight != nil {
			d.weigh(partners, from, to)
		}
	})
	d.of, d.offset = k, offset
}

func subtract(dst, src []float32) {
	src = src[:len(dst)]
	for len(dst) >= 4 {
		dst[0] -= src[0]
		dst[1] -= src[1]
		dst[2] -= src[2]
		dst[3] -= src[3]
		dst, src = dst[4:], src[4:]
	}
	for n, f := range src {
		dst[n] -= f
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
	if k < 0 || d.Partners == nil {
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

// Scratch returns memory for one number per observation, in place of the target.
func (d *Data) Scratch() []float32 {
	d.Changed()
	return d.target
}
