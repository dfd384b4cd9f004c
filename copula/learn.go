package copula

import (
	"cmp"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
)

// Rows are forecasts of known values.
type Rows struct {
	Score  []float64   // normal scores of the values
	Drawn  [][]float32 // the same of draws of the model, by draw
	Weight []float64   // the size of errors in the units of the target, so that sums of weighted scores are errors of totals
	Origin []int32     // number of the origin
	Period []int32     // number of the period, the same from all origins
	Mean   []float64   // the predicted value

	Horizon []int32   // periods from the origin
	Keys    [][]int32 // by mode that distinguishes series
}

const (
	// sharedOrigin is the share of the surprises of all cells that those of several periods after one origin
	// have in common, before data.
	sharedOrigin = 0.8

	// ownShare is the share of groups that is assumed for weights of groups by how well they are known.
	ownShare = 0.02

	rounds = 20 // of the fixed point of the sum of all shares
)

// Learn returns the copula that makes the products of the scores of pairs of cells as large as those of known values
// are: pairs of one period, of one id, or both. The surprise of all cells, of which a few origins say little, is the mean with that of the
// history, and is larger by what is unknown of its size. It returns nil if nothing is shared. The result does not depend on the number of threads.
func Learn(threads int, rows Rows, before Series) *Copula {
	if len(rows.Score) == 0 {
		return nil
	}
	rows.Period = ranks(rows.Period)
	known := groupsOf(rows, -1)
	all := known.products(threads, rows)
	keys := make([]products, len(rows.Keys))
	for k := range keys {
		keys[k] = groupsOf(rows, k).products(threads, rows)
	}
	origins, periods := float64(len(known.groups)), known.count
	independent := periods / (1 + (periods/origins-1)*sharedOrigin)
	history := before.history(rows)
	weight := independent + history.periods
	observed := (independent*believed(all.same.known, all.same.chance) + history.periods*history.variance) / weight
	observed *= wider(weight)
	origin := sharedOrigin
	if all.same.known > 0 && all.other.pairs {
		origin = (sharedOrigin + min(max(all.other.known/all.same.known, 0), 1)) / 2
	}
	c := &Copula{Keys: make([]Shares, len(keys))}
	for range rounds {
		rest := 1 - min(c.total(), mostShared)
		total := max(observed-rest*all.same.drawn, 0)
		c.All = Shares{origin * total, (1 - origin) * total}
		for k, key := range keys {
			// Beyond what all cells shared in these periods.
			same := believed(key.same.excess(rest)-all.same.excess(rest), key.same.chance)
			other := min(believed(key.other.excess(rest)-all.other.excess(rest), key.other.chance), same)
			c.Keys[k] = Shares{other, same - other}
		}
	}
	return c.limited()
}

// believed returns the part of a share that chance does not explain, given the variance of its estimate.
func believed(share, chance float64) float64 {
	if !(share > 0) {
		return 0
	}
	return max(share-chance/share, 0)
}

// ranks returns the places of numbers among the different ones in order.
func ranks(numbers []int32) []int32 {
	different := slices.Clone(numbers)
	slices.Sort(different)
	different = slices.Compact(different)
	out := make([]int32, len(numbers))
	for i, n := range numbers {
		at, _ := slices.BinarySearch(different, n)
		out[i] = int32(at)
	}
	return out
}

// wider returns by how much a variance must be larger because it is known from few independent squares: the square of the 95 %
// quantile of Student's t divided by the normal one, by the first terms of its expansion.
func wider(squares float64) float64 {
	nu := squares + 1
	factor := 1 + 0.9265/nu + 0.863/(nu*nu)
	return factor * factor
}

// products are the mean products of the scores of two cells of a group.
type products struct {
	same  product // of one period
	other product // of different periods and series
}

// A product is the mean over pairs of the values and of draws of the model.
type product struct {
	known, drawn float64
	chance       float64 // variance of known if scores are independent
	pairs        bool    // there are any
}

// excess is what a product of values is larger than that of draws, of which a share is left.
func (p product) excess(rest float64) float64 { return p.known - rest*p.drawn }

// grouped are rows in the order of groups, series and periods.
type grouped struct {
	order  []int32
	series []bool // by place in the order: the first row of a series
	groups []group
	count  float64 // periods of all groups together
	most   int32   // largest number of a period
}

// A group is a run of places in the order of rows with the same origin, and the same id of a key.
type group struct{ from, to int }

// groupsOf sorts rows by origin and the ids of a key, -1 for none.
func groupsOf(rows Rows, key int) *grouped {
	g := &grouped{order: make([]int32, len(rows.Score)), series: make([]bool, len(rows.Score))}
	for i := range g.order {
		g.order[i], g.most = int32(i), max(g.most, rows.Period[i])
	}
	byGroup := func(a, b int32) int {
		order := cmp.Compare(rows.Origin[a], rows.Origin[b])
		if order == 0 && key >= 0 {
			order = cmp.Compare(rows.Keys[key][a], rows.Keys[key][b])
		}
		return order
	}
	bySeries := func(a, b int32) int {
		order := byGroup(a, b)
		for k := 0; k < len(rows.Keys) && order == 0; k++ {
			order = cmp.Compare(rows.Keys[k][a], rows.Keys[k][b])
		}
		return order
	}
	slices.SortStableFunc(g.order, bySeries)
	seen := make([]int, g.most+1) // by period: one more than the last group with it
	for at, i := range g.order {
		if at == 0 || byGroup(g.order[at-1], i) != 0 {
			g.groups = append(g.groups, group{from: at})
		}
		last := len(g.groups) - 1
		g.groups[last].to = at + 1
		g.series[at] = at == g.groups[last].from || bySeries(g.order[at-1], i) != 0
		if seen[rows.Period[i]] <= last {
			seen[rows.Period[i]] = last + 1
			g.count++
		}
	}
	return g
}

// sums returns the sums of products of two rows of a group, over pairs of rows of the same period and over those of
// different periods and series, and the sum of squares. periods is memory of zeros for a number per period.
func (g *grouped) sums(of group, x func(row int32) float64, period []int32, periods []float64) (same, other, squares float64) {
	total, series, bySeries := 0.0, 0.0, 0.0
	for at := of.from; at < of.to; at++ {
		row := g.order[at]
		v := x(row)
		if g.series[at] {
			bySeries += series * series
			series = 0
		}
		total, series, squares = total+v, series+v, squares+v*v
		periods[period[row]] += v
	}
	bySeries += series * series
	byPeriod := 0.0
	for _, row := range g.order[of.from:of.to] {
		byPeriod += periods[period[row]] * periods[period[row]]
		periods[period[row]] = 0
	}
	return byPeriod - squares, total*total - byPeriod - bySeries + squares, squares
}

// products returns the mean products. That of a group counts by how well its pairs show what the group shares.
func (g *grouped) products(threads int, rows Rows) products {
	type pairs struct{ same, other, sameWeight, otherWeight float64 }
	known, periods := make([]pairs, len(g.groups)), make([]float64, g.most+1)
	var p products
	sameTotal, otherTotal := 0.0, 0.0
	weightOf := func(sum, squares float64) float64 {
		if !(sum > leastPairs*squares) {
			return 0 // a single row, or rounding
		}
		d := ownShare + squares/(sum+squares)
		return 1 / (d * d)
	}
	for n, of := range g.groups {
		same, other, squares := g.sums(of, func(row int32) float64 { return rows.Weight[row] }, rows.Period, periods)
		known[n] = pairs{same, other, weightOf(same, squares), weightOf(other, squares)}
		sameTotal, otherTotal = sameTotal+known[n].sameWeight, otherTotal+known[n].otherWeight
		// n pairs of independent scores have a mean product with the variance 1/n; a sum has each pair twice.
		each := 2 * squares / float64(of.to-of.from)
		if w := known[n].sameWeight; w > 0 {
			p.same.chance += w * w * each / same
		}
		if w := known[n].otherWeight; w > 0 {
			p.other.chance += w * w * each / other
		}
	}
	if p.same.pairs = sameTotal > 0; p.same.pairs {
		p.same.chance /= sameTotal * sameTotal
	}
	if p.other.pairs = otherTotal > 0; p.other.pairs {
		p.other.chance /= otherTotal * otherTotal
	}
	mean := func(x func(row int32) float64, periods []float64) (sameMean, otherMean float64) {
		for n, of := range g.groups {
			same, other, _ := g.sums(of, x, rows.Period, periods)
			if w := known[n].sameWeight; w > 0 {
				sameMean += w / sameTotal * same / known[n].same
			}
			if w := known[n].otherWeight; w > 0 {
				otherMean += w / otherTotal * other / known[n].other
			}
		}
		return sameMean, otherMean
	}
	p.same.known, p.other.known = mean(func(row int32) float64 { return rows.Weight[row] * rows.Score[row] }, periods)
	same, other := make([]float64, len(rows.Drawn)), make([]float64, len(rows.Drawn))
	parallel.For(threads, len(rows.Drawn), func(k int) {
		same[k], other[k] = mean(func(row int32) float64 { return rows.Weight[row] * float64(rows.Drawn[k][row]) }, make([]float64, g.most+1))
	})
	for k := range same {
		p.same.drawn += same[k] / float64(len(same))
		p.other.drawn += other[k] / float64(len(same))
	}
	return p
}

// leastPairs is the least sum of products of weights, relative to that of squares.
const leastPairs = 1e-6
