package kft

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/tt"
)

// A Model is a fitted specification: everything needed to predict, and a
// record of what it was fitted to. It does not change, so goroutines may share
// it.
type Model struct {
	spec  Spec
	modes []dataset.Mode
	dicts []*dataset.Dict
	field *tt.Field
	scale model.Scale

	uncertain uncertainty
	transform calibrate.Transform
	seen      [][]int32 // by mode and code: training rows

	parts []dataset.Part
	about Training

	side     []*sideMode // by mode, nil without side information
	trained  [][]bool    // by mode and code: the id is in the training data
	informed []bool      // by mode: a core uses its side information
}

// Training records how a model came about. It is part of the model file, so
// nothing in it depends on the clock or on the machine.
type Training struct {
	DataHash string `json:"data_hash"` // SHA-256 of the text read
	Split    string `json:"split"`
	// Periods of the parts of a split by time: {"test": "2016-10 to 2016-12", ...}.
	Periods  map[string]string `json:"periods,omitempty"`
	Seed     uint64            `json:"seed"`
	Rows     dataset.Counts    `json:"rows"`
	Train    Score             `json:"train"`
	Valid    Score             `json:"valid"`
	Test     Score             `json:"test"`
	Baseline []BaselineScores  `json:"baseline"`
	Ridge    fit.Ridge         `json:"ridge"`
	Stop     fit.Stop          `json:"stop"`
	Best     int               `json:"best_sweep"`
	History  []fit.Point       `json:"history"`
	Side     []SideReport      `json:"side,omitempty"`
	Choices  []Choice          `json:"choices,omitempty"` // where a scale or likelihood was left open
	Warnings []string          `json:"warnings"`
}

// BaselineScores are the scores of a formula, see package baseline.
type BaselineScores struct {
	Name  string `json:"name"`
	Train Score  `json:"train"`
	Valid Score  `json:"valid"`
	Test  Score  `json:"test"`
}

// Spec returns the full specification the model was fitted by.
func (m *Model) Spec() Spec { return m.spec }

// Training returns the record of the fit.
func (m *Model) Training() Training { return m.about }

// Modes returns the modes in order.
func (m *Model) Modes() []dataset.Mode { return m.modes }

// IDs returns the ids of a mode that are in the fitted table. The model may know
// others by their side rows.
func (m *Model) IDs(mode int) []string {
	ids := m.dicts[mode].IDs()
	for _, s := range m.about.Side {
		if s.Mode == m.modes[mode].Name {
			return ids[:min(len(ids), s.Table.Entities)]
		}
	}
	return ids
}

// Weights returns the number of weights.
func (m *Model) Weights() int { return m.field.Weights() }

// Terms describes each term: its cores with their shapes.
func (m *Model) Terms() []TermInfo {
	var terms []TermInfo
	for _, t := range m.field.Terms {
		info := TermInfo{Name: t.Name()}
		for _, c := range t.Cores {
			info.Cores = append(info.Cores, CoreInfo{Name: c.Name(), Variant: string(c.Variant), Entities: c.Slices.N - 1, Left: c.Slices.Left, Right: c.Slices.Right})
		}
		terms = append(terms, info)
	}
	return terms
}

// TermInfo describes a term of a model.
type TermInfo struct {
	Name  string     `json:"name"`
	Cores []CoreInfo `json:"cores"`
}

// CoreInfo describes a core: a Left x Right matrix for each entity.
type CoreInfo struct {
	Name     string `json:"name"`
	Variant  string `json:"variant"`
	Entities int    `json:"entities"`
	Left     int    `json:"left"`
	Right    int    `json:"right"`
}

func hashText(h [32]byte) string { return hex.EncodeToString(h[:]) }

func hashParts(parts []dataset.Part) string {
	text := make([]byte, len(parts))
	for i, p := range parts {
		text[i] = byte(p)
	}
	return hashText(sha256.Sum256(text))
}
