package serve

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/kernel-fried-tensor/kft"
)

// predictRequest is the body of POST /predict.
type predictRequest struct {
	model     string
	cells     []kft.Cell
	levels    []float64
	strict    bool
	histogram bool
	reasons   bool
}

const predictFields = "model, cells, quantiles, strict, histogram, reasons"

func (b *bodyReader) predictRequest() (q predictRequest, err error) {
	q.levels = []float64{0.05, 0.95}
	given := false
	err = b.object("", func(key string) (err error) {
		switch key {
		case "model":
			q.model, err = b.text(key)
		case "cells":
			given = true
			q.cells, err = b.cells()
		case "quantiles":
			q.levels, err = b.levels(key)
		case "strict":
			q.strict, err = b.boolean(key)
		case "histogram":
			q.histogram, err = b.boolean(key)
		case "reasons":
			q.reasons, err = b.boolean(key)
		default:
			err = unknown(key, predictFields)
		}
		return err
	})
	return q, b.finish(err, given, "cells")
}

// predict answers POST /predict: JSON, or an Arrow stream.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) error {
	media, err := contentType(r, jsonType, arrowType)
	if err != nil {
		return err
	}
	if media == arrowType {
		return s.predictArrow(w, r)
	}
	b, err := s.newBody(r)
	if err != nil {
		return err
	}
	q, err := b.predictRequest()
	if err != nil {
		return err
	}
	slot, err := s.slot(q.model, "model")
	if err != nil {
		return err
	}
	m := slot.current.Load()
	predictions, err := m.predictCells(r.Context(), q.cells, q.levels, q.strict)
	if err != nil {
		return err
	}
	var reasons []any
	if q.reasons {
		if reasons, err = m.reasons(r.Context(), q.cells); err != nil {
			return err
		}
	}
	slot.count(predictions)
	buffer := responses.Get().(*[]byte)
	defer responses.Put(buffer)
	text := append((*buffer)[:0], m.levels...)
	text = append(text, `"predictions":[`...)
	for i := range predictions {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendPrediction(text, &predictions[i], q.levels)
		if q.histogram {
			text = appendHistogram(text, &predictions[i])
		}
		if q.reasons {
			if text, err = appendValue(append(text, `,"reasons":`...), reasons[i]); err != nil {
				return err
			}
		}
		text = append(text, '}')
	}
	text = append(text, ']')
	if warnings := m.periodWarnings(q.cells, predictions); len(warnings) > 0 {
		text = appendList(append(text, `,"warnings":`...), warnings, appendText)
	}
	text = append(text, "}\n"...)
	writeJSON(w, http.StatusOK, text)
	if cap(text) <= maxKept {
		*buffer = text
	}
	return nil
}

// maxWarnings limits the warnings of a response.
const maxWarnings = 5

// periodWarnings says which cells have a period that the model cannot read, such as a date
// in another format.
func (m *loadedModel) periodWarnings(cells []kft.Cell, predictions []kft.Prediction) []string {
	var warnings []string
	for i := range predictions {
		if p := &predictions[i]; len(p.Unseen)+len(p.FromSide) == 0 || len(warnings) == maxWarnings {
			continue
		}
		if text := m.PeriodProblem(cells[i]); text != "" && !slices.Contains(warnings, text) {
			warnings = append(warnings, text)
		}
	}
	return warnings
}

// responses keeps buffers for responses, up to a size.
var responses = sync.Pool{New: func() any { return new([]byte) }}

const maxKept = 1 << 16

// predictCells predicts cells, which may be given by columns of the modes.
func (m *loadedModel) predictCells(ctx context.Context, cells []kft.Cell, levels []float64, strict bool) ([]kft.Prediction, error) {
	if err := m.CheckQuantiles(levels); err != nil {
		return nil, err
	}
	if err := m.fromColumns(cells); err != nil {
		return nil, err
	}
	if strict {
		return m.PredictStrict(ctx, cells)
	}
	return m.Predict(ctx, cells)
}

// fromColumns replaces columns of modes by ids, as in year and month for time.
func (m *loadedModel) fromColumns(cells []kft.Cell) error {
	if !m.columns {
		return nil
	}
	for i, cell := range cells {
		whole, err := m.CellFromColumns(cell)
		if err != nil {
			return &problem{invalidValue, err.Error(), "cells[" + strconv.Itoa(i) + "]"}
		}
		cells[i] = whole
	}
	return nil
}

func (slot *modelSlot) count(predictions []kft.Prediction) {
	unseen := 0
	for i := range predictions {
		if len(predictions[i].Unseen) > 0 {
			unseen++
		}
	}
	slot.cells.Add(int64(len(predictions)))
	if unseen > 0 {
		slot.unseen.Add(int64(unseen))
	}
}

// appendPrediction appends a prediction as a JSON object without its closing brace.
func appendPrediction(text []byte, p *kft.Prediction, levels []float64) []byte {
	text = appendNumber(append(text, `{"mean":`...), p.Mean)
	text = appendNumber(append(text, `,"median":`...), p.Median)
	text = appendNumber(append(text, `,"sd":`...), p.SD)
	text = appendNumber(append(text, `,"sd_model":`...), p.SDModel)
	text = appendNumber(append(text, `,"sd_noise":`...), p.SDNoise)
	text = append(text, `,"quantiles":[`...)
	d := p.Distribution()
	var few [8]float64
	values := few[:]
	if len(levels) > len(few) {
		values = make([]float64, len(levels))
	}
	d.Quantiles(values[:len(levels)], levels)
	for i, level := range levels {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendNumber(append(text, `{"level":`...), level)
		text = appendNumber(append(text, `,"value":`...), values[i])
		text = append(text, '}')
	}
	text = appendList(append(text, `],"unseen":`...), p.Unseen, appendText)
	return appendList(append(text, `,"from_side":`...), p.FromSide, appendText)
}

// appendHistogram appends the probabilities of equal steps between extreme quantiles.
func appendHistogram(text []byte, p *kft.Prediction) []byte {
	edges, probabilities := histogramOf(p.Distribution())
	text = appendList(append(text, `,"histogram":{"edges":`...), edges, appendNumber)
	text = appendList(append(text, `,"probabilities":`...), probabilities, appendNumber)
	return append(text, '}')
}

// appendList appends a JSON list of values that one appends.
func appendList[T any](text []byte, values []T, one func([]byte, T) []byte) []byte {
	text = append(text, '[')
	for i, v := range values {
		if i > 0 {
			text = append(text, ',')
		}
		text = one(text, v)
	}
	return append(text, ']')
}

// appendNumber appends a number with at most 9 digits, which is more than float32 has.
func appendNumber(text []byte, v float64) []byte {
	return strconv.AppendFloat(text, finite(v), 'g', 9, 64)
}

// appendText appends a JSON text.
func appendText(text []byte, v string) []byte {
	const digits = "0123456789abcdef"
	text = append(text, '"')
	for _, r := range v {
		switch {
		case r == '"' || r == '\\':
			text = append(text, '\\', byte(r))
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029':
			text = append(text, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
		default:
			text = utf8.AppendRune(text, r)
		}
	}
	return append(text, '"')
}
