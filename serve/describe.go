package serve

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// A modelReport describes a model that is served.
type modelReport struct {
	Model   string       `json:"model"`
	Version string       `json:"version"`
	Loaded  time.Time    `json:"loaded"`
	Target  string       `json:"target"`
	Modes   []modeReport `json:"modes"`
	// Measures are the columns of weight and exposure that a cell may also have.
	Measures []string `json:"measures"`
	Time     string   `json:"time"`      // mode whose ids are periods, "" if there is none
	Periods  int      `json:"periods"`   // number of its ids
	Rows     int      `json:"rows"`      // of the fitted table
	Explains bool     `json:"explains"`  // POST /explain exists
	Forecast bool     `json:"forecasts"` // POST /forecast exists
	History  bool     `json:"history"`   // the history of cells is known
	Updates  bool     `json:"updates"`   // POST /update takes rows into the model
	// LoadError is why the file could not be loaded again; the model before is served.
	LoadError string `json:"load_error,omitempty"`
}

// A modeReport describes a mode.
type modeReport struct {
	Mode    string   `json:"mode"`
	Columns []string `json:"columns"`
	IDs     int      `json:"ids"`
	Example string   `json:"example"`
	Side    []string `json:"side"` // columns of its side table, which /explain can change
}

func (s *Server) report(slot *modelSlot) modelReport {
	m := slot.current.Load()
	spec := m.Spec()
	r := modelReport{Model: m.name, Version: m.version, Loaded: m.loaded.UTC(), Target: spec.Data.Target, Modes: []modeReport{}, Measures: []string{},
		Rows: m.Record().Rows.Rows, Explains: m.explainer != nil, History: m.history != nil,
		Updates: s.opt.Updates != NoUpdates && m.CheckUpdate() == nil}
	if at, ids := m.periods(); at >= 0 {
		_, _, err := m.FuturePeriods(1)
		r.Time, r.Periods, r.Forecast = m.names[at], len(ids), err == nil
	}
	tables := map[string]bool{} // modes with a side table, not only columns that follow from their ids
	for _, text := range spec.Side.Tables {
		if t, err := sideinfo.ParseSpec(text); err == nil && !t.FromIDs() {
			tables[t.Mode] = true
		}
	}
	for i, mode := range m.modes {
		ids := m.idsOf(i)
		report := modeReport{Mode: mode.Name, Columns: mode.Columns, IDs: len(ids), Side: []string{}}
		if len(ids) > 0 {
			report.Example = ids[len(ids)/2]
		}
		for _, side := range m.Record().Side {
			if side.Mode != mode.Name || !tables[side.Mode] {
				continue
			}
			for _, column := range side.Table.Columns {
				if !strings.HasPrefix(column.Name, "@") {
					report.Side = append(report.Side, column.Name)
				}
			}
		}
		r.Modes = append(r.Modes, report)
	}
	for _, column := range []string{spec.Data.Weight, spec.Data.Exposure} {
		if column != "" {
			r.Measures = append(r.Measures, column)
		}
	}
	slot.mutex.Lock()
	defer slot.mutex.Unlock()
	r.LoadError = slot.lastError
	return r
}

// listModels answers GET /models.
func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) error {
	reports := []modelReport{}
	for _, slot := range s.models {
		reports = append(reports, s.report(slot))
	}
	return writeValue(w, map[string]any{"models": reports})
}

// describeModel answers GET /models/{model}.
func (s *Server) describeModel(w http.ResponseWriter, r *http.Request) error {
	slot, err := s.slot(r.PathValue("model"), "model")
	if err != nil {
		return err
	}
	return writeValue(w, s.report(slot))
}

const maxListed = 1000

// listIDs answers GET /models/{model}/ids?mode=store&search=21&limit=20: ids that start
// with the text, then those that contain it.
func (s *Server) listIDs(w http.ResponseWriter, r *http.Request) error {
	slot, err := s.slot(r.PathValue("model"), "model")
	if err != nil {
		return err
	}
	m := slot.current.Load()
	q := r.URL.Query()
	mode := -1
	for i, name := range m.names {
		if name == q.Get("mode") {
			mode = i
		}
	}
	if mode < 0 {
		return problemf(unknownMode, "mode", "the model has no mode %q; its modes are %s", q.Get("mode"), strings.Join(m.names, ", "))
	}
	limit := 20
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxListed {
			return problemf(invalidValue, "limit", "%q is not a number from 1 to %d", text, maxListed)
		}
	}
	return writeValue(w, map[string]any{"mode": m.names[mode], "ids": matching(m.idsOf(mode), q.Get("search"), limit)})
}

// matching returns ids that start with a text, then those that contain it, whatever the
// case of letters.
func matching(ids []string, text string, limit int) []string {
	text = strings.ToLower(text)
	start, inside := []string{}, []string(nil)
	for _, id := range ids {
		lower := strings.ToLower(id)
		switch {
		case strings.HasPrefix(lower, text):
			if start = append(start, id); len(start) == limit {
				return start
			}
		case len(inside) < limit && strings.Contains(lower, text):
			inside = append(inside, id)
		}
	}
	return append(start, inside[:min(len(inside), limit-len(start))]...)
}
