// Package celltext parses cells of the command line, such as store=2106,item=11776.
package celltext

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft"
	"github.com/kernel-fried-tensor/kft/internal/suggest"
)

// An Error reports a cell that is written in a wrong way.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

func errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Parse parses store=2106,item=11776. A piece without = continues the id before it, which
// then contains a comma. where is the argument in messages.
func Parse(where, text string) (kft.Cell, error) {
	cell := kft.Cell{}
	last := ""
	for piece := range strings.SplitSeq(text, ",") {
		mode, id, ok := strings.Cut(piece, "=")
		mode = strings.TrimSpace(mode)
		switch _, again := cell[mode]; {
		case !ok && last == "":
			return nil, errorf("%s: %q is not a cell; write it as in store=2106,item=11776,time=2016-12", where, text)
		case !ok:
			cell[last] += "," + piece
			continue
		case again:
			return nil, errorf("%s: %q names %s twice", where, text, mode)
		}
		cell[mode] = id
		last = mode
	}
	return cell, nil
}

// ParseAll parses cells of a model, which may give the columns of modes.
func ParseAll(m *kft.Model, where string, texts []string) ([]kft.Cell, error) {
	cells := make([]kft.Cell, len(texts))
	for i, text := range texts {
		cell, err := Parse(where, text)
		if err != nil {
			return nil, err
		}
		if cells[i], err = m.CellFromColumns(cell); err != nil {
			return nil, errorf("%s %s: %v", where, text, err)
		}
	}
	return cells, nil
}

// Reword words an error about one of some cells, given their texts.
func Reword(m *kft.Model, where string, texts []string, err error) error {
	var unseen *kft.UnseenError
	var wrong *kft.CellError
	switch {
	case errors.As(err, &unseen):
		return fmt.Errorf("%s %s: mode %s: the id %q is not in the training data%s; leave out --strict to predict it by the prior",
			where, texts[unseen.Row-1], unseen.Mode, unseen.ID, NearID(m, unseen.Mode, unseen.ID))
	case errors.As(err, &wrong):
		return errorf("%s: %v", where, err)
	}
	return err
}

// NearID suggests the nearest id of a mode, "" for none.
func NearID(m *kft.Model, name, id string) string {
	for i, mode := range m.Modes() {
		if mode.Name == name {
			if same := suggest.Same(id, m.IDs(i)); same != "" && same != id {
				return fmt.Sprintf(" (did you mean %q?)", same)
			}
			near := suggest.Nearest(id, m.IDs(i))
			if near != id {
				return suggest.Hint(id, m.IDs(i))
			}
		}
	}
	return ""
}
