package model

import (
	"math"
	"slices"
)

// A Summary counts the rows of a table whose ids have no training rows.
type Summary struct {
	Rows   int
	Unseen []int // by mode: rows whose id has neither training rows nor side information
	Side   []int // by mode: rows whose id is predicted from its side information
	NoID   int   // rows that an evaluation or a recalibration left out, because an id is empty
	Fitted bool  // set by recalibration and, for a refitted model, by an evaluation: the table is the one the model was fitted to

	// Assumed names the columns of weight and exposure that the model was fitted with and
	// the table does not have: all their values are taken as 1.
	Assumed []string
	// Renamed lists the columns that PredictTable would have added under the name of a
	// column of the model's table, as "sd: kft_sd".
	Renamed []string
	// Warnings are reasons to doubt the predictions: ids that are mostly unknown, dates in
	// another format than the model's, future periods that the model cannot tell apart;
	// of an evaluation also intervals that hold far too many or too few values.
	Warnings []string

	decoded  int         // lines that were not UTF-8
	missing  []int       // by mode: rows of Unseen without an id
	examples [][]example // by mode: first unknown ids; then first ids of time that are no period, and columns without an id
}

// NewSummary returns an empty summary.
func (m *Model) NewSummary() Summary {
	n := len(m.modes)
	return Summary{Unseen: make([]int, n), Side: make([]int, n), missing: make([]int, n), examples: make([][]example, n+2)}
}

func (s *Summary) add(o Summary) {
	s.Rows += o.Rows
	s.decoded += o.decoded
	s.NoID += o.NoID
	for mode := range s.Unseen {
		s.Unseen[mode] += o.Unseen[mode]
		s.Side[mode] += o.Side[mode]
		s.missing[mode] += o.missing[mode]
	}
	for i := range s.examples {
		s.examples[i] = mergeExamples(s.examples[i], o.examples[i])
	}
	for _, name := range o.Assumed {
		if !slices.Contains(s.Assumed, name) {
			s.Assumed = append(s.Assumed, name)
		}
	}
}

// CountOrigins adds rows with a target to the summary, by the origin of their ids.
func (m *Model) CountOrigins(sum *Summary, codes [][]int32, y []float32) {
	for mode, column := range codes {
		for i, c := range column {
			if math.IsNaN(float64(y[i])) {
				continue
			}
			switch m.Origin(mode, c) {
			case FromPrior:
				sum.Unseen[mode]++
			case FromSide:
				for _, at := range m.sideModes(mode, codes, i) {
					sum.Side[at]++
				}
			}
		}
	}
}
