// Package model holds the specification of a model as plain data.
package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// Version is the version of the specification that this package writes and reads.
const Version = 1

// DefaultRank is the rank of the term made for a specification without terms.
const DefaultRank = 20

// A Spec says what to learn from which table and how, and nothing about the
// machine: the same Spec is the same model anywhere. A zero field is one that
// was not given; Fill gives it its default, Validate lists what is wrong.
//
// The tags are the whole schema: yaml and json the key, doc the comment that
// YAML writes beside it. Reading and writing both walk them.
type Spec struct {
	Version     int         `yaml:"version" json:"version" doc:"of this format"`
	Data        Data        `yaml:"data" json:"data" doc:"the table"`
	Split       string      `yaml:"split" json:"split" doc:"random:60/20/20, time:last=3, entity:store=10%, column:part or file:F"`
	Transform   string      `yaml:"transform" json:"transform" doc:"scale of the target: identity, log1p, sqrt, cbrt1p, or auto (by validation)"`
	Terms       []string    `yaml:"terms" json:"terms" doc:"the model is their sum; cores by commas, joint cores by *, ranks after the colon"`
	Side        Side        `yaml:"side" json:"side" doc:"what is known about the ids"`
	Uncertainty Uncertainty `yaml:"uncertainty" json:"uncertainty" doc:"what is not known"`
	Fit         Fit         `yaml:"fit" json:"fit" doc:"how to train"`
	Seed        uint64      `yaml:"seed" json:"seed" doc:"of everything random, 1 or more"`
	Search      Search      `yaml:"search" json:"search,omitempty" doc:"what kft tune varies, where it is not to choose itself"`
}

// A Data says where the observations are and what the columns mean.
type Data struct {
	Files      []string `yaml:"files" json:"files" doc:"CSV or TSV, plain, gzip or zstd, Parquet, Arrow; - is standard input"`
	Target     string   `yaml:"target" json:"target" doc:"the column to predict"`
	Weight     string   `yaml:"weight" json:"weight" doc:"a column of weights, or none"`
	Modes      []string `yaml:"modes" json:"modes" doc:"a column, name=column+column, or a function: name=hour(column)"`
	Delimiter  string   `yaml:"delimiter" json:"delimiter" doc:"auto, comma, tab, semicolon, bar, space or one character"`
	Header     string   `yaml:"header" json:"header" doc:"auto, yes or no"`
	Duplicates string   `yaml:"duplicates" json:"duplicates" doc:"a cell seen twice: error, sum, mean or last"`
}

// A Side says what side information the cores use, and how.
type Side struct {
	Tables       []string `yaml:"tables" json:"tables" doc:"one a mode: store=stores.csv:city:cat,lat,lon or time=@year,@month:cycle12"`
	Variant      string   `yaml:"variant" json:"variant" doc:"plain, side, wlr, ls or additive; @variant behind a term overrides it"`
	Space        string   `yaml:"space" json:"space" doc:"primal, primal-rff, dual, dual-rff or dual-unwhitened"`
	Kernels      []string `yaml:"kernels" json:"kernels" doc:"rbf, matern12, matern32, matern52, periodic:12, sums and products; time=... for one mode"`
	Columns      int      `yaml:"columns" json:"columns" doc:"of a kernel's operator, or random features"`
	Intercept    string   `yaml:"intercept" json:"intercept" doc:"yes or no"`
	LengthScales string   `yaml:"length-scales" json:"length-scales" doc:"fixed at the median distance, or learn"`
	Placebo      string   `yaml:"placebo" json:"placebo" doc:"constant or noise in place of the tables, or of one mode's: noise:store"`
}

// A Fit says how the weights are found. Fields of the solver that is not
// chosen have no effect.
type Fit struct {
	Solver       string  `yaml:"solver" json:"solver" doc:"als or adam for a point, cavi or adam for a posterior"`
	Ridge        string  `yaml:"ridge" json:"ridge" doc:"penalty: uniform, by frequency, or auto (by validation)"`
	Lambda       Lambda  `yaml:"lambda" json:"lambda" doc:"its weight, 0 or more, or auto (by validation)"`
	Sweeps       int     `yaml:"sweeps" json:"sweeps" doc:"als, cavi: at most so many over all cores"`
	Patience     int     `yaml:"patience" json:"patience" doc:"sweeps or epochs without gain on validation before stopping"`
	CGSteps      int     `yaml:"cg-steps" json:"cg-steps" doc:"als, cavi: conjugate gradient steps an inner core"`
	LearningRate float64 `yaml:"learning-rate" json:"learning-rate" doc:"adam: size of a step"`
	Batch        float64 `yaml:"batch" json:"batch" doc:"adam: share of the training data a step, 0.01 to 1"`
	Epochs       int     `yaml:"epochs" json:"epochs" doc:"adam: at most so many over the data"`
	Schedule     string  `yaml:"schedule" json:"schedule" doc:"adam: joint (all cores a step) or block (in turn)"`
}

// Default is the specification with every default that does not depend on
// the table.
func Default() Spec {
	return Spec{
		Version:     Version,
		Data:        Data{Delimiter: "auto", Header: "auto", Duplicates: "error"},
		Split:       "random:60/20/20",
		Transform:   "identity",
		Side:        Side{Variant: "plain", Space: "dual", Columns: 128, Intercept: "yes", LengthScales: "fixed"},
		Uncertainty: Uncertainty{Inference: "map", Likelihood: "gaussian", Noise: "constant", NoiseUse: "predict", Conformal: "auto", Moments: "exact"},
		Fit: Fit{
			Solver: "als", Ridge: "auto",
			Sweeps: 30, Patience: 4, CGSteps: 6,
			LearningRate: 0.01, Batch: 0.02, Epochs: 30, Schedule: "joint",
		},
		Seed: 1,
	}
}

// Fill gives every field that was not given its default; without terms that
// is one term over all modes at DefaultRank.
func (s *Spec) Fill() {
	s.ReplaceDeprecated()
	d := Default()
	fill(&s.Version, d.Version)
	fill(&s.Data.Delimiter, d.Data.Delimiter)
	fill(&s.Data.Header, d.Data.Header)
	fill(&s.Data.Duplicates, d.Data.Duplicates)
	fill(&s.Split, d.Split)
	fill(&s.Transform, d.Transform)
	s.Side.fill(d.Side)
	s.Uncertainty.fill(d.Uncertainty)
	if s.Uncertainty.Bayesian() {
		d.Fit.Solver, d.Fit.Sweeps = "cavi", 60
	}
	fill(&s.Fit.Solver, d.Fit.Solver)
	fill(&s.Fit.Ridge, d.Fit.Ridge)
	fill(&s.Fit.Sweeps, d.Fit.Sweeps)
	fill(&s.Fit.Patience, d.Fit.Patience)
	fill(&s.Fit.CGSteps, d.Fit.CGSteps)
	fill(&s.Fit.LearningRate, d.Fit.LearningRate)
	fill(&s.Fit.Batch, d.Fit.Batch)
	fill(&s.Fit.Epochs, d.Fit.Epochs)
	fill(&s.Fit.Schedule, d.Fit.Schedule)
	fill(&s.Seed, d.Seed)
	if len(s.Terms) == 0 && len(s.Data.Modes) > 0 {
		s.Terms = []string{DefaultTerm(s.ModeNames(), DefaultRank).String()}
	}
}

// fill gives defaults; with tables the variant is wlr, and the kernel Matern 3/2.
func (s *Side) fill(d Side) {
	if len(s.Tables) > 0 {
		d.Variant = "wlr"
		if len(s.Kernels) == 0 {
			s.Kernels = []string{"matern32"}
		}
	}
	fill(&s.Variant, d.Variant)
	fill(&s.Space, d.Space)
	fill(&s.Columns, d.Columns)
	fill(&s.Intercept, d.Intercept)
	switch s.Intercept { // as YAML writes them
	case "true":
		s.Intercept = "yes"
	case "false":
		s.Intercept = "no"
	}
	fill(&s.LengthScales, d.LengthScales)
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ModeNames are the names that terms use for the modes, in their order.
func (s Spec) ModeNames() []string {
	names := make([]string, len(s.Data.Modes))
	for i, m := range s.Data.Modes {
		names[i] = modeName(m)
	}
	return names
}

// modeName is the name of the mode, or the whole text where that is none.
func modeName(mode string) string {
	m, err := dataset.ParseMode(mode)
	if err != nil {
		return strings.TrimSpace(mode)
	}
	return m.Name
}

// ParseTerms reads every term against the modes. It fails as Validate does.
func (s Spec) ParseTerms() ([]Term, error) {
	terms := make([]Term, 0, len(s.Terms))
	modes := s.ModeNames()
	for i, text := range s.Terms {
		t, err := ParseTerm(text, modes)
		if err != nil {
			return nil, problemf(index("terms", i), "%v", err)
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// Clone returns a copy that shares no memory with s.
func (s Spec) Clone() Spec {
	s.Data.Files, s.Data.Modes = slices.Clone(s.Data.Files), slices.Clone(s.Data.Modes)
	s.Terms = slices.Clone(s.Terms)
	s.Side.Tables, s.Side.Kernels = slices.Clone(s.Side.Tables), slices.Clone(s.Side.Kernels)
	s.Search = maps.Clone(s.Search)
	for name, values := range s.Search {
		s.Search[name] = slices.Clone(values)
	}
	return s
}
