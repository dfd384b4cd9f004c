package automatic

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Rules of the terms that are offered. A posterior learns the prior variance of every
// block, so a term that the data does not support shrinks to zero. What is excluded here
// could only cost time.
const (
	rowsPerPair   = 2.0  // least number of rows per combination of an effect of two modes
	rowsPerSeries = 3.0  // the same for a series, a combination whose rows differ in one mode only
	nested        = 1.05 // combinations per id of the larger mode, above which two modes are crossed
	seriesRank    = 2
	longRank      = 6 // highest rank of a train of four or more cores: the cost per row grows with its fourth power
	lowRank       = 2 // of a train that is compared with the one of the highest rank
)

// effects returns the effects that the data can support: first those of pairs, then
// those of single modes. A train that comes before them explains what it can, and they
// explain the rest; in the opposite order the posterior of the train shrinks to zero on
// many tables. Of records without ids they are those of the covariates.
func (c *chooser) effects(except []string) []spec.Term {
	if len(c.modes) == 0 {
		return c.curves()
	}
	var effects []spec.Term
	for a := range c.modes {
		for b := a + 1; b < len(c.modes); b++ {
			n := float64(c.pairs[[2]int{a, b}])
			crossed := n > nested*float64(max(c.sizes[a], c.sizes[b]))
			if pair := c.names(a, b); crossed && rowsPerPair*n <= float64(c.rows) && !slices.Equal(pair, except) {
				effects = append(effects, spec.Term{Cores: [][]string{pair}})
			}
		}
	}
	for a := range c.modes {
		if float64(c.sizes[a])*nested <= float64(c.rows) || len(c.modes) == 1 {
			effects = append(effects, spec.Term{Cores: [][]string{c.names(a)}})
		}
	}
	return effects
}

// series returns the term that gives each series a curve of low rank, as in
// store*item,time:2, and reports whether the data can support it: the series have
// several rows each, and there are more of them than ids of a mode. The mode along
// the series is the time, if there is one. Otherwise it is the one that leaves the most
// series.
func (c *chooser) series() (spec.Term, bool) {
	if len(c.modes) < 3 {
		return spec.Term{}, false
	}
	along, most := -1, 0
	for m := range c.modes {
		rest := c.without(m)
		n := c.pairs[[2]int{rest[0], rest[1]}]
		if len(rest) > 2 {
			n = c.data.Combinations(rest...)
		}
		largest := 0
		for _, other := range rest {
			largest = max(largest, c.sizes[other])
		}
		supported := rowsPerSeries*float64(n) <= float64(c.rows) && float64(n) > nested*float64(largest)
		if m == c.data.TimeMode() {
			if supported {
				along = m
				break
			}
			continue
		}
		if supported && n > most && c.data.TimeMode() < 0 {
			along, most = m, n
		}
	}
	if along < 0 {
		return spec.Term{}, false
	}
	return spec.Term{Cores: [][]string{c.names(c.without(along)...), c.names(along)}, Ranks: []int{seriesRank}}, true
}

// without returns all modes but one.
func (c *chooser) without(mode int) []int {
	var rest []int
	for m := range c.modes {
		if m != mode {
			rest = append(rest, m)
		}
	}
	return rest
}

// train returns the train over some modes, with the highest rank that the number of
// rows supports.
func (c *chooser) train(modes []int) spec.Term {
	var cores [][]string
	for _, m := range modes {
		cores = append(cores, c.names(m))
	}
	rank, most := 1, c.effort.rank
	if c.rows > c.effort.rows { // ranks are not compared, and pruning leaves less than this
		most = min(most, efforts["normal"].rank)
	}
	if len(modes) > 3 {
		most = min(most, longRank)
	}
	for _, r := range []int{2, 3, 4, 6, 8, 10, 14, 20, 30} {
		weights := 0
		for i, m := range modes {
			n := c.sizes[m] * r
			if i > 0 && i < len(modes)-1 {
				n *= r
			}
			weights += n
		}
		if r <= most && weights <= c.rows+c.rows/3 {
			rank = r
		}
	}
	return spec.Term{Cores: cores, Ranks: slices.Repeat([]int{rank}, len(modes)-1)}
}

// trainModes returns the sets of modes over which a train is offered: all modes, and with
// four or more also those that are not times or parts of a date, with and without the
// time. Entities interact with each other in many ways, with the calendar in few. So it is
// with three modes if ids are new: their slices in a train of two cores have fewer weights
// to find from side information, and updates move them.
func (c *chooser) trainModes() [][]int {
	n := len(c.modes)
	if n < 2 {
		return nil
	}
	all := c.bySize(n)
	var entities []int
	for _, m := range all {
		if !c.data.IsCalendar(m) {
			entities = append(entities, m)
		}
	}
	if n == 2 || n == 3 {
		if c.newIDs() && n == 3 && len(entities) == 2 {
			return [][]int{all, entities}
		}
		return [][]int{all}
	}
	var sets [][]int
	add := func(set []int) {
		slices.Sort(set)
		if len(set) > 1 && !slices.ContainsFunc(sets, func(other []int) bool { return slices.Equal(set, other) }) {
			sets = append(sets, set)
		}
	}
	add(slices.Clone(entities))
	if t := c.data.TimeMode(); t >= 0 {
		add(append(slices.Clone(entities), t))
	}
	add(c.bySize(2))
	add(c.bySize(3))
	add(all)
	return sets
}

// newIDs reports whether the validation rows are of new ids.
func (c *chooser) newIDs() bool { return c.data.Count(dataset.Valid) > 0 && c.data.Familiar() < 0.5 }

// chooseTrains chooses the train in front of the effects, or none, and a curve per
// series, or only its level. On a table that is compared as a whole, what a learned
// variance does not remove is compared too: the curves, and a train of more components
// than needed.
func (c *chooser) chooseTrains(ctx context.Context) error {
	if len(c.modes) == 0 {
		c.spec = c.withTerms(c.effects(nil))
		return nil
	}
	var series []spec.Term
	var except []string
	if s, ok := c.series(); ok {
		series = []spec.Term{s}
		if len(s.Cores[0]) == 2 {
			except = s.Cores[0]
		}
	}
	curves, levels := slices.Concat(series, c.effects(except)), c.effects(nil)
	var candidates []candidate
	add := func(value string, trains, effects []spec.Term) {
		if terms := slices.Concat(trains, effects); len(terms) > 0 {
			candidates = append(candidates, candidate{value: value, spec: c.withTerms(terms)})
		}
	}
	whole := c.rows <= c.effort.rows
	sets := c.trainModes()
	for i, set := range sets {
		if !whole { // orders are not compared
			sets[i] = c.roomiest(set)
		}
	}
	for _, set := range sets {
		t := c.train(set)
		add(t.String(), []spec.Term{t}, curves)
	}
	if len(sets) > 0 {
		t := c.train(sets[0])
		if whole && len(series) > 0 {
			add(t.String()+" without "+series[0].String(), []spec.Term{t}, levels)
		}
		for rank := min(lowRank, t.Ranks[0]-1); whole && rank > 0; rank-- {
			t.Ranks = slices.Repeat([]int{rank}, len(t.Ranks))
			add(t.String(), []spec.Term{t}, levels)
			if len(c.folds) == 1 {
				break // there are enough rows for the next step to find the rank
			}
		}
	}
	if len(c.modes) == 1 || whole {
		if len(series) > 0 {
			add(series[0].String()+" and effects", nil, curves)
		}
		add("effects only", nil, levels)
		if first := singlesFirst(levels); c.spec.Uncertainty.Likelihood == "bernoulli" && len(first[0].Cores[0]) < len(levels[0].Cores[0]) {
			add("effects only, of single modes first", nil, first)
		}
	}
	if last := len(candidates) - 1; c.quick() && c.spec.Uncertainty.Likelihood == "bernoulli" && last > 0 { // beside a train effects may shrink to zero
		candidates = []candidate{candidates[0], candidates[last]}
	} else if c.quick() {
		candidates = candidates[:1]
	}
	if len(c.folds) > 1 {
		slices.Reverse(candidates) // of a small table, the simplest is the default
		return c.compare(ctx, "trains", candidates)
	}
	if err := c.compare(ctx, "trains", candidates); err != nil {
		return err
	}
	c.spec = candidates[preferLast(c.decisions[len(c.decisions)-1].Options)].spec
	return nil
}

// singlesFirst returns effects with those of single modes before those of pairs. A value of yes or no
// says little, and the effect of an id with a few of them shrinks to zero after other terms.
func singlesFirst(effects []spec.Term) []spec.Term {
	sorted := slices.Clone(effects)
	slices.SortStableFunc(sorted, func(a, b spec.Term) int { return cmp.Compare(len(a.Cores[0]), len(b.Cores[0])) })
	return sorted
}

// preferLast takes the last option, the simplest, if another one than the first was taken and
// is not better, and returns which one is taken then. A train that is no better than
// effects adds cells far from all others.
func preferLast(options []model.Candidate) int {
	taken, last := slices.IndexFunc(options, func(o model.Candidate) bool { return o.Taken }), len(options)-1
	if taken > 0 && options[last].CRPS != nil && *options[last].CRPS <= *options[taken].CRPS {
		options[taken].Taken, options[last].Taken = false, true
		return last
	}
	return taken
}

// quick reports whether only what cannot be decided otherwise is compared.
func (c *chooser) quick() bool { return c.spec.Fit.Effort == "quick" }

// chooseRank compares ranks of the leading train, if the comparison sees all rows.
// A sample of a larger table would favour ranks that are too low.
func (c *chooser) chooseRank(ctx context.Context) error {
	terms, err := c.spec.ParseTerms()
	if err != nil || len(terms[0].Ranks) == 0 || c.quick() || c.rows > c.effort.rows {
		return err
	}
	given := terms[0].Ranks[0]
	var candidates []candidate
	for _, rank := range []int{given, given / 2, 2 * given} {
		if rank < 1 || rank > c.effort.rank || len(terms[0].Ranks) > 2 && rank > longRank || len(terms[0].Cores) > mostOrdered && rank > given {
			continue
		}
		s := c.spec.Clone()
		s.ChangeTerm(0, func(t *spec.Term) {
			for i := range t.Ranks {
				t.Ranks[i] = rank
			}
		})
		candidates = append(candidates, candidate{value: fmt.Sprint(rank), spec: s})
	}
	return c.compare(ctx, "rank of "+strings.TrimSuffix(terms[0].String(), fmt.Sprintf(":%d", given)), candidates)
}

// informedModes returns the modes with side tables.
func (c *chooser) informedModes() ([]string, error) {
	tables, err := c.spec.SideTables()
	var modes []string
	for _, t := range tables {
		modes = append(modes, t.Mode)
	}
	return modes, err
}

// withVariant returns the specification with a variant of the terms that use side
// information: trains over single modes and effects of single modes. In a joint core it would need a
// regression per id of the other mode, which takes many times as long and predicts no better.
func withVariant(s spec.Spec, informed []string, variant string) spec.Spec {
	s = s.Clone()
	s.Side.Variant = "plain"
	terms, _ := s.ParseTerms()
	for i, t := range terms {
		if variant == "plain" || t.IsSeries() || slices.ContainsFunc(t.Cores, func(core []string) bool { return len(core) > 1 }) {
			continue
		}
		if slices.ContainsFunc(t.Cores, func(core []string) bool { return slices.Contains(informed, core[0]) }) {
			s.ChangeTerm(i, func(t *spec.Term) { t.Variant = variant })
		}
	}
	return s
}

// chooseVariant chooses how the side information is used.
func (c *chooser) chooseVariant(ctx context.Context) error {
	informed, err := c.informedModes()
	if err != nil || len(informed) == 0 {
		return err
	}
	with := func(variant string) spec.Spec { return withVariant(c.spec, informed, variant) }
	open := c.spec.Side.Variant == "additive"
	if !open {
		c.spec = with(c.spec.Side.Variant)
		return nil
	}
	candidates := []candidate{{"additive", with("additive")}}
	if !c.quick() && c.rows <= c.effort.rows { // a sample needs side information more than the table does
		candidates = append(candidates, candidate{"wlr", with("wlr")}, candidate{"plain", with("plain")})
	}
	return c.compare(ctx, "use of side information", candidates)
}

// chooseInference compares independent weights with a covariance per id, if the
// comparison sees all rows. Without a train of rank 2 or more an id has one weight in each
// term, and the two are the same.
func (c *chooser) chooseInference(ctx context.Context) error {
	if c.quick() || c.single() || c.spec.Uncertainty.Counts() || c.rows > c.effort.rows {
		return nil
	}
	terms, err := c.spec.ParseTerms()
	if err != nil || !slices.ContainsFunc(terms, func(t spec.Term) bool { return slices.ContainsFunc(t.Ranks, func(r int) bool { return r > 1 }) }) {
		return err
	}
	return c.compare(ctx, "inference", []candidate{{"mean-field", c.spec}, {"entity-covariance", withInference(c.spec, "entity-covariance")}})
}

// withInference returns the specification with another posterior.
func withInference(s spec.Spec, inference string) spec.Spec {
	s = s.Clone()
	s.Uncertainty.Inference = inference
	return s
}

// chooseNoiseUse compares, for noise that differs between rows, weighting the rows by it
// with using it for predictions only.
func (c *chooser) chooseNoiseUse(ctx context.Context) error {
	if c.quick() || c.late() || c.spec.Uncertainty.Noise != spec.Auto || c.spec.Uncertainty.OwnNoise() || !c.spec.Uncertainty.Bayesian() || c.rows > c.effort.rows || c.data.Count(dataset.Valid) == 0 {
		return nil
	}
	crps, r, err := c.fit(ctx, c.spec, c.data)
	if err != nil {
		if c.skips(err) {
			return nil
		}
		return err
	}
	noise := r.Spec.Uncertainty.Noise
	if noise == "constant" {
		return nil
	}
	predict, fit := c.spec.Clone(), c.spec.Clone()
	predict.Uncertainty.Noise, fit.Uncertainty.Noise = noise, noise
	fit.Uncertainty.NoiseUse = "fit"
	if !c.future() || len(c.folds) == 1 {
		c.scores[string(predict.YAML())] = &score{divisions: []float64{crps}} // the same fit on the given division
	}
	open := c.spec
	if err := c.compare(ctx, "use of the noise "+noise, []candidate{{"predict", predict}, {"fit", fit}}); err != nil {
		return err
	}
	if c.spec.Uncertainty.NoiseUse != "fit" {
		c.spec = open // the final fit chooses the noise
	}
	return nil
}
