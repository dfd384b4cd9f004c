package metrics

import (
	"math"

	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/predictive"
)

const (
	pitBins = 20
	// warmRows is the number of training observations from which an entity is warm.
	warmRows = 10
)

// An Observation is an observed value to compare with its predictive distribution.
type Observation struct {
	Y      float64
	Weight float64 // 1 if the data has no weights
	Index  uint64  // of the row; determines the random number of its PIT
	// Entities are the codes of the row by mode, negative for an unknown entity.
	Entities []int32
	// Seen is the number of training observations of the rarest entity of the row, where the
	// period of a forecast does not count.
	Seen int
	// NewCombination is true if some combination of entities that has weights in the
	// model has no training observations.
	NewCombination bool
}

// CalibrationSums accumulates the sums of a [Calibration], one observation at a time.
// Construct it with [NewCalibrationSums].
type CalibrationSums struct {
	seed    uint64
	n       int
	weight  float64
	inside  [len(IntervalLevels)]float64
	pinball [len(predictive.SummaryLevels)]float64
	crps    float64
	width   float64
	winkler float64
	log     float64
	pit     [pitBins]float64
	modes   [][]coverage // by mode and entity
	seen    [len(seenNames)]coverage
}

// NewCalibrationSums returns empty sums for rows with a number of modes. The seed is
// that of the randomised PIT.
func NewCalibrationSums(modes int, seed uint64) *CalibrationSums {
	return &CalibrationSums{seed: seed, modes: make([][]coverage, modes)}
}

// Add adds an observation and its predictive distribution, and reports whether it is inside its 90
// % interval. It allocates only at the first observation of an entity.
func (s *CalibrationSums) Add(d predictive.Distribution, o Observation) (inside bool) {
	w := o.Weight
	e := d.Evaluate(o.Y)
	s.n++
	s.weight += w
	u := e.PIT(s.seed, o.Index)
	hits := insideIntervals(e.Limits[0], e.Limits[1])
	if e.Heaped { // the narrower intervals of heaped values are often a single one
		chance := insideIntervals(u, u)
		copy(hits[1:], chance[1:])
	}
	for i, hit := range hits {
		if hit {
			s.inside[i] += w
		}
	}
	for i, level := range predictive.SummaryLevels {
		s.pinball[i] += w * pinball(level, e.Quantiles[i], o.Y)
	}
	low, high := e.Quantiles[0], e.Quantiles[4]
	s.crps += w * e.CRPS
	s.width += w * (high - low)
	s.winkler += w * winkler(0.1, low, high, o.Y)
	s.log += w * e.LogDensity
	s.pit[min(max(int(u*pitBins), 0), pitBins-1)] += w

	for mode, entity := range o.Entities {
		s.AddEntity(mode, entity, w, hits[0])
	}
	s.seen[seenClass(o.Seen, o.NewCombination)].add(w, hits[0])
	return hits[0]
}

// Reserve makes room for n entities of a mode.
func (s *CalibrationSums) Reserve(mode, n int) { s.modes[mode] = extend(s.modes[mode], n) }

// AddEntity counts a row that was added without Entities, inside its 90 % interval or not, for its
// entity of a mode, negative for an unknown one. Calls for different modes may be concurrent, and for
// different entities for which there is room.
func (s *CalibrationSums) AddEntity(mode int, entity int32, weight float64, inside bool) {
	if entity >= 0 {
		if int(entity) >= len(s.modes[mode]) {
			s.Reserve(mode, int(entity)+1)
		}
		s.modes[mode][entity].add(weight, inside)
	}
}

// ShareEntities completes the counts by entity, of which process m mod P of P has those of mode m, on all of them.
func (s *CalibrationSums) ShareEntities(group peers.Group) {
	for mode := range s.modes {
		process := mode % group.Size()
		if entities := peers.Each(group, int64(len(s.modes[mode])))[process]; group.Rank() != process {
			s.modes[mode] = make([]coverage, entities)
		}
		peers.From(group, s.modes[mode], process)
	}
}

// seenNames are the classes of rows by their training observations.
var seenNames = [...]string{"cold", "few", "warm", "new combination"}

func seenClass(seen int, newCombination bool) int {
	switch {
	case seen <= 0:
		return 0
	case newCombination:
		return 3
	case seen < warmRows:
		return 1
	}
	return 2
}

// extend returns c with at least n elements.
func extend(c []coverage, n int) []coverage {
	if n > len(c) {
		c = append(c, make([]coverage, n-len(c))...)
	}
	return c
}

// Merge adds the sums of other observations with the same number of modes.
func (s *CalibrationSums) Merge(o *CalibrationSums) {
	s.n += o.n
	s.weight += o.weight
	for i := range s.inside {
		s.inside[i] += o.inside[i]
	}
	for i := range s.pinball {
		s.pinball[i] += o.pinball[i]
	}
	s.crps += o.crps
	s.width += o.width
	s.winkler += o.winkler
	s.log += o.log
	for i := range s.pit {
		s.pit[i] += o.pit[i]
	}
	for mode, entities := range o.modes {
		s.modes[mode] = extend(s.modes[mode], len(entities))
		for e, c := range entities {
			s.modes[mode][e].merge(c)
		}
	}
	for i := range s.seen {
		s.seen[i].merge(o.seen[i])
	}
}

// Calibration returns the measures. modes are the names of the modes. r2 is the R2 of
// the same rows, which Eta needs; NaN if it is undefined.
func (s *CalibrationSums) Calibration(modes []string, r2 float64) Calibration {
	c := Calibration{
		N:          s.n,
		CRPS:       Number(s.crps / s.weight),
		Width90:    Number(s.width / s.weight),
		Winkler90:  Number(s.winkler / s.weight),
		LogDensity: Number(s.log / s.weight),
		Coverage90: Number(s.inside[0] / s.weight),
		PIT:        make([]Number, pitBins),
	}
	for i, level := range IntervalLevels {
		share := s.inside[i] / s.weight
		c.XiByLevel = append(c.XiByLevel, LevelShare{level, Number(share)})
		c.Xi += Number(math.Abs(share - level))
	}
	c.Eta = c.Xi - Number(r2)
	for i, level := range predictive.SummaryLevels {
		loss := Number(s.pinball[i] / s.weight)
		c.PinballByLevel = append(c.PinballByLevel, LevelLoss{level, loss})
		c.Pinball += loss / Number(len(predictive.SummaryLevels))
	}
	for i := range c.PIT {
		c.PIT[i] = Number(s.pit[i] / s.weight)
	}
	for mode, entities := range s.modes {
		c.CoverageByMode = append(c.CoverageByMode, modeCoverage(modes[mode], entities))
	}
	for i, name := range seenNames {
		c.CoverageBySeen = append(c.CoverageBySeen, SeenCoverage{name, s.seen[i].n, Number(s.seen[i].share())})
	}
	return c
}
