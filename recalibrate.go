package kft

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/kernel-fried-tensor/kft/calibrate"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/tt"
)

// Calibrate returns the model with a conformal layer made of the rows of a table
// that have a target: split, group:mean or group:MODE. The rows must have been
// used for nothing else; what the layer then promises package calibrate says. If
// they are those of the fit, Summary.Fitted is set. Too few rows are a
// *calibrate.TooFewError.
func (m *Model) Calibrate(ctx context.Context, file, kind string, opt TableOptions) (*Model, Summary, error) {
	anew := *m
	anew.spec.Uncertainty.Conformal = kind
	if err := anew.spec.Validate(); err != nil {
		return nil, m.newSummary(), err
	}
	if kind == "none" || kind == "auto" {
		return nil, m.newSummary(), fmt.Errorf("%s is no layer to make of data; choose split, group:mean or group:MODE", kind)
	}
	anew.uncertain.layer, anew.uncertain.layerMode = nil, 0
	if err := anew.resolve(); err != nil {
		return nil, m.newSummary(), err
	}
	var mutex sync.Mutex
	pieces := map[int]*layerRows{} // by first row
	sum, err := anew.visit(ctx, file, opt, func(m *Model, z tt.Moments, b *dataset.Batch) error {
		rows, err := m.layerRows(z, b)
		mutex.Lock()
		defer mutex.Unlock()
		pieces[b.First] = rows
		return err
	})
	if err != nil {
		return nil, sum, err
	}
	var all layerRows
	for _, first := range sortedKeys(pieces) {
		p := pieces[first]
		all.score, all.location, all.entity = append(all.score, p.score...), append(all.location, p.location...), append(all.entity, p.entity...)
	}
	if len(all.score) == 0 {
		return nil, sum, m.noTargets(file)
	}
	if anew.uncertain.layer, err = all.layer(kind); err != nil {
		return nil, sum, fmt.Errorf("%s: %w", file, err)
	}
	sum.Fitted = m.isFitted(ctx, file, sum.Rows, opt)
	// What was measured at the fit was not measured with this layer.
	anew.about.Valid.Calibration, anew.about.Test.Calibration = nil, nil
	return &anew, sum, nil
}

// HeldOut returns how many rows of the fitted table's valid part the fit kept for
// the conformal layer alone.
func (m *Model) HeldOut() int {
	valid := 0
	for _, p := range m.parts {
		if p == dataset.Valid {
			valid++
		}
	}
	return valid - m.about.Valid.N
}

// layerRows are rows that a conformal layer is made of.
type layerRows struct {
	score, location []float64
	entity          []int32 // of the grouping mode
}

func (r *layerRows) layer(kind string) (*calibrate.Layer, error) {
	switch kind {
	case "split":
		return calibrate.FitSplit(r.score)
	case "group:mean":
		return calibrate.FitByMean(r.score, r.location, min(meanBins, max(1, len(r.score)/rowsABin)))
	}
	return calibrate.FitByEntity(r.score, r.entity)
}

// layerRows returns those of a batch that have a target. An entity that the fit
// did not know has no group.
func (m *Model) layerRows(z tt.Moments, b *dataset.Batch) (*layerRows, error) {
	r := &layerRows{}
	mode := m.uncertain.layerMode
	for i, y := range b.Y {
		if math.IsNaN(float64(y)) || b.W != nil && b.W[i] == 0 {
			continue
		}
		if err := m.checkRow(b.Y, i); err != nil {
			return nil, err
		}
		p := m.bare(z, b.Codes, i)
		r.score = append(r.score, p.Score(float64(y), m.spec.Seed, uint64(b.First+i)))
		r.location = append(r.location, p.Location())
		r.entity = append(r.entity, m.fittedCode(mode, b.Codes[mode][i]))
	}
	return r, nil
}

// isFitted tells whether a file of as many rows is the table that the model was
// fitted to. Standard input cannot be read again; what cannot be read as the fitted
// table was is another.
func (m *Model) isFitted(ctx context.Context, file string, rows int, opt TableOptions) bool {
	if file == "-" || rows != len(m.parts) {
		return false
	}
	table, err := m.readAsFitted(ctx, []string{file}, opt)
	return err == nil && m.wasFittedTo(table)
}
