package automatic

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
)

const (
	pairRows     = 100_000 // training rows whose residuals are looked at, at most
	mostRanges   = 12      // of the values of a mode
	rowsPerBlock = 10      // rows of a pair of groups, or of a curve, in the mean, at least
	numberRows   = 200     // training rows from which trains of two numbers are offered
	pairRank     = 3       // of such a train, 1 below rankRows training rows
	rankRows     = 1_000
	pairsOfRound = 4 // that are offered together
	pairRounds   = 4
	leastPair    = 4.0  // standard deviations by which a pair must exceed chance
	rowsPerSlope = 2    // rows of an id, in the mean, at least, for a curve of all ids in its own measure
	slopeRank    = 2    // the number of such curves: with one, it may be the level of ids
	pairGain     = 0.01 // share of the CRPS by which the pairs of a round must be better
)

// choosePairs offers interactions of two covariates, and of a covariate and a mode, a few at a time
// as long as they help. Of all pairs it takes those in which the residuals of the model differ most
// between blocks of values.
func (c *chooser) choosePairs(ctx context.Context) error {
	if !c.needsResiduals() {
		return nil
	}
	subject := "interactions of covariates"
	c.beforePairs = len(c.spec.Terms)
	for range pairRounds {
		if c.late() {
			return nil
		}
		terms, err := c.spec.ParseTerms()
		if err != nil {
			return err
		}
		pairs, err := c.findPairs(ctx, terms)
		if err != nil || len(pairs) == 0 {
			return err
		}
		candidates := []candidate{{"none", c.spec}}
		offer := func(pairs []pair, term func(pair) spec.Term) {
			offered, texts := make([]spec.Term, len(pairs)), make([]string, len(pairs))
			for i, p := range pairs {
				offered[i] = term(p)
				texts[i] = offered[i].String()
			}
			value := strings.Join(texts, ", ")
			if len(pairs) > 0 && !slices.ContainsFunc(candidates, func(o candidate) bool { return o.value == value }) {
				candidates = append(candidates, candidate{value, c.withTerms(slices.Concat(offered, terms))})
			}
		}
		all := largest(pairs, func(p pair) float64 { return max(p.blocks, p.ids) })
		offer(all, pair.curves)
		offer(all, pair.trains)
		// Slopes of many ids may leave no place for interactions of other kinds.
		offer(largest(pairs, func(p pair) float64 { return p.blocks }), pair.curves)
		if err := c.compareBy(ctx, subject, pairGain, candidates); err != nil {
			return err
		}
		if len(c.spec.Terms) == len(terms) {
			return nil
		}
		subject = "more interactions"
	}
	return nil
}

// needsResiduals reports whether interactions are looked for.
func (c *chooser) needsResiduals() bool {
	return !c.quick() && !c.future() && len(c.others) > 0 && c.hasResiduals() && c.data.Count(dataset.Valid) > 0
}

// hasResiduals reports whether targets less predictions say where the model is wrong.
func (c *chooser) hasResiduals() bool {
	return c.spec.Uncertainty.Likelihood != "ordinal" && c.spec.Data.Censored == "" && c.spec.Data.Exposure == ""
}

// A pair is an interaction of two modes that residuals show.
type pair struct {
	effect spec.Term // a train of two numbers, an effect of each combination, or a curve per id
	slopes spec.Term // of an id and a number: a train, in which each id has a few curves of all ids in its own measure; none of other pairs
	few    bool      // ids have too few rows for curves of their own

	blocks, ids float64 // by how much the residuals differ between blocks and between slopes of ids, beyond chance; 0 if not clearly
}

// curves returns the term of a pair, with a curve per id where there is a choice.
func (p pair) curves() spec.Term {
	if p.few {
		return p.slopes
	}
	return p.effect
}

// trains returns the term of a pair, with a train where there is a choice.
func (p pair) trains() spec.Term {
	if p.slopes.Cores != nil {
		return p.slopes
	}
	return p.effect
}

// largest returns the pairs of a round by a measure, largest first.
func largest(pairs []pair, measure func(pair) float64) []pair {
	found := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return measure(p) <= 0 })
	slices.SortStableFunc(found, func(a, b pair) int { return cmp.Compare(measure(b), measure(a)) })
	return found[:min(len(found), pairsOfRound)]
}

// findPairs returns the pairs that residuals show and none of the terms has.
func (c *chooser) findPairs(ctx context.Context, terms []spec.Term) ([]pair, error) {
	m, err := c.givenModel(ctx)
	if err != nil {
		if c.skips(err) {
			return nil, nil
		}
		return nil, err
	}
	data, err := c.data.WithPoints(c.spec)
	if err != nil {
		return nil, err
	}
	rows := data.Sample(pairRows, c.spec.Seed)
	residuals, err := train.Residuals(m, rows, c.threads())
	if err != nil {
		return nil, err
	}
	names := slices.Concat(c.modes, c.others)
	most := min(mostRanges, int(math.Sqrt(float64(len(residuals))/rowsPerBlock)))
	groups, ranks := make([]grouping, len(names)), make([][]float64, len(names))
	for i := range names {
		groups[i] = c.groupsOf(i, rows.Codes[i], most)
		if c.isNumber(i) {
			ranks[i] = c.ranksOf(i, rows.Codes[i])
		}
	}
	var found []pair
	for b := len(c.modes); b < len(names); b++ {
		for a := range b {
			numbers := c.isNumber(a) && c.isNumber(b)
			if groups[a].n < 2 || groups[b].n < 2 || numbers && c.rows < numberRows || has(terms, names[a], names[b]) {
				continue
			}
			p := c.pairOf(a, b)
			if excess, chance := interaction(residuals, groups[a], groups[b]); !p.few && excess > leastPair*chance {
				p.blocks = excess
			}
			if ids, number, ok := c.idsAndNumber(a, b); ok && c.sizes[ids]*rowsPerSlope <= c.rows {
				if excess, chance := slopes(residuals, rows.Codes[ids], c.sizes[ids], ranks[number]); excess > leastPair*chance {
					p.ids = excess
				}
			}
			if max(p.blocks, p.ids) > 0 {
				found = append(found, p)
			}
		}
	}
	return found, nil
}

// has reports whether a term has both modes.
func has(terms []spec.Term, a, b string) bool {
	return slices.ContainsFunc(terms, func(t spec.Term) bool {
		all := slices.Concat(t.Cores...)
		return slices.Contains(all, a) && slices.Contains(all, b)
	})
}

// pairOf returns the interaction of two modes.
func (c *chooser) pairOf(a, b int) pair {
	names := slices.Concat(c.modes, c.others)
	if c.isNumber(a) && c.isNumber(b) {
		rank := pairRank
		if c.rows < rankRows {
			rank = 1
		}
		return pair{effect: spec.Term{Cores: [][]string{{names[a]}, {names[b]}}, Ranks: []int{rank}}}
	}
	p := pair{effect: spec.Term{Cores: [][]string{{names[a], names[b]}}}}
	if ids, number, ok := c.idsAndNumber(a, b); ok {
		p.few = c.sizes[ids]*rowsPerBlock > c.rows
		if p.few || c.sizes[ids] > 2*slopeRank {
			p.slopes = spec.Term{Cores: [][]string{{names[number]}, {names[ids]}}, Ranks: []int{slopeRank}}
		}
	}
	return p
}

// idsAndNumber returns the mode of ids and the number of a pair of these.
func (c *chooser) idsAndNumber(a, b int) (ids, number int, ok bool) {
	if c.isNumber(a) {
		a, b = b, a
	}
	return a, b, !c.isNumber(a) && c.isNumber(b)
}

func (c *chooser) isNumber(mode int) bool { return c.data.Modes()[mode].Numeric() }

// A grouping divides rows into n groups by the values of a mode.
type grouping struct {
	of []int // by row
	n  int
}

// groupsOf divides rows by ranges of numbers with about equally many rows, and by the most frequent
// ids of other modes, with one group of all others.
func (c *chooser) groupsOf(mode int, codes []int32, most int) grouping {
	ids := c.data.IDs(mode)
	counts := make([]int, len(ids))
	for _, code := range codes {
		counts[code]++
	}
	order, values := make([]int, len(ids)), make([]float64, len(ids))
	for k, id := range ids {
		v, ok := dataset.Number(id)
		if !ok {
			v = math.Inf(-1) // a missing value
		}
		order[k], values[k] = k, v
	}
	group, n := make([]int, len(ids)), 0
	if c.isNumber(mode) {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
		before, last := 0, -1
		for _, k := range order {
			if at := before * most / len(codes); at != last && counts[k] > 0 {
				last, n = at, n+1
			}
			group[k] = max(n-1, 0)
			before += counts[k]
		}
	} else {
		slices.SortStableFunc(order, func(a, b int) int { return counts[b] - counts[a] })
		for i, k := range order {
			group[k] = min(i, most-1)
			if counts[k] > 0 {
				n = group[k] + 1
			}
		}
	}
	g := grouping{of: make([]int, len(codes)), n: n}
	for row, code := range codes {
		g.of[row] = group[code]
	}
	return g
}

// interaction returns by how much the squares that blocks of two groupings explain, beyond the sum
// of two effects, exceed those of chance, in units of the variance of the residuals, and the
// standard deviation of that:
//
//	excess = sum n_ij (m_ij - a_i - b_j)^2 / s2 - d,   chance = sqrt(2 d)
//
// with the means m of blocks and d degrees of freedom.
func interaction(residuals []float64, a, b grouping) (excess, chance float64) {
	sum, count := make([]float64, a.n*b.n), make([]float64, a.n*b.n)
	squares := 0.0
	for row, r := range residuals {
		at := a.of[row]*b.n + b.of[row]
		sum[at] += r
		count[at]++
		squares += r * r
	}
	effects := [2][]float64{make([]float64, a.n), make([]float64, b.n)}
	const rounds = 10 // of fitting the two effects in turn
	for range rounds {
		for side := range effects {
			total, rows := make([]float64, len(effects[side])), make([]float64, len(effects[side]))
			for at, n := range count {
				own := [2]int{at / b.n, at % b.n}
				total[own[side]] += sum[at] - n*effects[1-side][own[1-side]]
				rows[own[side]] += n
			}
			for i, n := range rows {
				effects[side][i] = total[i] / max(n, 1)
			}
		}
	}
	explained, blocks := 0.0, 0
	for at, n := range count {
		if n > 0 {
			d := sum[at]/n - effects[0][at/b.n] - effects[1][at%b.n]
			explained += n * d * d
			blocks++
		}
	}
	degrees := float64(blocks - a.n - b.n + 1)
	if degrees < 1 || squares == 0 {
		return 0, 1
	}
	return explained/squares*float64(len(residuals)) - degrees, math.Sqrt(2 * degrees)
}

// ranksOf returns the ranks of the numbers of rows, from 0 to 1, NaN for a missing one.
func (c *chooser) ranksOf(mode int, codes []int32) []float64 {
	ids := c.data.IDs(mode)
	counts := make([]int, len(ids))
	for _, code := range codes {
		counts[code]++
	}
	var order []int
	values, rank := make([]float64, len(ids)), slices.Repeat([]float64{math.NaN()}, len(ids))
	for k, id := range ids {
		if v, ok := dataset.Number(id); ok {
			values[k], order = v, append(order, k)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	before := 0
	for _, k := range order {
		rank[k] = (float64(before) + float64(counts[k])/2) / float64(len(codes))
		before += counts[k]
	}
	ranks := make([]float64, len(codes))
	for row, code := range codes {
		ranks[row] = rank[code]
	}
	return ranks
}

// slopes returns by how much the squares that slopes of n ids along x explain, beyond one slope of all, exceed those of chance, in units of the variance of
// the residuals r within ids, and the standard deviation of that:
//
//	excess = sum (S_i - b Q_i)^2 / Q_i / s2 - d,   chance = sqrt(2 d),   S_i = sum (x - x_i) r,   Q_i = sum (x - x_i)^2,   b = sum S_i / sum Q_i
//
// with the means x_i of ids and d + 1 ids whose x differ. It sees slopes of many ids with few rows each, which blocks do not.
func slopes(residuals []float64, codes []int32, n int, x []float64) (excess, chance float64) {
	type sums struct{ n, x, r, xx, xr, rr float64 }
	ids := make([]sums, n)
	for row, code := range codes {
		if v, r := x[row], residuals[row]; !math.IsNaN(v) {
			s := &ids[code]
			*s = sums{s.n + 1, s.x + v, s.r + r, s.xx + v*v, s.xr + v*r, s.rr + r*r}
		}
	}
	degrees, squares, rest, along, spread := -1.0, 0.0, 0.0, 0.0, 0.0
	each := func(see func(q, s float64)) {
		for _, id := range ids {
			if q := id.xx - id.x*id.x/max(id.n, 1); q > 1e-9*id.xx {
				see(q, id.xr-id.x*id.r/id.n)
			}
		}
	}
	for _, id := range ids {
		squares += id.rr - id.r*id.r/max(id.n, 1)
		rest += max(id.n-1, 0)
	}
	each(func(q, s float64) { degrees, along, spread = degrees+1, along+s, spread+q })
	if degrees < 1 || squares <= 0 {
		return 0, 1
	}
	explained := 0.0
	each(func(q, s float64) {
		d := s - along/spread*q
		explained += d * d / q
	})
	return explained/squares*rest - degrees, math.Sqrt(2 * degrees)
}
