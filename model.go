package kft

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/fit"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
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
	parts []dataset.Part
	about Training

	trained [][]bool // by mode and code: the id is in the training data
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
	Warnings []string          `json:"warnings"`
}

// BaselineScores are the scores of a formula, see package baseline.
type BaselineScores struct {
	Name  string `json:"name"`
	Train Score  `json:"train"`
	Valid Score  `json:"valid"`
	Test  Score  `json:"test"`
}

// markTrained notes which ids the field has weights for. An id of a mode that no
// term uses needs none.
func (m *Model) markTrained() {
	m.trained = make([][]bool, len(m.modes))
	names := m.spec.ModeNames()
	for _, t := range m.field.Terms {
		for _, c := range t.Cores {
			width := len(c.Modes)
			for i, at := range model.Positions(c.Modes, names) {
				if m.trained[at] == nil {
					m.trained[at] = make([]bool, m.dicts[at].Len())
				}
				combos := c.Index.Combinations()
				for e := i; e < len(combos); e += width {
					m.trained[at][combos[e]] = true
				}
			}
		}
	}
}

// forgetUntrained sets the codes of ids that are not in the training data,
// though perhaps in other rows of the fitted table, to unknown.
func (m *Model) forgetUntrained(codes [][]int32) {
	for mode, trained := range m.trained {
		if trained == nil {
			continue
		}
		for i, c := range codes[mode] {
			if c >= 0 && !trained[c] {
				codes[mode][i] = tt.Unknown
			}
		}
	}
}

// tally measures predictions on the modelling scale of targets y with weights
// w, nil for 1. A missing target, NaN, is passed over; one outside the
// transform's domain is a *model.DomainError.
func (m *Model) tally(y, w, predicted []float32) (*model.Tally, error) {
	t := &model.Tally{}
	for i, z := range predicted {
		v := float64(y[i])
		if math.IsNaN(v) {
			continue
		}
		if err := model.CheckDomain(m.scale.Transform, y[i:i+1]); err != nil {
			var domain *model.DomainError
			if errors.As(err, &domain) {
				domain.Position = i
			}
			return nil, err
		}
		weight := 1.0
		if w != nil {
			weight = float64(w[i])
		}
		t.Add(v, weight, m.scale.Mean(z), m.scale.Median(z), m.scale.OnScale(v), m.scale.Level(z))
	}
	return t, nil
}

// Spec returns the full specification the model was fitted by.
func (m *Model) Spec() Spec { return m.spec }

// Training returns the record of the fit.
func (m *Model) Training() Training { return m.about }

// Modes returns the modes in order.
func (m *Model) Modes() []dataset.Mode { return m.modes }

// IDs returns the ids of a mode.
func (m *Model) IDs(mode int) []string { return m.dicts[mode].IDs() }

// Weights returns the number of weights.
func (m *Model) Weights() int { return m.field.Weights() }

// Terms describes each term: its cores with their shapes.
func (m *Model) Terms() []TermInfo {
	var terms []TermInfo
	for _, t := range m.field.Terms {
		info := TermInfo{Name: t.Name()}
		for _, c := range t.Cores {
			info.Cores = append(info.Cores, CoreInfo{Name: c.Name(), Entities: c.Slices.N - 1, Left: c.Slices.Left, Right: c.Slices.Right})
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
	Entities int    `json:"entities"`
	Left     int    `json:"left"`
	Right    int    `json:"right"`
}

// Save writes the model to one file, as a whole or not at all.
func (m *Model) Save(path string) error {
	f := &modelfile.File{Meta: map[string]string{"kind": "model"}}
	for key, v := range map[string]any{"spec": m.spec, "scale": m.scale, "training": m.about} {
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Errorf("kft: writing %s: %w", key, err)
		}
		f.Meta[key] = string(text)
	}
	for i, d := range m.dicts {
		f.Tensors = append(f.Tensors, modelfile.StringsTensor("ids/"+m.modes[i].Name, d.IDs())...)
	}
	for k, t := range m.field.Terms {
		for p, c := range t.Cores {
			s := c.Slices
			f.Tensors = append(f.Tensors,
				modelfile.Of(coreTensor(k, p, "entities"), c.Index.Combinations(), s.N-1, len(c.Modes)),
				modelfile.Of(coreTensor(k, p, "mean"), s.Mean, s.N, s.Left, s.Right))
		}
	}
	parts := make([]byte, len(m.parts))
	for i, p := range m.parts {
		parts[i] = byte(p)
	}
	f.Tensors = append(f.Tensors, modelfile.Of("split", parts, len(parts)))
	return modelfile.Write(path, f)
}

func coreTensor(term, core int, what string) string {
	return fmt.Sprintf("term/%d/core/%d/%s", term, core, what)
}

// Load reads a model that Save wrote.
func Load(path string) (*Model, error) {
	f, err := modelfile.Read(path)
	if err != nil {
		return nil, err
	}
	bad := func(err error) (*Model, error) {
		return nil, &modelfile.FormatError{File: path, Problem: err.Error()}
	}
	if f.Meta["kind"] != "model" {
		return bad(fmt.Errorf("it holds a %s, not a model", f.Meta["kind"]))
	}
	m := &Model{}
	for key, v := range map[string]any{"spec": &m.spec, "scale": &m.scale, "training": &m.about} {
		if err := json.Unmarshal([]byte(f.Meta[key]), v); err != nil {
			return bad(fmt.Errorf("its %s cannot be read: %w", key, err))
		}
	}
	var sizes []int
	for _, text := range m.spec.Data.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil {
			return bad(err)
		}
		ids, err := f.Strings("ids/" + mode.Name)
		if err != nil {
			return bad(err)
		}
		m.modes = append(m.modes, mode)
		m.dicts = append(m.dicts, dataset.NewDict(ids))
		sizes = append(sizes, len(ids))
	}
	terms, err := m.spec.ParseTerms()
	if err != nil {
		return bad(err)
	}
	m.field = &tt.Field{}
	for k, term := range terms {
		t, err := loadTerm(f, k, term, m.spec.ModeNames(), sizes)
		if err != nil {
			return bad(err)
		}
		m.field.Terms = append(m.field.Terms, t)
	}
	parts, err := modelfile.Values[uint8](f, "split", -1)
	if err != nil {
		return bad(err)
	}
	for _, p := range parts {
		m.parts = append(m.parts, dataset.Part(p))
	}
	m.markTrained()
	return m, nil
}

func loadTerm(f *modelfile.File, k int, term model.Term, modes []string, sizes []int) (*tt.Train, error) {
	t := &tt.Train{}
	left := 1
	for p, core := range term.Cores {
		combos, err := modelfile.Values[int32](f, coreTensor(k, p, "entities"), -1, len(core))
		if err != nil {
			return nil, err
		}
		index, err := tt.IndexOf(model.Positions(core, modes), sizes, combos)
		if err != nil {
			return nil, err
		}
		name := coreTensor(k, p, "mean")
		mean, err := modelfile.Values[float32](f, name, index.Entities(), left, -1)
		if err != nil {
			return nil, err
		}
		right := len(mean) / (left * index.Entities())
		if right < 1 || (p == len(term.Cores)-1 && right != 1) {
			return nil, fmt.Errorf("tensor %s does not fit into its train", name)
		}
		shape := backend.Shape{Left: left, N: index.Entities(), Right: right}
		c := tt.NewCore(core, index, shape)
		copy(c.Slices.Mean, mean)
		t.Cores = append(t.Cores, c)
		left = right
	}
	return t, nil
}

func hashText(h [32]byte) string { return hex.EncodeToString(h[:]) }

func hashParts(parts []dataset.Part) string {
	text := make([]byte, len(parts))
	for i, p := range parts {
		text[i] = byte(p)
	}
	return hashText(sha256.Sum256(text))
}
