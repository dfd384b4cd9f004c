package metrics

import "math"

// A Calibration measures how well predictive distributions describe a set of rows.
// All measures except N are weighted if the rows have weights. Measures of no rows
// are NaN.
type Calibration struct {
	N int `json:"n"`
	// Xi is the total calibration error: the sum over IntervalLevels of
	// |share inside the central interval - level|.
	Xi        Number       `json:"xi"`
	XiByLevel []LevelShare `json:"xi_by_level"`
	Eta       Number       `json:"eta"` // Xi - R2
	CRPS      Number       `json:"crps"`
	// Pinball is the mean of the pinball losses in PinballByLevel.
	Pinball        Number      `json:"pinball"`
	PinballByLevel []LevelLoss `json:"pinball_by_level"`
	Width90        Number      `json:"width90"`   // mean width of the 90 % interval
	Winkler90      Number      `json:"winkler90"` // mean interval score of the 90 % interval
	Coverage90     Number      `json:"coverage90"`
	// LogDensity is the mean log density in the units of the target; for counts, the
	// mean log probability.
	LogDensity     Number         `json:"log_density"`
	PIT            []Number       `json:"pit"` // shares of equal bins of (0, 1)
	CoverageByMode []ModeCoverage `json:"coverage_by_mode"`
	// CoverageBySeen divides the rows by the number of training observations of their
	// rarest entity: cold (0), few (1 to 9) and warm (10 or more). Rows of the last
	// two kinds whose combination of entities is new are listed separately.
	CoverageBySeen []SeenCoverage `json:"coverage_by_seen"`
}

// A LevelShare is the share of rows inside the central interval of a level.
type LevelShare struct {
	Level float64 `json:"level"`
	Share Number  `json:"share"`
}

// A LevelLoss is the mean pinball loss of the quantile at a level.
type LevelLoss struct {
	Level float64 `json:"level"`
	Loss  Number  `json:"loss"`
}

// MinEntityRows is the number of rows from which an entity is listed in a
// [ModeCoverage].
const MinEntityRows = 200

// A ModeCoverage is the coverage of the 90 % interval for the entities of a mode that
// have at least [MinEntityRows] rows.
type ModeCoverage struct {
	Mode     string           `json:"mode"`
	Entities int              `json:"entities"`
	Gap      Number           `json:"gap"` // mean of |coverage90 - 0.9| over the entities
	Table    []EntityCoverage `json:"table,omitempty"`
}

// An EntityCoverage is the coverage of the 90 % interval for one entity.
type EntityCoverage struct {
	Entity   int32  `json:"-"`  // code of the entity
	ID       string `json:"id"` // set by the caller, who knows the ids
	N        int    `json:"n"`
	Coverage Number `json:"coverage90"`
}

// A SeenCoverage is the coverage of the 90 % interval for one class of rows by number
// of training observations.
type SeenCoverage struct {
	Name     string `json:"name"`
	N        int    `json:"n"`
	Coverage Number `json:"coverage90"`
}

func modeCoverage(mode string, entities []coverage) ModeCoverage {
	m := ModeCoverage{Mode: mode}
	sum := 0.0
	for code, c := range entities {
		if c.n < MinEntityRows {
			continue
		}
		m.Table = append(m.Table, EntityCoverage{Entity: int32(code), N: c.n, Coverage: Number(c.share())})
		sum += math.Abs(c.share() - IntervalLevels[0])
	}
	m.Entities = len(m.Table)
	m.Gap = Number(sum / float64(m.Entities))
	return m
}
