// Package model is the fitted model: predictions of cells and tables, joint samples,
// ids without training rows, and the encoding of a model in a file.
//
// A [Model] does not change after it was made. Methods that add something (noise,
// a conformal correction, side rows of new ids) return another model that shares
// everything else with the first, so goroutines may use a model at the same time.
package model

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/kernel-fried-tensor/kft/blend"
	"github.com/kernel-fried-tensor/kft/conformal"
	"github.com/kernel-fried-tensor/kft/copula"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/timeline"
	"github.com/kernel-fried-tensor/kft/heaping"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/panel"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/sidetable"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt"
	"github.com/kernel-fried-tensor/kft/tt/entity"
)

// A Model is a fitted specification: everything that predictions need, and a
// record of the fit.
type Model struct {
	spec  spec.Spec
	modes []dataset.Mode
	dicts []*dataset.Dict // by mode
	field *tt.Field
	scale targetscale.Scale
	parts []dataset.Part // by row of the fitted table
	held  tt.Moments     // see WithHeldOut
	side  []*Side        // by mode, nil without side information
	rows  [][]int32      // by mode and code: number of training rows
	seen  [][]float64    // by mode and code: mean target of the training rows; nil if it is not known

	groups     []*sideinfo.Groups   // by mode, nil without groups; nil if there are none
	series     *panel.Panel         // nil if the training rows are no series
	lines      []*timeline.Timeline // by mode, nil without series terms along it
	covariates *history.Encoder
	prefix     string // of the columns that are added to tables

	noise      Noise
	scores     *predictive.ScoreDistribution // of Student noise, nil for normal noise
	correction *conformal.Correction
	groupMode  int                   // mode of a correction by entity
	means      *predictive.MeanCurve // correction of means, nil for none
	copula     *copula.Copula        // what errors of forecasts have in common, nil for nothing
	heaping    *heaping.Table        // factors of values, nil for none
	blend      *blend.Table          // recent values that means of forecasts are mixed with, nil for none
	record     Record

	trained  [][]bool // by mode and code: the id has training rows
	grouped  [][]bool // by mode and code: the id belongs to a group with training data; nil for a mode without groups
	informed []bool   // by mode: a core uses its side information
	engines  *enginePool

	ledger *ledger.Ledger // nil for a model that cannot be updated
	fitted *Model         // without the rows of the ledger; nil if it has none
	cold   int            // mode of ledger.Cold, -1 for none; see outgrown

	described *atomic.Pointer[Model] // see describeUnknown; not shared with other models
}

// Contents are the parts of a model that are known when its field is built. The
// model keeps the slices and pointers, so the caller must not change them
// afterwards, except that a solver may change the weights of the field.
type Contents struct {
	Spec  spec.Spec
	Modes []dataset.Mode
	Dicts []*dataset.Dict // by mode
	Field *tt.Field
	Scale targetscale.Scale
	Parts []dataset.Part // by row of the fitted table
	Side  []*Side        // by mode, nil without side information
	Rows  [][]int32      // by mode and code: number of training rows
	Means [][]float64    // by mode and code: mean target of the training rows, 0 without any; nil if it is not known

	Groups  []*sideinfo.Groups // by mode, nil without groups; nil if there are none
	History *history.History   // of the training rows, if a mode is computed from them
	Series  *panel.Panel       // of the training rows; nil if they are no series
}

// Side is the side information of one mode.
type Side struct {
	Encoder  *sideinfo.Encoder
	Operator sideinfo.Operator
	Has      []bool // by code: the id has a row

	Table *sidetable.Table // the values of the rows; nil if they are not known
}

// New returns a model without noise and without a conformal correction. Add the
// noise by [Model.WithNoise] before predicting.
func New(c Contents) (*Model, error) {
	m := &Model{spec: c.Spec.Clone(), modes: c.Modes, dicts: c.Dicts, field: c.Field, scale: c.Scale, parts: c.Parts, side: c.Side, rows: c.Rows, seen: c.Means, groups: c.Groups, series: c.Series,
		described: new(atomic.Pointer[Model])}
	var err error
	if m.engines, err = newEnginePool(); err != nil {
		return nil, err
	}
	if err := m.findLines(); err != nil {
		return nil, err
	}
	m.covariates = history.NewEncoder(m.modes, m.dicts, c.History, m.numberFormat())
	m.findTrained()
	m.resolve()
	return m, nil
}

// resolve finds the modes that the specification names.
func (m *Model) resolve() {
	names := m.spec.ModeNames()
	m.groupMode = 0
	if mode := m.spec.Uncertainty.ConformalMode(); mode != "" {
		m.groupMode = slices.Index(names, mode)
	}
}

// copy returns a copy that can be changed before it is used.
func (m *Model) copy() *Model {
	changed := *m
	changed.described = new(atomic.Pointer[Model])
	return &changed
}

// WithNoise returns the model with the given noise.
func (m *Model) WithNoise(n Noise) *Model {
	changed := m.copy()
	changed.setNoise(n)
	return changed
}

func (m *Model) setNoise(n Noise) {
	m.noise, m.scores = n, nil
	if n.Student != nil {
		m.scores = predictive.NewStudentScores(n.Student.DF)
	}
}

// WithNoiseKind returns the model with another kind of noise in its specification, as in
// power or entity:item. The noise itself follows by [Model.WithNoise].
func (m *Model) WithNoiseKind(kind string) *Model {
	changed := m.copy()
	changed.spec.Uncertainty.Noise = kind
	changed.resolve()
	return changed
}

// WithCorrection returns the model with a conformal correction of the given kind
// (split, group:mean or group:MODE) in place of the one it has. A nil correction
// removes it, and the kind then specifies how scores for a new one are grouped.
func (m *Model) WithCorrection(kind string, c *conformal.Correction) (*Model, error) {
	changed := m.copy()
	changed.spec.Uncertainty.Conformal = kind
	if err := changed.spec.Validate(); err != nil {
		return nil, err
	}
	changed.correction = c
	changed.cold = -1
	if changed.ledger != nil {
		book := *changed.ledger
		book.Cold = ""
		changed.ledger = &book
	}
	changed.resolve()
	return changed, nil
}

// WithMeanCurve returns the model with a correction of its means, nil for none.
func (m *Model) WithMeanCurve(c *predictive.MeanCurve) *Model {
	changed := m.copy()
	changed.means = c
	return changed
}

// WithCopula returns the model with what the errors of forecasts have in common, nil for nothing.
func (m *Model) WithCopula(c *copula.Copula) *Model {
	changed := m.copy()
	changed.copula = c
	return changed
}

// Copula returns what the errors of forecasts have in common, nil for nothing.
func (m *Model) Copula() *copula.Copula { return m.copula }

// WithRecord returns the model with a record of its fit.
func (m *Model) WithRecord(r Record) *Model {
	changed := m.copy()
	changed.record = r.Clone()
	return changed
}

// Spec returns a copy of the full specification that the model was fitted with.
func (m *Model) Spec() spec.Spec { return m.spec.Clone() }

// Modes returns a copy of the modes, in order.
func (m *Model) Modes() []dataset.Mode {
	modes := slices.Clone(m.modes)
	for i := range modes {
		modes[i].Columns = slices.Clone(modes[i].Columns)
	}
	return modes
}

// Series returns the list of series, nil if the training rows are no series.
func (m *Model) Series() *panel.Panel { return m.series }

// Scale returns the scale of the target.
func (m *Model) Scale() targetscale.Scale { return m.scale }

// FittedRows returns the number of rows of the fitted table.
func (m *Model) FittedRows() int { return len(m.parts) }

// Part returns the part of the split that a row of the fitted table was in.
func (m *Model) Part(row int) dataset.Part { return m.parts[row] }

// Code returns the code of an id of a mode, and entity.Unknown for an id that the model
// does not contain.
func (m *Model) Code(mode int, id string) int32 {
	if code, known := m.dicts[mode].Code([]byte(id)); known {
		return code
	}
	if code, known := m.dicts[mode].Meant([]byte(id)); known {
		return code
	}
	return entity.Unknown
}

// Dicts returns a copy of the list of dictionaries, by mode.
func (m *Model) Dicts() []*dataset.Dict { return slices.Clone(m.dicts) }

// NewCombinations reports for each row whether a joint core has no training data
// for its combination of ids.
func (m *Model) NewCombinations(threads int, codes [][]int32) []bool {
	var numbers []string
	for mode := range m.modes {
		if !m.HasIDs(mode) {
			numbers = append(numbers, m.modes[mode].Name)
		}
	}
	return m.field.UnseenCombinations(threads, codes, numbers)
}

// HasIDs reports whether a mode has ids, which numbers, such as a price, are not: a curve predicts
// those without training rows from others.
func (m *Model) HasIDs(mode int) bool { return !m.modes[mode].Smooth() }

// Covariates returns the encoder of the covariates.
func (m *Model) Covariates() *history.Encoder { return m.covariates }

// Record returns a copy of the record of the fit.
func (m *Model) Record() Record { return m.record.Clone() }

// DecileEdges returns a copy of the edges of the bias by decile; see [Record].
func (m *Model) DecileEdges() []float64 { return slices.Clone(m.record.DecileEdges) }

// MeanCurve returns the correction of the means, nil if there is none.
func (m *Model) MeanCurve() *predictive.MeanCurve { return m.means }

// GroupMode returns the mode by whose entities the correction is grouped.
func (m *Model) GroupMode() int { return m.groupMode }

// Informed reports whether a core uses the side information of a mode.
func (m *Model) Informed(mode int) bool { return m.informed[mode] }

// IDs returns a copy of the ids of a mode that occur in the fitted table or in rows taken
// in since. The model may have weights for others, from their side rows.
func (m *Model) IDs(mode int) []string {
	if mode < 0 || mode >= len(m.modes) {
		panic(fmt.Sprintf("model: mode %d of a model with modes 0 to %d", mode, len(m.modes)-1))
	}
	ids := m.dicts[mode].IDs()
	fitted := len(ids)
	for _, s := range m.record.Side {
		if s.Mode == m.modes[mode].Name {
			fitted = min(fitted, s.Table.Entities)
		}
	}
	out := slices.Clone(ids[:fitted])
	for code := fitted; m.fitted != nil && code < len(ids); code++ {
		if m.TrainingRows(mode, int32(code)) > 0 { // taken in since
			out = append(out, ids[code])
		}
	}
	return out
}

// FittedCodes returns the number of codes of ids of the fitted table, which come first.
func (m *Model) FittedCodes(mode int) int { return len(m.rows[mode]) }

// FittedCode returns the code of an id of the fitted table, and entity.Unknown for
// another: the codes of other ids differ between batches.
func (m *Model) FittedCode(mode int, code int32) int32 {
	if code < 0 || int(code) >= len(m.rows[mode]) {
		return entity.Unknown
	}
	return code
}

// TrainingRows returns the number of training rows of a code.
func (m *Model) TrainingRows(mode int, code int32) int {
	if code < 0 || int(code) >= len(m.rows[mode]) {
		return 0
	}
	return int(m.rows[mode][code])
}

// Observed returns the mean target of the training rows of a code. It is false if there
// are none, or if the model file is of a version that does not have it.
func (m *Model) Observed(mode int, code int32) (float64, bool) {
	if m.seen == nil || m.TrainingRows(mode, code) == 0 {
		return 0, false
	}
	return m.seen[mode][code], true
}

// Field returns the field. It must not be modified.
func (m *Model) Field() *tt.Field { return m.field }

// SideOf returns the side information of a mode, nil if there is none. It must not be
// modified.
func (m *Model) SideOf(mode int) *Side { return m.side[mode] }

// GroupsOf returns the groups of the ids of a mode, nil if terms use none.
func (m *Model) GroupsOf(mode int) *sideinfo.Groups { return m.groupsOf(mode) }
