// Package fitrecord is the record of a fit that a model keeps: its scores, those of
// formulas, the choices that were made, the terms and the side information.
package fitrecord

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/solver"
)

// MaxClient is the largest number of bytes of a client's value.
const MaxClient = 1 << 20

// WithClient returns the record with a client's value.
func (r Record) WithClient(value json.RawMessage) (Record, error) {
	if len(value) > MaxClient || !json.Valid(value) {
		return r, fmt.Errorf("the client's value is not JSON of at most %d bytes", MaxClient)
	}
	r.Client = value
	return r, nil
}

// A Record describes how a model was fitted and what was measured. It is part of the
// model file, so nothing in it depends on the clock or on the machine.
type Record struct {
	DataHash string `json:"data_hash"` // SHA-256 of the table's content
	Split    string `json:"split"`
	// Periods of the parts of a split by time: {"test": "2016-10 to 2016-12", ...}.
	Periods  map[string]string `json:"periods,omitempty"`
	Seed     uint64            `json:"seed"`
	Rows     dataset.Counts    `json:"rows"`
	Train    metrics.Score     `json:"train"`
	Valid    metrics.Score     `json:"valid"`
	Test     metrics.Score     `json:"test"`
	Baseline []BaselineScores  `json:"baseline"` // formulas, the best first; see BestFormula
	// Compared are the scores of the model on the rows that formulas were measured on, of the part that
	// it is judged by; nil if these are all rows of the part.
	Compared *metrics.Score     `json:"compared,omitempty"`
	Ridge    solver.Ridge       `json:"ridge"`
	Stop     solver.Stop        `json:"stop"`
	Best     int                `json:"best_sweep"`
	Start    solver.Start       `json:"start,omitzero"` // of the run with the best sweep
	History  []solver.Point     `json:"history"`
	Side     []SideReport       `json:"side,omitempty"`
	Choices  []Choice           `json:"choices,omitempty"` // of a scale or likelihood that was auto
	Power    *PowerEstimate     `json:"power,omitempty"`   // of a scale that was power
	Orders   []OrderChoice      `json:"orders,omitempty"`  // of cores, if the specification says auto
	Refit    *Refit             `json:"refit,omitempty"`   // of a model that was trained again on all rows
	Terms    []TermContribution `json:"terms,omitempty"`
	// Decisions of a fit with automatic terms, in the order in which they were made.
	Decisions []Decision `json:"decisions,omitempty"`
	Warnings  []string   `json:"warnings"`
	// Notes say what was decided and is nothing to worry about.
	Notes []string `json:"notes,omitempty"`
	// Targets of a model of several; the scores above are then those of standardised values.
	Targets []Target `json:"targets,omitempty"`
	// DecileEdges separate the deciles of predictions, before the correction of means,
	// on the validation set (the training set without one). The bias by decile uses them.
	DecileEdges []float64 `json:"decile_edges,omitempty"`
	// Client is a JSON value that the program which asked for the fit wants to find again,
	// such as the bins of the Python package; nil for none. Nothing depends on it.
	Client json.RawMessage `json:"client,omitempty"`
}

// Clone returns a copy that shares no memory with r.
func (r Record) Clone() Record {
	r.Periods = maps.Clone(r.Periods)
	r.Train, r.Valid, r.Test = cloneScore(r.Train), cloneScore(r.Valid), cloneScore(r.Test)
	r.Baseline = cloneEach(r.Baseline, func(b BaselineScores) BaselineScores {
		b.Train, b.Valid, b.Test = cloneScore(b.Train), cloneScore(b.Valid), cloneScore(b.Test)
		if b.Median != nil {
			median := *b.Median
			b.Median = &median
		}
		return b
	})
	if r.Compared != nil {
		score := cloneScore(*r.Compared)
		r.Compared = &score
	}
	r.History = slices.Clone(r.History)
	r.Client = slices.Clone(r.Client)
	r.Side = cloneEach(r.Side, SideReport.clone)
	r.Choices = cloneEach(r.Choices, func(c Choice) Choice {
		if c.CRPS != nil {
			crps := *c.CRPS
			c.CRPS = &crps
		}
		return c
	})
	if r.Power != nil {
		estimate := *r.Power
		estimate.Tried = slices.Clone(estimate.Tried)
		r.Power = &estimate
	}
	if r.Refit != nil {
		refit := *r.Refit
		r.Refit = &refit
	}
	r.Orders = cloneEach(r.Orders, func(c OrderChoice) OrderChoice {
		if c.CRPS != nil {
			crps := *c.CRPS
			c.CRPS = &crps
		}
		return c
	})
	r.Decisions = cloneEach(r.Decisions, func(d Decision) Decision {
		d.Options = cloneEach(d.Options, func(o Candidate) Candidate {
			if o.CRPS != nil {
				crps := *o.CRPS
				o.CRPS = &crps
			}
			if o.Evidence != nil {
				evidence := *o.Evidence
				o.Evidence = &evidence
			}
			return o
		})
		return d
	})
	r.Terms = cloneEach(r.Terms, TermContribution.clone)
	r.Targets = cloneEach(r.Targets, Target.clone)
	r.Warnings, r.Notes, r.DecileEdges = slices.Clone(r.Warnings), slices.Clone(r.Notes), slices.Clone(r.DecileEdges)
	return r
}

func cloneScore(s metrics.Score) metrics.Score {
	s.BiasByDecile = slices.Clone(s.BiasByDecile)
	if s.Calibration == nil {
		return s
	}
	c := *s.Calibration
	c.XiByLevel, c.PinballByLevel = slices.Clone(c.XiByLevel), slices.Clone(c.PinballByLevel)
	c.PIT, c.CoverageBySeen = slices.Clone(c.PIT), slices.Clone(c.CoverageBySeen)
	c.CoverageByMode = cloneEach(c.CoverageByMode, func(m metrics.ModeCoverage) metrics.ModeCoverage {
		m.Table = slices.Clone(m.Table)
		return m
	})
	s.Calibration = &c
	return s
}

// cloneEach copies a slice by the clones of its elements. A nil slice stays nil.
func cloneEach[T any](values []T, clone func(T) T) []T {
	copied := slices.Clone(values)
	for i, v := range copied {
		copied[i] = clone(v)
	}
	return copied
}

// A Choice is a combination of scale and likelihood that was fitted because the
// specification says auto. The one with the least CRPS on the validation set is
// taken.
type Choice struct {
	Transform  string   `json:"transform"`
	Likelihood string   `json:"likelihood"`
	CRPS       *float64 `json:"crps"` // on the validation set; nil if the data does not allow this combination
	Taken      bool     `json:"taken"`
}

// A Decision is a choice that a fit with automatic terms made by short fits.
type Decision struct {
	Subject string      `json:"subject"` // as in scale or trains
	Options []Candidate `json:"options"`
}

// A Candidate is one of those that a Decision compares. The one with the least CRPS on the validation
// set, or with the highest evidence, is taken; the first is the default, which another must beat by more than chance.
type Candidate struct {
	Value string   `json:"value"`
	CRPS  *float64 `json:"crps"` // of a short fit; nil if the data does not allow the candidate
	Taken bool     `json:"taken"`

	// Evidence is the logarithm of the evidence bound of the training rows, for candidates that are compared by it.
	Evidence *float64 `json:"evidence,omitempty"`
}

// A PowerEstimate describes how a scale was estimated because the specification says
// power.
type PowerEstimate struct {
	Power float64      `json:"power"`
	Unit  float64      `json:"unit"` // of the power; see targetscale.TargetUnit
	Rows  int          `json:"rows"` // training rows that it was estimated from
	Tried []PowerScore `json:"tried"`
}

// A PowerScore is the CRPS of main and pair effects on the scale of a power, on training
// rows that they were not fitted to.
type PowerScore struct {
	Power float64 `json:"power"`
	CRPS  float64 `json:"crps"`

	// Outliers is the share of these rows whose error exceeds six standard deviations.
	Outliers float64 `json:"-"`
}

// An OrderChoice is an order of the cores of a term that was fitted briefly because the
// specification says auto. Of each term, the one with the least CRPS on the validation
// set is taken.
type OrderChoice struct {
	Term  int      `json:"term"`  // counted from 1
	Order string   `json:"order"` // as in store,item,time
	CRPS  *float64 `json:"crps"`  // on the validation set; nil if the fit diverged
	Taken bool     `json:"taken"`
}

// A SideReport describes how a side table was joined with its mode, and the operator
// made of it.
type SideReport struct {
	Mode    string          `json:"mode"`
	Space   string          `json:"space"`
	Kernel  string          `json:"kernel,omitempty"`
	Columns int             `json:"columns"`           // of the operator, 0 if the table is for groups only
	Learned []Learned       `json:"learned,omitempty"` // kernel parameters, if length-scales are learned
	Kept    int             `json:"kept,omitempty"`    // rows of ids not in the data that the model keeps
	Notices []string        `json:"notices,omitempty"` // about the operator and the kept rows
	Table   sideinfo.Report `json:"table"`

	Groups []sideinfo.GroupReport `json:"groups,omitempty"` // by the columns that terms use as modes

	Curve *Curve `json:"curve,omitempty"` // of a numeric covariate, whose bins are the ids
}

// A Curve describes the values of a numeric covariate.
type Curve struct {
	Low     float64 `json:"low"` // centres of the outermost bins
	High    float64 `json:"high"`
	Missing int     `json:"missing,omitempty"` // rows without a value
}

func (r SideReport) clone() SideReport {
	r.Learned, r.Notices = slices.Clone(r.Learned), slices.Clone(r.Notices)
	r.Table.Columns, r.Table.Notices = slices.Clone(r.Table.Columns), slices.Clone(r.Table.Notices)
	r.Groups = slices.Clone(r.Groups)
	if r.Curve != nil {
		curve := *r.Curve
		r.Curve = &curve
	}
	return r
}

// Learned is a kernel parameter at the start and at the end of the fit. A
// length-scale is in standard deviations of its column.
type Learned struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// A Refit describes a second training on the rows of all parts, or of all but the test set, with what
// the first one had chosen. The conformal correction and the correction of means are those of the
// first, and so are the noise as a rule and all scores but those of a test set that it has not seen.
type Refit struct {
	Rows    int     `json:"rows"`
	Sweeps  int     `json:"sweeps"`          // or epochs
	R2Scale float64 `json:"r2_scale"`        // on these rows and the modelling scale
	Noise   bool    `json:"noise,omitempty"` // whether the noise was learned again, because it is much larger

	KeepsTest bool `json:"keeps_test,omitempty"` // whether the test set was not among the rows

	// Measured is the number of rows that the model was trained on when the test set was measured: those of
	// this refit, or of one before it; 0 if the scores are those of the first training.
	Measured int `json:"measured_rows,omitempty"`
}

// Saw reports whether the rows of a part were among those of the refit; no refit saw any.
func (r *Refit) Saw(part dataset.Part) bool {
	return r != nil && !(part == dataset.Test && r.KeepsTest)
}

// Finite returns a CRPS for the record, nil for a model whose distributions have no finite mean, which is none to take.
func Finite(crps float64) *float64 {
	if math.IsInf(crps, 0) || math.IsNaN(crps) {
		return nil
	}
	return &crps
}
