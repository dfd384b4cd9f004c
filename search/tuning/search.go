// Package tuning improves a specification by trials that several workers can share: it varies ranks, terms, kernels,
// penalties and what else the specification asks for.
package tuning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/search"
	"github.com/kernel-fried-tensor/kft/search/automatic"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
	"github.com/kernel-fried-tensor/kft/tune"
)

// A Search looks for a better specification. It fits variations of a given one, called
// trials, and returns the best on the validation set. Errors about a field of the Search
// carry the paths objective, sampler and halving, errors about the specification the
// path of the field there.
type Search struct {
	Spec      spec.Spec // starting point, and the requests of its section search
	Objective string    // measure to optimise, one of Objectives; "" is r2
	Sampler   string    // proposes the values of trials, one of tune.Samplers; "" is tpe
	Halving   string    // kind of successive halving, one of Halvings; "" is auto
	Threads   int       // threads of a fit; 0 for as many as the process may use

	Source tableio.Source            // the table; the zero Source means the files of the specification
	Tables map[string]tableio.Source // named tables in place of the files of side tables

	data    *fitdata.Data // nil until Read
	side    string        // hash of the side tables, "" without any
	notices []string      // what the table excludes from the space
	holdOut bool          // every trial keeps half of the validation set for a conformal correction
}

// Read checks the search and reads the table, which all trials share. Open calls it if
// necessary.
func (s *Search) Read(ctx context.Context) error {
	if s.data != nil {
		return nil
	}
	if _, err := search.Complete(&s.Spec, s.Source, false); err != nil {
		return err
	}
	s.Spec.Fill()
	s.Objective, s.Sampler, s.Halving = cmp.Or(s.Objective, "r2"), cmp.Or(s.Sampler, "tpe"), cmp.Or(s.Halving, "auto")
	if err := s.Spec.Validate(); err != nil {
		return err
	}
	if err := CheckObjective(s.Spec, s.Objective); err != nil {
		return err
	}
	if err := CheckHalving(s.Halving); err != nil {
		return err
	}
	if _, err := tune.NewSampler(s.Sampler, s.Spec.Seed); err != nil {
		return fielderr.Errorf("sampler", "%w", err)
	}
	if _, err := Space(s.Spec); err != nil {
		return err
	}
	if s.Source.IsZero() && slices.Contains(s.Spec.Data.Files, "-") {
		return fielderr.Errorf("data.files", "every worker of a search reads the table, so it cannot come from standard input; use a file")
	}
	side, err := s.hashSideTables(ctx)
	if err != nil {
		return err
	}
	data, err := train.Read(ctx, s.Spec, s.Source, train.Options{Threads: s.Threads})
	if err != nil {
		return err
	}
	if data.Count(dataset.Valid) == 0 {
		return fielderr.Errorf("split", "trials are compared on the validation set, which is empty; add a validation set to split")
	}
	s.Halving = resolveHalving(s.Halving, data.Count(dataset.Train))
	if s.Spec.Automatic() {
		if err := s.resolve(ctx, data); err != nil {
			return err
		}
	}
	if s.Spec, s.notices, err = restrict(s.Spec, data); err != nil {
		return err
	}
	if s.holdOut, err = differInCorrection(s.Spec, data); err != nil {
		return err
	}
	s.data, s.side = data, side
	return nil
}

// resolve lets the search start from what a fit would choose, and vary what was open: the
// scale, the inference and the order of cores, unless the section search says otherwise.
func (s *Search) resolve(ctx context.Context, data *fitdata.Data) error {
	open := s.Spec
	resolved, _, _, err := automatic.Resolve(ctx, s.Spec, data, train.Options{Threads: s.Threads, Tables: s.Tables})
	if err != nil {
		return err
	}
	s.Spec = resolved
	s.Spec.Order, s.Spec.Search = "auto", spec.Search{}
	if open.Transform == spec.Auto && !resolved.Uncertainty.Links() {
		scales := []string{resolved.Transform, "identity", "sqrt", "cbrt1p", "log1p"}
		s.Spec.Search["transform"] = slices.Compact(scales) // the resolved one may be the identity
	}
	if open.Uncertainty.Inference == spec.Auto {
		s.Spec.Search["inference"] = []string{"mean-field", "entity-covariance"}
	}
	maps.Copy(s.Spec.Search, open.Search)
	return nil
}

// Notices returns what a user should know about the space, such as scales that the
// table excludes. They are known after Read.
func (s *Search) Notices() []string { return slices.Clone(s.notices) }

// hashSideTables returns the hash of the side tables, "" without any.
func (s *Search) hashSideTables(ctx context.Context) (string, error) {
	tables, err := s.Spec.SideTables()
	if err != nil {
		return "", err
	}
	h, files := sha256.New(), 0
	for _, t := range tables {
		if t.FromIDs() {
			continue
		}
		text, err := sideContent(ctx, s.Tables, t.File)
		if err != nil {
			return "", fielderr.Errorf("side.tables", "side table of %s: %w", t.Mode, err)
		}
		sum := sha256.Sum256(text)
		h.Write(sum[:])
		files++
	}
	if files == 0 {
		return "", nil
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// sideContent returns the bytes that identify a side table: those of its file, or the
// names and values of a named table.
func sideContent(ctx context.Context, tables map[string]tableio.Source, name string) ([]byte, error) {
	source, named := tables[name]
	if !named {
		return os.ReadFile(name)
	}
	frame, err := tableio.ReadFrame(ctx, source, tableio.Format{})
	if err != nil {
		return nil, err
	}
	return json.Marshal([]any{frame.Names, frame.Columns})
}

// Open starts a study in the store, or joins the study that the store contains. A study
// with another definition is a *tune.DefinitionError. The caller closes the store.
func (s Search) Open(ctx context.Context, store tune.Store) (*OpenSearch, error) {
	if err := s.Read(ctx); err != nil {
		return nil, err
	}
	def, err := s.definition()
	if err != nil {
		return nil, err
	}
	study, err := tune.Open(ctx, store, def)
	if err != nil {
		return nil, err
	}
	return &OpenSearch{search: s, store: store, study: study, def: def}, nil
}

// definition returns the definition of the study. Workers must agree on the table, its
// parts, the side tables and every field of the specification.
func (s *Search) definition() (tune.Definition, error) {
	def := tune.Definition{Goal: goalOf(s.Objective), Sampler: s.Sampler, Seed: s.Spec.Seed}
	if s.Halving != "none" {
		def.Rungs = rungs
	}
	def.Facts = append(def.Facts, tune.Fact{Name: "objective", Text: s.Objective}, tune.Fact{Name: "halving", Text: s.Halving},
		tune.Fact{Name: "table", Text: "sha256 " + s.data.Hash()}, tune.Fact{Name: "parts", Text: "sha256 " + s.data.SplitHash()})
	if s.side != "" {
		def.Facts = append(def.Facts, tune.Fact{Name: "side tables", Text: "sha256 " + s.side})
	}
	if s.holdOut {
		def.Facts = append(def.Facts, tune.Fact{Name: "validation rows", Text: "half; the other half is for conformal corrections"})
	}
	for _, notice := range s.notices {
		name, text, _ := strings.Cut(notice, ": ")
		def.Facts = append(def.Facts, tune.Fact{Name: name, Text: text})
	}
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(s.Spec.JSON(), &sections); err != nil {
		return def, err
	}
	delete(sections, "search") // the space contains it
	for _, section := range slices.Sorted(maps.Keys(sections)) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(sections[section], &fields) != nil {
			def.Facts = append(def.Facts, tune.Fact{Name: "specification " + section, Text: string(sections[section])})
		}
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			def.Facts = append(def.Facts, tune.Fact{Name: "specification " + section + "." + field, Text: string(fields[field])})
		}
	}
	var err error
	if def.Space, err = Space(s.Spec); err != nil {
		return def, err
	}
	def.First, err = givenValues(s.Spec)
	return def, err
}

// An OpenSearch is a search with a study in a store.
type OpenSearch struct {
	search Search
	store  tune.Store
	study  *tune.Study
	def    tune.Definition
}

// Work runs trials until the study has the given number, including those of other
// workers. It sets the worker's objective.
func (o *OpenSearch) Work(ctx context.Context, trials int, w tune.Worker) error {
	w.Objective, w.Key = o.score, o.key
	return o.study.Work(ctx, trials, w)
}

// key returns the specification of a trial: values that differ may mean the same, such as
// the rank of a term that is not used.
func (o *OpenSearch) key(v tune.Values) string {
	s, err := trialSpec(o.search.Spec, v)
	if err != nil { // the trial will report it
		return fmt.Sprint("invalid: ", v)
	}
	return string(s.JSON())
}

// score fits the specification of a trial and returns its objective.
func (o *OpenSearch) score(ctx context.Context, t tune.Trial) (float64, error) {
	s, err := trialSpec(o.search.Spec, t.Values)
	if err != nil {
		return 0, err
	}
	rows, sweeps := shares(o.search.Halving, t.Budget)
	report, err := search.FitOnce(ctx, shortened(s, sweeps), o.search.data, train.Options{Threads: o.search.Threads, Share: rows, HoldOut: o.search.holdOut, Tables: o.search.Tables})
	if err != nil {
		return 0, err
	}
	return objectiveOf(report, o.search.Objective)
}

// Parameters returns the names of the varied parameters, in order.
func (o *OpenSearch) Parameters() []string {
	var names []string
	for _, p := range o.def.Space {
		names = append(names, p.Name)
	}
	return names
}

// Best returns the best trial so far and its specification.
func (o *OpenSearch) Best(ctx context.Context) (spec.Spec, tune.Trial, error) {
	trials, err := o.store.Trials(ctx)
	if err != nil {
		return spec.Spec{}, tune.Trial{}, err
	}
	best := o.def.Best(trials)
	if best == nil {
		problem := "no trial has finished yet"
		for _, t := range trials {
			if t.State == tune.Failed {
				line, _, _ := strings.Cut(t.Problem, "\n")
				problem = fmt.Sprintf("no trial has finished; trial %d failed: %s", t.Number+1, line)
			}
		}
		return spec.Spec{}, tune.Trial{}, errors.New(problem)
	}
	found, err := trialSpec(o.search.Spec, best.Values)
	return found, *best, err
}
