package explain

import (
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// An Explanation says why the prediction of a cell is what it is.
type Explanation struct {
	Cell     model.Cell `json:"cell"`
	Unseen   []string   `json:"unseen,omitempty"`    // modes whose id is that of the average
	FromSide []string   `json:"from_side,omitempty"` // modes whose id has side information, but no training rows, and numbers beyond the range of the fit

	Outcome
	Actual *metrics.Number `json:"actual,omitempty"` // the value of the table, if it is given and has one
	Target string          `json:"target"`
	Scale  string          `json:"scale"` // of the level and of all contributions

	// Level is Offset plus the values of the terms, and also Average plus the values of
	// the parts.
	Level   float64 `json:"level"`
	Offset  float64 `json:"offset"`  // with the logarithm of the exposure of a count
	Average float64 `json:"average"` // the level of a cell of average ids
	Terms   []Term  `json:"terms"`
	Parts   []Part  `json:"parts"` // the largest first
	// Steps lead from the average to the prediction in units of the target.
	Steps []Step `json:"steps"`

	Neighbours []Neighbourhood `json:"neighbours,omitempty"`
	WhatIf     *WhatIf         `json:"what_if,omitempty"`

	modes   []string // in the order of the model
	numbers []string // the modes of numbers
}

// An Outcome is a predictive distribution in units of the target.
type Outcome struct {
	Prediction float64 `json:"prediction"` // the mean
	Median     float64 `json:"median"`
	SD         float64 `json:"sd"`
	Low        float64 `json:"low"` // the central 90 % interval
	High       float64 `json:"high"`
}

// A Term is what one term of the model, or the product of several, adds to the level:
// Value = Average + Own + Side.
type Term struct {
	Term    string  `json:"term"`
	Value   float64 `json:"value"`
	Average float64 `json:"average"`
	Own     float64 `json:"own"`  // by the own weights of the ids
	Side    float64 `json:"side"` // by their side information
}

// Sources of a part.
const (
	Own  = "own weights"
	Side = "side information"

	Value = "value" // of a covariate, whose own weights and kernel are one curve
)

// A Part is what one source adds to the level, over all terms.
type Part struct {
	Mode   string  `json:"mode"`
	ID     string  `json:"id"`
	Source string  `json:"source"` // Own, Side or Value
	Value  float64 `json:"value"`
}

// A Step of a waterfall leads from one value to the next. The steps of single parts
// depend on their order, unless the scale is linear.
type Step struct {
	Label string         `json:"label"`
	From  metrics.Number `json:"from"`
	To    metrics.Number `json:"to"`
}

// WhatIf is the prediction with other side information. The own weights of the ids, and
// the uncertainty of the field, stay those of the cell.
type WhatIf struct {
	Changes []Changed `json:"changes"`
	Outcome
	Level float64 `json:"level"`
}

// finite reports whether all contributions are finite: those of weights that cancel in the
// prediction may not be.
func (e *Explanation) finite() bool {
	sum := e.Level + e.Offset + e.Average
	for _, t := range e.Terms {
		sum += math.Abs(t.Value) + math.Abs(t.Average) + math.Abs(t.Own) + math.Abs(t.Side)
	}
	for _, p := range e.Parts {
		sum += math.Abs(p.Value)
	}
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}

// add adds a term to the level.
func (e *Explanation) add(t Term) {
	e.Level += t.Value
	e.Average += t.Average
	e.Terms = append(e.Terms, t)
}

// idOf returns the id of a mode. A cell does not name those that are computed.
func (e *Explanation) idOf(m *model.Model, mode int, codes [][]int32) string {
	name := m.Modes()[mode].Name
	if code := entity.CodeOf(codes[mode][0]); e.Cell[name] == "" && code >= 0 {
		return m.Dicts()[mode].ID(code)
	}
	return e.Cell[name]
}

// Label names the source of a part, as in "item A0001, side information".
func (p Part) Label() string { return fmt.Sprintf("%s %s, %s", p.Mode, p.ID, p.Source) }
