package serve

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/kernel-fried-tensor/kft"
)

// Updates says what becomes of rows that clients send to /update.
type Updates string

const (
	NoUpdates     Updates = ""       // there is no such route
	UpdatesMemory Updates = "memory" // the served model takes them in, until its file changes or the server ends
	UpdatesFile   Updates = "file"   // the model file is written as well
)

const updateFields = "model, rows, remove, late"

// updating is what a slot keeps to take in rows. The mutex of the slot guards it.
type updating struct {
	updater *kft.Updater
	of      *loadedModel // the model that the updater continues
}

// update answers POST /update: rows that the served model takes in or out.
func (s *Server) update(w http.ResponseWriter, r *http.Request) error {
	b, err := s.newBody(r)
	if err != nil {
		return err
	}
	var name string
	var late bool
	rows := map[string][]kft.UpdateRow{}
	err = b.object("", func(key string) (err error) {
		switch key {
		case "model":
			name, err = b.text(key)
		case "late":
			late, err = b.boolean(key)
		case "rows", "remove":
			var cells []kft.Cell
			var values []float64
			cells, values, err = b.observed(key)
			for i, cell := range cells {
				rows[key] = append(rows[key], kft.UpdateRow{Cell: cell, Value: values[i]})
			}
		default:
			err = unknown(key, updateFields)
		}
		return err
	})
	if err := b.finish(err, len(rows) > 0, "rows"); err != nil {
		return err
	}
	slot, err := s.slot(name, "model")
	if err != nil {
		return err
	}
	slot.mutex.Lock()
	defer slot.mutex.Unlock()
	answer, err := s.take(r, slot, rows, late)
	if err != nil {
		slot.updating = updating{} // rows may be half taken in
		return err
	}
	return writeValue(w, answer)
}

// take takes rows into the model of a slot and serves the result.
func (s *Server) take(r *http.Request, slot *modelSlot, rows map[string][]kft.UpdateRow, late bool) (map[string]any, error) {
	current := slot.current.Load()
	if slot.updating.of != current {
		u, err := current.NewUpdater(1)
		if err != nil {
			return nil, updateProblem(err, "model")
		}
		slot.updating = updating{u, current}
	}
	u := slot.updating.updater
	answer := map[string]any{"model": slot.file.Name}
	for _, step := range []struct {
		field string
		opt   kft.UpdateOptions
	}{{"remove", kft.UpdateOptions{Remove: true}}, {"rows", kft.UpdateOptions{Late: late || len(rows["remove"]) > 0}}} {
		if len(rows[step.field]) == 0 {
			continue
		}
		for i, row := range rows[step.field] {
			cell, err := current.CellFromColumns(row.Cell)
			if err != nil {
				return nil, problemf(invalidValue, fmt.Sprintf("%s[%d]", step.field, i), "%s", err.Error())
			}
			rows[step.field][i].Cell = cell
		}
		report, err := u.Take(r.Context(), rows[step.field], step.opt)
		if err != nil {
			return nil, updateProblem(err, step.field)
		}
		answer[step.field] = report
	}
	m, err := u.Model()
	if err != nil {
		return nil, updateProblem(err, "rows")
	}
	version := fmt.Sprintf("%s+%d", slot.tried.version, slot.updates.Add(1))
	if s.opt.Updates == UpdatesFile {
		if err := m.Save(slot.file.Path); err != nil {
			return nil, err
		}
		at, err := stampOf(slot.file.Path)
		if err != nil {
			return nil, err
		}
		slot.tried, version = at, at.version // it need not be loaded
	}
	next := s.newLoaded(m, slot.file, version)
	slot.current.Store(next)
	slot.updating.of = next
	answer["version"] = version
	s.log.Info("updated", "model", slot.file.Name, "version", version, "rows", len(rows["rows"]), "removed", len(rows["remove"]))
	return answer, nil
}

// updateProblem turns an error of an update into a problem.
func updateProblem(err error, field string) error {
	var row *kft.UpdateRowError
	var not *kft.NotUpdatableError
	switch {
	case errors.As(err, &row):
		at := fmt.Sprintf("%s[%d]", field, row.Row-1)
		if row.Late {
			return problemf(invalidValue, at, "%s; set late to true to take them in", row.Error())
		}
		return problemf(invalidValue, at, "%s", row.Error())
	case errors.As(err, &not):
		return problemf(notAvailable, field, "%s", not.Error())
	}
	return asProblem(err, field)
}
