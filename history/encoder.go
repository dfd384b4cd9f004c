package history

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
)

// An Encoder looks up the covariates of rows to predict. It is safe for concurrent use.
type Encoder struct {
	modes   []dataset.Mode
	dicts   []*dataset.Dict // of the fit
	grids   []*covariate.Grid
	history *History
	format  dataset.NumberFormat
	target  int32 // code in the last mode, if that is the mode of several targets
}

// NewEncoder returns the encoder of a fitted model. h may be nil if no mode is computed
// from the training rows.
func NewEncoder(modes []dataset.Mode, dicts []*dataset.Dict, h *History, format dataset.NumberFormat) *Encoder {
	e := &Encoder{modes: modes, dicts: slices.Clone(dicts), history: h, format: format, target: unknown, grids: make([]*covariate.Grid, len(modes))}
	for i, mode := range modes {
		if mode.Numeric() {
			e.grids[i] = covariate.GridOf(dicts[i].IDs())
		}
	}
	return e
}

// ForTarget returns the encoder of rows of one of several targets, whose mode is the last.
func (e *Encoder) ForTarget(code int32) *Encoder {
	one := *e
	one.target = code
	return &one
}

// History returns the history of the training rows, nil without any.
func (e *Encoder) History() *History { return e.history }

// Columns returns the modes that are made of columns of a table. The others, which are
// computed, come after them.
func (e *Encoder) Columns() []dataset.Mode {
	n := len(e.modes)
	for n > 0 && (e.modes[n-1].Computed() || e.modes[n-1].Target()) {
		n--
	}
	return e.modes[:n]
}

// Within reports whether an id of a mode is a number between the fitted ones, or a point of such numbers.
func (e *Encoder) Within(mode int, id string) bool {
	if m := e.modes[mode]; m.Joint() {
		return m.Numbers(id) != nil && len(e.Beyond(mode, id)) == 0
	}
	if e.grids[mode] == nil {
		return false
	}
	v, ok := dataset.Number(id)
	return ok && e.grids[mode].Within(v)
}

// Beyond returns the modes whose number in a point is not between the fitted ones. A linear function takes the mean for one
// that is missing.
func (e *Encoder) Beyond(mode int, id string) []int {
	m := e.modes[mode]
	numbers := m.Numbers(id)
	if numbers == nil {
		return nil
	}
	var out []int
	for i, at := range m.Members(e.modes) {
		if missing := numbers[i] == dataset.MissingID || numbers[i] == dataset.NoRowID; !e.Within(at, numbers[i]) && !(m.Linear() && missing) {
			out = append(out, at)
		}
	}
	return out
}

// A ValueError reports a field of a numeric covariate that is not a number.
type ValueError struct {
	Row        int // from 0
	Mode, Text string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s=%s is not a finite number; correct it, or leave it empty if the value is missing", e.Mode, e.Text)
}

// unknown is the code of an id that the model does not contain.
const unknown = -1

// Encode looks up the covariates of rows, given the codes and ids of the modes that are
// columns of their table. It returns the codes of all modes and a function for their
// ids: of a covariate, those that the model uses.
func (e *Encoder) Encode(codes [][]int32, id func(mode, row int) string) ([][]int32, func(mode, row int) string, *ValueError) {
	if last := len(e.modes) - 1; last > 0 && e.modes[last].Target() { // there are no covariates
		codes = append(slices.Clone(codes[:last]), slices.Repeat([]int32{e.target}, len(codes[0])))
		return codes, func(mode, row int) string {
			if mode == last && e.target >= 0 {
				return e.dicts[last].ID(e.target)
			}
			return id(mode, row)
		}, nil
	}
	if !slices.ContainsFunc(e.modes, dataset.Mode.Covariate) {
		return codes, id, nil
	}
	given := codes
	codes = slices.Clone(codes[:len(e.Columns())])
	ids := make([][]string, len(e.modes))
	for at, mode := range e.modes {
		if !mode.Covariate() {
			continue
		}
		if mode.Computed() {
			codes = append(codes, slices.Repeat([]int32{unknown}, len(given[0])))
		} else {
			codes[at] = slices.Clone(codes[at]) // points need to know which numbers were given as bins
		}
		var members []int
		if mode.Joint() {
			members = mode.Members(e.modes)
		}
		numbers := make([]string, len(members))
		ids[at] = make([]string, len(codes[at]))
		for row, code := range codes[at] {
			if code >= 0 && int(code) < e.dicts[at].Len() {
				ids[at][row] = e.dicts[at].ID(code)
				continue
			}
			if code >= 0 && !mode.Smooth() { // rows after the fit added it
				ids[at][row] = id(at, row)
				continue
			}
			codes[at][row] = unknown
			text, ok := "", true
			if mode.Joint() {
				for i, other := range members {
					numbers[i] = ids[other][row]
					if known := given[other][row]; !e.modes[other].Computed() && (known < 0 || int(known) >= e.dicts[other].Len()) {
						v, _ := covariate.Value(id(other, row), e.format) // ids[other] is next to it
						numbers[i] = e.grids[other].Exact(v)
					}
				}
				text = mode.Point(numbers)
			} else {
				text, ok = e.idOf(at, func(other int) int32 { return given[other][row] }, func(other int) string { return id(other, row) })
			}
			if !ok {
				return nil, nil, &ValueError{row, mode.Name, id(at, row)}
			}
			ids[at][row] = text
			if known, ok := e.dicts[at].Code([]byte(text)); ok {
				codes[at][row] = known
			}
		}
	}
	return codes, func(mode, row int) string {
		if ids[mode] != nil {
			return ids[mode][row]
		}
		return id(mode, row)
	}, nil
}

// idOf returns the id of a row in covariate at. It is false if its field is not a number
// and has to be one.
func (e *Encoder) idOf(at int, code func(mode int) int32, field func(mode int) string) (string, bool) {
	mode := e.modes[at]
	if mode.Derived() {
		return e.grids[at].ID(e.history.Value(mode, code, field)), true
	}
	text := field(at)
	if mode.Numeric() {
		v, ok := covariate.Value(text, e.format)
		return e.grids[at].ID(v), ok
	}
	if dataset.Missing(text) {
		text = dataset.MissingID
	}
	return text, true
}

// EncodeTable gives the covariates of the table that the model was fitted to the codes
// that they had in the fit. source names the table in messages.
func (e *Encoder) EncodeTable(t *dataset.Table, source string) error {
	if err := covariate.Encode(t, source, e.format); err != nil {
		return err
	}
	if last := len(e.modes) - 1; e.modes[last].Target() {
		for m, codes := range t.Codes {
			for k, code := range codes {
				codes[k] = unknown
				if known, ok := e.dicts[m].Code([]byte(t.Dicts[m].ID(code))); ok {
					codes[k] = known
				}
			}
		}
		t.Modes, t.Dicts, t.Codes = e.modes, e.dicts, append(t.Codes, slices.Repeat([]int32{e.target}, t.Len()))
		return nil
	}
	for m := len(t.Modes); m < len(e.modes) && e.modes[m].Joint(); m++ {
		if err := covariate.AddPoints(t, e.modes[m]); err != nil {
			return err
		}
	}
	if e.history == nil {
		return nil
	}
	columns := e.history.Columns(t)
	for _, values := range columns {
		m := len(t.Modes)
		codes := make([]int32, len(values))
		for k, v := range values {
			codes[k] = e.grids[m].Code(e.dicts[m], v)
		}
		t.Modes, t.Dicts, t.Codes = append(t.Modes, e.modes[m]), append(t.Dicts, e.dicts[m]), append(t.Codes, codes)
	}
	return nil
}
