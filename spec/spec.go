// Package spec defines the specification of a model: what to learn, from which table
// and how. It reads and writes specifications as YAML and JSON, fills in defaults and
// validates every field. Each problem carries the path of its field, as in fit.solver.
package spec

import (
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
)

// Version is the version of the format that this package reads and writes.
const Version = 1

// A Spec specifies what to learn, from which table and how. It does not describe the
// machine, so the same Spec gives the same model everywhere. A zero field is not
// given: Fill sets it to its default. Validate lists what is wrong.
//
// The struct tags are the schema for reading and writing: yaml and json hold the key,
// doc the comment after the key in YAML.
type Spec struct {
	Version     int         `yaml:"version" json:"version" doc:"version of this format"`
	Data        Data        `yaml:"data" json:"data" doc:"the table"`
	Split       string      `yaml:"split" json:"split" doc:"random:60/20/20, time:last=3, entity:store=10%, column:part or file:F"`
	Transform   string      `yaml:"transform" json:"transform" doc:"scale of the target: identity, log1p, sqrt, cbrt1p, power (estimated), power:P or auto (by validation)"`
	Terms       []string    `yaml:"terms" json:"terms" doc:"the model is their sum; commas separate cores, * makes joint cores, ranks follow the colon; or auto"`
	Order       string      `yaml:"order" json:"order" doc:"order of the cores of a term: given or auto (by validation)"`
	Side        Side        `yaml:"side" json:"side" doc:"side information about the ids"`
	Uncertainty Uncertainty `yaml:"uncertainty" json:"uncertainty" doc:"posterior, noise and intervals"`
	Fit         Fit         `yaml:"fit" json:"fit" doc:"training"`
	Seed        uint64      `yaml:"seed" json:"seed" doc:"seed of all random numbers, 1 or more"`
	Search      Search      `yaml:"search" json:"search,omitempty" doc:"parameters that tuning varies, instead of the automatic choice"`
}

// Default returns the defaults of a specification with given terms. Without terms, Fill
// leaves more to be chosen on the data.
func Default() Spec {
	return Spec{
		Version:     Version,
		Data:        Data{Delimiter: "auto", Header: "auto", Duplicates: "error", NonNegative: "auto", Absent: "unknown"},
		Split:       "random:60/20/20",
		Transform:   "identity",
		Order:       "given",
		Side:        Side{Variant: "plain", Space: "dual", Columns: 256, Intercept: "yes", LengthScales: "fixed"},
		Uncertainty: Uncertainty{Inference: "map", Likelihood: "gaussian", Noise: "constant", NoiseUse: "predict", Conformal: "auto", Heaping: "auto", Mixing: "auto", Covariance: "triangular", Moments: "exact"},
		Fit: Fit{
			Solver: "als", Ridge: "auto",
			Sweeps: 30, Patience: 4, CGSteps: 6, Prune: "yes",
			LearningRate: 0.01, Batch: 0.02, Epochs: 30, Schedule: "joint", Effort: "normal", Refit: RefitNone,
		},
		Seed: 1,
	}
}

// Fill sets every field that is not given to its default. The default of terms is auto:
// they are then chosen on the data, and so are the scale, the inference, the likelihood
// and the noise, as far as they are not given. Fill also replaces deprecated values.
func (s *Spec) Fill() {
	s.ReplaceDeprecated()
	d := Default()
	if len(s.Terms) == 0 {
		s.Terms = []string{Auto}
	}
	s.fillTargets()
	if s.Automatic() {
		s.leaveOpen(&d)
	} else {
		s.closeOpen()
	}
	fill(&s.Version, d.Version)
	s.Data.fill(d.Data)
	fill(&s.Split, d.Split)
	fill(&s.Transform, d.Transform)
	fill(&s.Order, d.Order)
	s.Side.fill(d.Side)
	s.Uncertainty.fill(d.Uncertainty)
	if s.Uncertainty.Bayesian() {
		d.Fit.Solver, d.Fit.Sweeps = "cavi", 60
	}
	s.Fit.fill(d.Fit)
	fill(&s.Seed, d.Seed)
}

// fill sets a zero field to a value.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ModeNames returns the names that terms use for the modes, in order.
func (s Spec) ModeNames() []string {
	names := make([]string, len(s.Data.Modes))
	for i, m := range s.Data.Modes {
		names[i] = modeName(m)
	}
	return names
}

// modeName returns the name of a mode, or the whole text if it is invalid.
func modeName(mode string) string {
	m, err := dataset.ParseMode(mode)
	if err != nil {
		return strings.TrimSpace(mode)
	}
	return m.Name
}

// ParseTerms parses every term. Errors are Problems, as those of Validate.
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
	for _, list := range []*[]string{&s.Data.Files, &s.Data.Modes, &s.Data.Covariates, &s.Data.Lags, &s.Data.History} {
		*list = slices.Clone(*list)
	}
	s.Terms = slices.Clone(s.Terms)
	s.Side.Tables, s.Side.Kernels = slices.Clone(s.Side.Tables), slices.Clone(s.Side.Kernels)
	s.Search = s.Search.clone()
	return s
}
