package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/kernel-fried-tensor/kft"
)

// reasons returns why cells are predicted as they are.
func (m *loadedModel) reasons(ctx context.Context, cells []kft.Cell, changes ...string) ([]any, error) {
	if m.explainer == nil {
		return nil, problemf(notAvailable, "", "this server gives no reasons")
	}
	x, err := m.explainer()
	if err != nil {
		return nil, err
	}
	reasons, err := x.Explain(ctx, cells, changes)
	if err == nil && len(reasons) != len(cells) {
		err = fmt.Errorf("%d explanations of %d cells", len(reasons), len(cells))
	}
	return reasons, err
}

// explain answers POST /explain.
func (s *Server) explain(w http.ResponseWriter, r *http.Request) error {
	if s.opt.Explain == nil {
		return problemf(notAvailable, "", "this server gives no reasons")
	}
	b, err := s.newBody(r)
	if err != nil {
		return err
	}
	var name string
	var cells []kft.Cell
	var changes []string
	given := false
	err = b.object("", func(key string) (err error) {
		switch key {
		case "model":
			name, err = b.text(key)
		case "cells":
			given = true
			b.limit = min(b.limit, maxExplained)
			cells, err = b.cells()
		case "what_if":
			err = b.list(key, func(i int) error {
				text, err := b.text(fmt.Sprintf("what_if[%d]", i))
				changes = append(changes, text)
				return err
			})
		default:
			err = unknown(key, "model, cells, what_if")
		}
		return err
	})
	if err := b.finish(err, given, "cells"); err != nil {
		return err
	}
	slot, err := s.slot(name, "model")
	if err != nil {
		return err
	}
	m := slot.current.Load()
	if err := m.fromColumns(cells); err != nil {
		return err
	}
	reasons, err := m.reasons(r.Context(), cells, changes...)
	if err != nil {
		return userError(err, "what_if")
	}
	return writeValue(w, map[string]any{"model": m.name, "version": m.version, "explanations": reasons})
}

// maxExplained limits the cells of POST /explain: an explanation costs many predictions.
const maxExplained = 1000

// userError turns an error without a code, which the request caused, into a problem of a
// field.
func userError(err error, field string) error {
	if isKnown(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &problem{invalidValue, err.Error(), field}
}
