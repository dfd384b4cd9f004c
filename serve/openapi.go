package serve

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/kernel-fried-tensor/kft"
)

//go:embed openapi.json
var openAPIText []byte

// openAPI answers GET /openapi.json: the document without the paths that this server does
// not have, with examples of the first model.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	text, err := s.document()
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, text)
	return nil
}

func (s *Server) newDocument() func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		var document map[string]any
		if err := json.Unmarshal(openAPIText, &document); err != nil {
			return nil, err
		}
		info := document["info"].(map[string]any)
		info["version"] = kft.Version()
		paths := document["paths"].(map[string]any)
		if s.opt.Explain == nil {
			delete(paths, "/explain")
		}
		if s.opt.Updates == NoUpdates {
			delete(paths, "/update")
		}
		m := s.models[0].current.Load()
		cell := kft.Cell{}
		series := kft.Cell{}
		time, _ := m.periods()
		var tensors []any
		for i, name := range m.names {
			ids := m.idsOf(i)
			if len(ids) == 0 {
				continue
			}
			cell[name] = ids[len(ids)/2]
			if i != time {
				series[name] = cell[name]
			}
			tensors = append(tensors, map[string]any{"name": name, "shape": []int{1}, "datatype": "BYTES", "data": []string{cell[name]}})
		}
		cells := []kft.Cell{cell}
		for path, example := range map[string]any{
			"/predict":                 map[string]any{"model": m.name, "cells": cells, "quantiles": []float64{0.05, 0.5, 0.95}, "histogram": true},
			"/explain":                 map[string]any{"model": m.name, "cells": cells},
			"/forecast":                map[string]any{"model": m.name, "cell": series, "horizon": 6},
			"/outcomes":                map[string]any{"model": m.name, "outcomes": []any{map[string]any{"cell": cell, "value": 1}}},
			"/update":                  map[string]any{"model": m.name, "rows": []any{map[string]any{"cell": cell, "value": 1}}, "late": true},
			"/v2/models/{model}/infer": map[string]any{"id": "1", "inputs": tensors, "parameters": map[string]any{"quantiles": ".05,.95"}},
		} {
			if at, there := paths[path].(map[string]any); there {
				body := at["post"].(map[string]any)["requestBody"].(map[string]any)["content"].(map[string]any)[jsonType].(map[string]any)
				body["example"] = example
			}
		}
		return json.MarshalIndent(document, "", "  ")
	})
}
