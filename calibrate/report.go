package calibrate

import (
	"encoding/json"
	"math"
)

// A Number is a float64 that is null in JSON where it is not defined.
type Number float64

// MarshalJSON writes NaN and infinities as null.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(data, (*float64)(n))
}

// A Report says how well predictives describe a set of rows. Measures of no rows
// are NaN. All but N are weighted where rows have weights.
type Report struct {
	N int `json:"n"`
	// Xi is the total calibration error: the sum over Levels of
	// |share inside the central interval - level|.
	Xi        Number       `json:"xi"`
	XiByLevel []LevelShare `json:"xi_by_level"`
	Eta       Number       `json:"eta"` // Xi - R2
	CRPS      Number       `json:"crps"`
	// Pinball is the mean of the losses at PinballLevels.
	Pinball        Number      `json:"pinball"`
	PinballByLevel []LevelLoss `json:"pinball_by_level"`
	Width90        Number      `json:"width90"`   // mean width of the 90 % interval
	Winkler90      Number      `json:"winkler90"` // its mean interval score
	Coverage90     Number      `json:"coverage90"`
	// LogDensity is the mean log density, on the scale of the user's units; for
	// counts the mean log probability.
	LogDensity     Number         `json:"log_density"`
	PIT            []Number       `json:"pit"` // shares of equal bins of (0, 1)
	CoverageByMode []ModeCoverage `json:"coverage_by_mode"`
	// CoverageBySeen tells cold rows (an entity without training observations),
	// few (1 to FewBelow-1) and warm ones apart, and of the latter two those whose
	// combination of entities the model meets for the first time.
	CoverageBySeen []SeenCoverage `json:"coverage_by_seen"`
}

// A LevelShare is the share of rows inside the central interval of a level.
type LevelShare struct {
	Level float64 `json:"level"`
	Share Number  `json:"share"`
}

// A LevelLoss is the mean pinball loss of a quantile.
type LevelLoss struct {
	Level float64 `json:"level"`
	Loss  Number  `json:"loss"`
}

// A ModeCoverage says how the coverage of the 90 % interval differs between the
// entities of a mode that have [LeastGroup] rows or more.
type ModeCoverage struct {
	Mode     string           `json:"mode"`
	Entities int              `json:"entities"`
	Gap      Number           `json:"gap"` // mean of |coverage90 - 0.9| over them
	Table    []EntityCoverage `json:"table,omitempty"`
}

// An EntityCoverage is one entity's.
type EntityCoverage struct {
	Entity   int32  `json:"-"`  // its code
	ID       string `json:"id"` // for who knows it by code; a tally does not
	N        int    `json:"n"`
	Coverage Number `json:"coverage90"`
}

// A SeenCoverage is that of rows by number of training observations.
type SeenCoverage struct {
	Name     string `json:"name"`
	N        int    `json:"n"`
	Coverage Number `json:"coverage90"`
}

func modeCoverage(mode string, entities []coverage) ModeCoverage {
	m := ModeCoverage{Mode: mode}
	sum := 0.0
	for code, c := range entities {
		if c.n < LeastGroup {
			continue
		}
		m.Table = append(m.Table, EntityCoverage{Entity: int32(code), N: c.n, Coverage: Number(c.share())})
		sum += math.Abs(c.share() - Levels[0])
	}
	m.Entities = len(m.Table)
	m.Gap = Number(sum / float64(m.Entities))
	return m
}
