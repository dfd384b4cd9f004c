package calibrate

import "math"

// Levels are the central intervals 1-2a of a report, a in .05, .15, .25, .35, .45.
var Levels = [5]float64{.9, .7, .5, .3, .1}

// PinballLevels are the quantiles whose pinball losses a report has.
var PinballLevels = [5]float64{.05, .25, .5, .75, .95}

// places of PinballLevels among reportLevels.
var pinballAt = [5]int{0, 2, 5, 8, 10}

const (
	pitBins = 20
	// FewBelow is the number of training observations from which a cell is warm:
	// cold has 0, few 1 to FewBelow-1.
	FewBelow = 10
)

// A Row is an observation to measure a predictive on.
type Row struct {
	Y      float64
	Weight float64 // 1 where there are none
	Index  uint64  // of the row, for its random number
	// Entities are the row's codes by mode, negative for an unknown one.
	Entities []int32
	// Seen is the number of training observations of the entity of the row that
	// has the fewest of them.
	Seen int
	// Unmet says that all entities have training observations, but some
	// combination of them that the model has weights for has none.
	Unmet bool
}

// A Tally sums what a report needs, a row at a time. Tallies add up: cut the rows
// by the data, fill a tally for each cut, and merge in order; the sums then do
// not depend on the number of threads. Make one with [NewTally].
type Tally struct {
	seed    uint64
	n       int
	weight  float64
	inside  [len(Levels)]float64
	pinball [len(PinballLevels)]float64
	crps    float64
	width   float64
	winkler float64
	log     float64
	pit     [pitBins]float64
	modes   [][]coverage // by mode and entity
	seen    [len(seenNames)]coverage
}

// coverage counts the 90 % interval.
type coverage struct {
	n            int
	weight, hits float64
}

func (c *coverage) add(w float64, hit bool) {
	c.n++
	c.weight += w
	if hit {
		c.hits += w
	}
}

func (c *coverage) merge(o coverage) {
	c.n += o.n
	c.weight += o.weight
	c.hits += o.hits
}

func (c coverage) share() float64 { return c.hits / c.weight }

// NewTally returns an empty tally for rows with a number of modes. The seed is
// that of the randomised PIT.
func NewTally(modes int, seed uint64) *Tally {
	return &Tally{seed: seed, modes: make([][]coverage, modes)}
}

// Add counts a row. It does not allocate but for entities it has not met.
func (t *Tally) Add(p Predictive, row Row) {
	y, w := row.Y, row.Weight
	var q [len(PinballLevels)]float64
	var below, upto, crps float64
	if p.count != nil {
		var g countGrid
		p.fillGrid(&g)
		for i, at := range pinballAt {
			q[i] = p.countFrom(&g, reportLevels[at], p.law.at[at])
		}
		below, upto = p.gridLevels(&g, y)
		crps = p.gridCRPS(&g, y)
	} else {
		for i, at := range pinballAt {
			q[i] = p.fromScore(p.law.at[at])
		}
		below, upto = p.levels(y)
		crps = p.CRPS(y)
	}
	t.n++
	t.weight += w
	hits := insideAt(below, upto)
	for i, hit := range hits {
		if hit {
			t.inside[i] += w
		}
	}
	for i, level := range PinballLevels {
		t.pinball[i] += w * Pinball(level, q[i], y)
	}
	t.crps += w * crps
	t.width += w * (q[4] - q[0])
	t.winkler += w * Winkler(0.1, q[0], q[4], y)
	t.log += w * p.LogDensity(y)
	u := pit(below, upto, t.seed, row.Index)
	t.pit[min(max(int(u*pitBins), 0), pitBins-1)] += w

	for mode, entity := range row.Entities {
		if entity >= 0 {
			t.modes[mode] = grown(t.modes[mode], int(entity)+1)
			t.modes[mode][entity].add(w, hits[0])
		}
	}
	t.seen[seenClass(row.Seen, row.Unmet)].add(w, hits[0])
}

// insideAt tells for each of Levels whether a value lies in the closed central
// interval, from the probabilities of less than it and of it or less:
// Q(a) <= y means F(y) >= a, and y <= Q(1-a) means P(less than y) <= 1-a, with
// equality only for continuous distributions.
func insideAt(below, upto float64) (hits [len(Levels)]bool) {
	for i := range Levels {
		a, b := reportLevels[i], reportLevels[len(reportLevels)-1-i]
		hits[i] = upto >= a && (below < b || below == upto && below == b)
	}
	return hits
}

// seenNames are the classes of rows by what training data said of them.
var seenNames = [...]string{"cold", "few", "warm", "new combination"}

func seenClass(seen int, unmet bool) int {
	switch {
	case seen <= 0:
		return 0
	case unmet:
		return 3
	case seen < FewBelow:
		return 1
	}
	return 2
}

func grown(c []coverage, n int) []coverage {
	if n > len(c) {
		c = append(c, make([]coverage, n-len(c))...)
	}
	return c
}

// Merge adds another tally of as many modes.
func (t *Tally) Merge(o *Tally) {
	t.n += o.n
	t.weight += o.weight
	for i := range t.inside {
		t.inside[i] += o.inside[i]
	}
	for i := range t.pinball {
		t.pinball[i] += o.pinball[i]
	}
	t.crps += o.crps
	t.width += o.width
	t.winkler += o.winkler
	t.log += o.log
	for i := range t.pit {
		t.pit[i] += o.pit[i]
	}
	for mode, entities := range o.modes {
		t.modes[mode] = grown(t.modes[mode], len(entities))
		for e, c := range entities {
			t.modes[mode][e].merge(c)
		}
	}
	for i := range t.seen {
		t.seen[i].merge(o.seen[i])
	}
}

// Report returns the measures. The tally does not know means: r2 is the R2 of
// the same rows, for eta; NaN where it is not defined.
func (t *Tally) Report(modes []string, r2 float64) Report {
	r := Report{
		N:          t.n,
		CRPS:       Number(t.crps / t.weight),
		Width90:    Number(t.width / t.weight),
		Winkler90:  Number(t.winkler / t.weight),
		LogDensity: Number(t.log / t.weight),
		Coverage90: Number(t.inside[0] / t.weight),
		PIT:        make([]Number, pitBins),
	}
	for i, level := range Levels {
		share := t.inside[i] / t.weight
		r.XiByLevel = append(r.XiByLevel, LevelShare{level, Number(share)})
		r.Xi += Number(math.Abs(share - level))
	}
	r.Eta = r.Xi - Number(r2)
	for i, level := range PinballLevels {
		loss := Number(t.pinball[i] / t.weight)
		r.PinballByLevel = append(r.PinballByLevel, LevelLoss{level, loss})
		r.Pinball += loss / Number(len(PinballLevels))
	}
	for i := range r.PIT {
		r.PIT[i] = Number(t.pit[i] / t.weight)
	}
	for mode, entities := range t.modes {
		r.CoverageByMode = append(r.CoverageByMode, modeCoverage(modes[mode], entities))
	}
	for i, name := range seenNames {
		r.CoverageBySeen = append(r.CoverageBySeen, SeenCoverage{name, t.seen[i].n, Number(t.seen[i].share())})
	}
	return r
}
