package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/kernel-fried-tensor/kft"
)

// The Open Inference Protocol V2 over REST. The inputs of a model are one tensor of ids
// per mode, of type BYTES or an integer type; the outputs are mean, median, sd, the
// quantiles and unseen. The levels of the quantiles are a parameter of the request.

type inferenceTensor struct {
	Name       string                     `json:"name"`
	Shape      []int                      `json:"shape"`
	Datatype   string                     `json:"datatype"`
	Parameters map[string]json.RawMessage `json:"parameters,omitempty"`
	Data       json.RawMessage            `json:"data,omitempty"`
}

type inferenceRequest struct {
	ID         string                     `json:"id"`
	Parameters map[string]json.RawMessage `json:"parameters"`
	Inputs     []inferenceTensor          `json:"inputs"`
	Outputs    []struct {
		Name       string                     `json:"name"`
		Parameters map[string]json.RawMessage `json:"parameters"`
	} `json:"outputs"`
}

type inferenceOutput struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
	Data     any    `json:"data"`
}

type inferenceResponse struct {
	Model   string            `json:"model_name"`
	Version string            `json:"model_version"`
	ID      string            `json:"id,omitempty"`
	Outputs []inferenceOutput `json:"outputs"`
}

// writeInference writes an error as the protocol wants it, with code and field beside it.
func (p *problem) writeInference(w http.ResponseWriter) {
	text, err := json.Marshal(struct {
		Error string `json:"error"`
		Code  code   `json:"code"`
		Field string `json:"field,omitempty"`
	}{p.Message, p.Code, p.Field})
	if err != nil {
		panic(err) // texts only
	}
	writeJSON(w, statusOf[p.Code], append(text, '\n'))
}

func (s *Server) inferenceServer(w http.ResponseWriter, _ *http.Request) error {
	return writeValue(w, map[string]any{"name": "kft", "version": kft.Version(), "extensions": []string{}})
}

func (s *Server) inferenceLive(w http.ResponseWriter, _ *http.Request) error {
	return writeValue(w, map[string]bool{"live": true})
}

func (s *Server) inferenceReady(w http.ResponseWriter, _ *http.Request) error {
	status := http.StatusOK
	if s.draining.Load() {
		status = http.StatusServiceUnavailable
	}
	writeJSON(w, status, fmt.Appendf(nil, "{\"ready\":%v}\n", status == http.StatusOK))
	return nil
}

// inferenceSlot returns the model of the path. A version, if there is one, must be the current
// one.
func (s *Server) inferenceSlot(r *http.Request) (*modelSlot, *loadedModel, error) {
	slot, err := s.slot(r.PathValue("model"), "model")
	if err != nil {
		return nil, nil, err
	}
	m := slot.current.Load()
	if v := r.PathValue("version"); v != "" && v != m.version {
		return nil, nil, problemf(unknownModel, "version", "model %s has the version %s, not %q", m.name, m.version, v)
	}
	return slot, m, nil
}

func (s *Server) inferenceModelReady(w http.ResponseWriter, r *http.Request) error {
	_, m, err := s.inferenceSlot(r)
	if err != nil {
		return err
	}
	return writeValue(w, map[string]any{"name": m.name, "ready": true})
}

func (s *Server) inferenceModel(w http.ResponseWriter, r *http.Request) error {
	_, m, err := s.inferenceSlot(r)
	if err != nil {
		return err
	}
	type tensor struct {
		Name     string `json:"name"`
		Datatype string `json:"datatype"`
		Shape    []int  `json:"shape"`
	}
	var inputs, outputs []tensor
	for _, name := range m.names {
		inputs = append(inputs, tensor{name, "BYTES", []int{-1}})
	}
	for _, name := range inferenceOutputs {
		t := tensor{name, "FP64", []int{-1}}
		switch name {
		case "quantiles":
			t.Shape = []int{-1, -1}
		case "unseen":
			t.Datatype = "BYTES"
		}
		outputs = append(outputs, t)
	}
	return writeValue(w, map[string]any{"name": m.name, "versions": []string{m.version}, "platform": "kft", "inputs": inputs, "outputs": outputs})
}

var inferenceOutputs = []string{"mean", "median", "sd", "quantiles", "unseen"}

// infer answers POST /v2/models/{model}/infer.
func (s *Server) infer(w http.ResponseWriter, r *http.Request) error {
	if _, err := contentType(r, jsonType); err != nil {
		return err
	}
	slot, m, err := s.inferenceSlot(r)
	if err != nil {
		return err
	}
	var q inferenceRequest
	decoder := json.NewDecoder(r.Body)
	if err := decoder.Decode(&q); err != nil {
		return (&bodyReader{Decoder: decoder}).syntax(err)
	}
	levels, strict, err := inferenceParameters(q.Parameters)
	if err != nil {
		return err
	}
	cells, err := s.inferenceCells(q.Inputs, m)
	if err != nil {
		return err
	}
	wanted := inferenceOutputs
	if len(q.Outputs) > 0 {
		wanted = nil
		for i, o := range q.Outputs {
			if !slices.Contains(inferenceOutputs, o.Name) {
				return problemf(unknownField, fmt.Sprintf("outputs[%d].name", i), "there is no output %q; the outputs are %s", o.Name, strings.Join(inferenceOutputs, ", "))
			}
			wanted = append(wanted, o.Name)
		}
	}
	predictions, err := m.predictCells(r.Context(), cells, levels, strict)
	if err != nil {
		return err
	}
	slot.count(predictions)
	response := inferenceResponse{Model: m.name, Version: m.version, ID: q.ID}
	for _, name := range wanted {
		response.Outputs = append(response.Outputs, inferenceColumn(name, predictions, levels))
	}
	return writeValue(w, response)
}

// inferenceColumn returns one output of all predictions.
func inferenceColumn(name string, predictions []kft.Prediction, levels []float64) inferenceOutput {
	n := len(predictions)
	if name == "unseen" {
		texts := make([]string, n)
		for i := range predictions {
			texts[i] = strings.Join(predictions[i].Unseen, "+")
		}
		return inferenceOutput{name, "BYTES", []int{n}, texts}
	}
	var values []float64
	for i := range predictions {
		p := &predictions[i]
		switch name {
		case "mean":
			values = append(values, finite(p.Mean))
		case "median":
			values = append(values, finite(p.Median))
		case "sd":
			values = append(values, finite(p.SD))
		case "quantiles":
			d := p.Distribution()
			for _, level := range levels {
				values = append(values, finite(d.Quantile(level)))
			}
		}
	}
	shape := []int{n}
	if name == "quantiles" {
		shape = []int{n, len(levels)}
	}
	return inferenceOutput{name, "FP64", shape, append([]float64{}, values...)}
}

// inferenceParameters reads the parameters quantiles, a list or a text, and strict.
func inferenceParameters(parameters map[string]json.RawMessage) (levels []float64, strict bool, err error) {
	levels = []float64{0.05, 0.95}
	if raw, given := parameters["quantiles"]; given {
		var text string
		switch {
		case json.Unmarshal(raw, &text) == nil:
			levels, err = parseLevels(text, levels)
		case json.Unmarshal(raw, &levels) != nil || len(levels) > maxLevels:
			err = problemf(invalidValue, "parameters.quantiles", "quantiles are a list of at most %d levels, or a text such as .05,.95", maxLevels)
		}
	}
	if raw, given := parameters["strict"]; given && json.Unmarshal(raw, &strict) != nil {
		err = problemf(invalidValue, "parameters.strict", "strict is true or false")
	}
	return levels, strict, err
}

// inferenceCells turns tensors of ids into cells.
func (s *Server) inferenceCells(inputs []inferenceTensor, m *loadedModel) ([]kft.Cell, error) {
	var cells []kft.Cell
	for i, t := range inputs {
		field := fmt.Sprintf("inputs[%d]", i)
		n := 1
		for _, size := range t.Shape {
			if size < 0 || size > s.opt.Limits.Cells || n*max(size, 1) > s.opt.Limits.Cells {
				return nil, problemf(tooManyCells, field+".shape", "a request may have %d cells; send several requests, or an Arrow stream", s.opt.Limits.Cells)
			}
			n *= size
		}
		ids, err := inferenceIDs(t, field)
		if err != nil {
			return nil, err
		}
		if len(ids) != n {
			return nil, problemf(invalidValue, field+".data", "the tensor has %d elements, and its shape %d", len(ids), n)
		}
		if i == 0 {
			cells = make([]kft.Cell, n)
			for c := range cells {
				cells[c] = make(kft.Cell, len(inputs))
			}
		}
		if n != len(cells) {
			return nil, problemf(invalidValue, field+".shape", "the tensors have different sizes: %d and %d", len(cells), n)
		}
		for c, id := range ids {
			if _, twice := cells[c][t.Name]; twice {
				return nil, problemf(invalidValue, field+".name", "there are two tensors %q", t.Name)
			}
			cells[c][t.Name] = id
		}
	}
	if len(inputs) == 0 {
		return nil, problemf(missingField, "inputs", "the request has no inputs; the model has one tensor of ids for each of %s", strings.Join(m.names, ", "))
	}
	return cells, nil
}

// inferenceIDs returns the ids of a tensor. The data may be nested as the shape is.
func inferenceIDs(t inferenceTensor, field string) ([]string, error) {
	if len(t.Data) == 0 {
		return nil, problemf(missingField, field+".data", "the tensor %q has no data", t.Name)
	}
	decoder := json.NewDecoder(strings.NewReader(string(t.Data)))
	decoder.UseNumber()
	var ids []string
	for {
		token, err := decoder.Token()
		if err != nil {
			return ids, nil // the end: the text was valid JSON
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' {
				return nil, problemf(invalidValue, field+".data", "the data of the tensor %q contains an object", t.Name)
			}
		case string:
			if t.Datatype != "BYTES" {
				return nil, problemf(invalidValue, field+".data", "the tensor %q of type %s contains the text %q", t.Name, t.Datatype, v)
			}
			ids = append(ids, v)
		case json.Number:
			if _, err := strconv.ParseInt(v.String(), 10, 64); err != nil || !slices.Contains(integerTypes, t.Datatype) {
				return nil, problemf(invalidValue, field+".data", "the tensor %q of type %s contains %s; ids are BYTES or integers", t.Name, t.Datatype, v)
			}
			ids = append(ids, v.String())
		default:
			return nil, problemf(invalidValue, field+".data", "the tensor %q contains %v; ids are BYTES or integers", t.Name, v)
		}
	}
}

var integerTypes = []string{"UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64"}
