package model

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/metrics"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/solver"
)

// A Record says how a model was fitted and what was measured. It is part of the
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
	Baseline []BaselineScores  `json:"baseline"`
	Ridge    solver.Ridge      `json:"ridge"`
	Stop     solver.Stop       `json:"stop"`
	Best     int               `json:"best_sweep"`
	History  []solver.Point    `json:"history"`
	Side     []SideReport      `json:"side,omitempty"`
	Choices  []Choice          `json:"choices,omitempty"` // of a scale or likelihood that was auto
	Warnings []string          `json:"warnings"`
}

// BaselineScores are the scores of a formula of package baseline.
type BaselineScores struct {
	Name  string        `json:"name"`
	Train metrics.Score `json:"train"`
	Valid metrics.Score `json:"valid"`
	Test  metrics.Score `json:"test"`
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

// A SideReport says how a side table was joined with its mode and what operator
// was made of it.
type SideReport struct {
	Mode    string          `json:"mode"`
	Space   string          `json:"space"`
	Kernel  string          `json:"kernel,omitempty"`
	Columns int             `json:"columns"`           // of the operator
	Learned []Learned       `json:"learned,omitempty"` // kernel parameters, if length-scales are learned
	Kept    int             `json:"kept,omitempty"`    // rows of ids not in the data that the model keeps
	Notices []string        `json:"notices,omitempty"` // about the operator and the kept rows
	Table   sideinfo.Report `json:"table"`
}

// Learned is a kernel parameter at the start and at the end of the fit. A
// length-scale is in standard deviations of its column.
type Learned struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}
