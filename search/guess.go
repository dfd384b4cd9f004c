package search

import (
	"context"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/guess"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/spec"
)

// Complete guesses the target and the modes of a table that the specification does not
// name, and with them the rule for rows of the same cell and the format of numbers. The
// zero source means the files of the specification. It returns nil if nothing was open.
//
// Columns that describe cells become covariates, unless future is set or the split is by time: then
// the cells to predict lie after those of the table, where what describes them need not be known.
func Complete(s *spec.Spec, source tableio.Source, future bool) (*tableio.Guess, error) {
	if s.Data.Target != "" && len(s.Data.Modes) > 0 {
		return nil, nil
	}
	missing := "data.target"
	if s.Data.Target != "" {
		missing = "data.modes"
	}
	files := source.IsZero()
	if files {
		source = tableio.Files(s.Data.Files...)
	}
	if files && slices.Contains(s.Data.Files, "-") || !source.Repeatable() {
		return nil, fielderr.Errorf(missing, "the columns of a stream cannot be guessed, because it can be read only once; name the target and the modes, or save the table to a file")
	}
	described := s.Clone()
	described.Fill()
	_, format, err := described.Data.Table()
	if err != nil {
		return nil, err
	}
	given := Given(s.Data)
	given.Future, given.Undescribed = future, s.Data.Undescribed() || s.SeveralTargets() // which do not support covariates
	if how, err := split.Parse(s.Split); err == nil {
		given.Parts, given.Future = how.Given(), future || how.ByTime()
	}
	given.Uncounted = !mayCount(*s)
	given.Trained = trainedRows(described)
	for _, text := range s.Data.NamedCovariates() {
		if m, err := dataset.ParseMode(text); err == nil {
			given.Covariates, given.Described = append(given.Covariates, m.Columns...), true
		}
	}
	g, err := tableio.GuessWith(source, format, given)
	if err != nil {
		return nil, err
	}
	Adopt(s, g)
	return g, nil
}

// mayCount reports whether a fit of the specification may have a likelihood of counts that the guess decides on.
func mayCount(s spec.Spec) bool {
	u := s.Uncertainty
	_, fixed := u.NoiseVariance.Value()
	return (len(s.Terms) == 0 || s.Automatic()) && s.Transform == "" && (u.Likelihood == "" || u.Likelihood == spec.Auto || u.Counts()) &&
		u.Inference != "map" && u.Noise == "" && (u.NoiseUse == "" || u.NoiseUse == spec.Auto) && !fixed && (s.Fit.Solver == "" || s.Fit.Solver == "cavi") && s.Data.Duplicates != "mean"
}

// Unused returns the columns that may be covariates of a specification that names target and modes,
// but uses none of them: none if the table has no further columns or cannot be read again.
func Unused(s spec.Spec) []dataset.Mode {
	source := tableio.Files(s.Data.Files...)
	schema, format, err := s.Data.Table()
	if err != nil || slices.Contains(s.Data.Files, "-") || !source.Repeatable() {
		return nil
	}
	given := Given(s.Data)
	if how, err := split.Parse(s.Split); err == nil {
		given.Future = how.ByTime()
	}
	given.Modes = nil // those with columns
	used := append(s.Data.Targets(), s.Data.Weight, s.Data.Exposure, s.Data.Censored)
	for _, m := range schema.Modes {
		given.Modes, used = append(given.Modes, m.String()), append(used, m.Columns...)
	}
	names, err := tableio.ColumnNames(source, format)
	if err != nil || !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(used, name) }) {
		return nil
	}
	g, err := tableio.GuessWith(source, format, given)
	if err != nil {
		return nil
	}
	return g.MayDescribe()
}

// trainedRows returns a function that tells which rows of a sample are in the training set of a specification with the guessed target
// and modes, see [guess.Given]. It reads and divides the sample as a fit does the table. Of a part of a table this is known only if a
// column or the time says it.
func trainedRows(s spec.Spec) func(sample guess.Sample, g *guess.Guess) []bool {
	how, err := split.Parse(s.Split)
	if err != nil {
		return nil
	}
	return func(sample guess.Sample, g *guess.Guess) []bool {
		if !sample.Whole && how.Column() == "" && !how.ByTime() {
			return nil
		}
		data := s.Data
		data.Target, data.Modes = g.Target, g.Modes
		if g.Duplicates != "" {
			data.Duplicates = g.Duplicates
		}
		schema, format, err := data.Table()
		if err != nil {
			return nil
		}
		schema.Part, format.Numbers = how.Column(), g.Numbers
		if len(schema.Modes) == 0 { // records of numbers
			schema.Modes = []dataset.Mode{{Name: "all", Columns: []string{" all rows"}}}
		}
		names := []string{schema.Target, schema.Weight, schema.Exposure, schema.Censored, schema.Part}
		for _, m := range schema.Modes {
			names = append(names, m.Columns...)
		}
		slices.Sort(names)
		var columns []dataset.Column
		for _, name := range slices.Compact(names) {
			if name == "" {
				continue
			}
			values := slices.Repeat([]string{"1"}, len(sample.Rows)) // of all rows
			if at := slices.Index(sample.Names, name); at >= 0 {
				for row, fields := range sample.Rows {
					values[row] = fields[at]
				}
			}
			columns = append(columns, dataset.StringColumn(name, values))
		}
		source, err := tableio.NewColumns(columns...)
		if err != nil {
			return nil
		}
		table, err := tableio.Read(context.Background(), source, schema, format, 1)
		if err != nil {
			return nil // reading the table reports it
		}
		parts, err := how.Apply(table, s.Seed)
		if err != nil {
			return nil // as will dividing the table
		}
		trained := make([]bool, len(sample.Rows))
		for k, part := range parts.Parts {
			trained[table.SourceRow(k)] = part == dataset.Train
		}
		for _, m := range table.Merged {
			trained[m.Row] = parts.Parts[m.Into] == dataset.Train
		}
		return trained
	}
}

// Given returns what a description of a table says for a guess. Of several targets the first
// is the target of the guess, and the others are neither targets nor modes. The split is the default one.
func Given(d spec.Data) guess.Given {
	targets := d.Targets()
	return guess.Given{Trained: trainedRows(spec.Default()), Target: targets[0], Modes: d.Modes, Weight: d.Weight, Exposure: d.Exposure, Censored: d.Censored, Covariates: targets[1:]}
}

// Adopt sets the modes to those of a guess, the target unless there are several, and the rule for
// rows of the same cell, covariates of rows that are kept, facts about ids as side information and
// the format of numbers, unless they are given.
func Adopt(s *spec.Spec, g *tableio.Guess) {
	if !s.SeveralTargets() {
		s.Data.Target = g.Target
	}
	s.Data.Modes = g.Modes
	if s.Data.Duplicates == "" {
		s.Data.Duplicates = g.Duplicates
	}
	if len(s.Data.Covariates) == 0 && (g.Duplicates == "" || s.Data.Duplicates == g.Duplicates) {
		s.Data.Covariates = s.UsedCovariates(g.Covariates)
	}
	if g.Exposure != "" && s.Data.Exposure == "" {
		s.Data.Exposure = g.Exposure
	}
	if len(g.Modes) == 0 { // records of numbers
		s.Data.Modes, s.Data.Covariates = covariateModes(s.Data.Covariates), nil
	}
	if !g.Numbers.Plain() && s.Data.Decimal == "" && s.Data.Thousands == "" {
		s.Data.Decimal, s.Data.Thousands = g.Numbers.Texts()
	}
	adoptFacts(s, g)
}

// covariateModes returns columns as modes that describe rows.
func covariateModes(columns []string) []string {
	modes := slices.Clone(columns)
	for i, text := range modes {
		if m, err := dataset.ParseMode(text); err == nil && m.Func == "" {
			modes[i] = m.AsCovariate().String()
		}
	}
	return modes
}
