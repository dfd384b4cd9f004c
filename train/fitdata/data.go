// Package fitdata holds the data of a fit: a table whose rows are divided into a training, a
// validation and a test set, with the covariates that follow from the training rows. It divides
// the same rows in other ways, as folds and as they were known at earlier origins, and answers
// questions about them on which the choice of a specification depends.
package fitdata

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/dataset/split"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/history"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/operators"
)

// Data is a table whose rows are split into parts. Fits do not change it, so several
// fits can share it.
type Data struct {
	source  string // name, for messages
	table   dataset.Table
	split   *split.Split
	zero    bool             // cells without a row within the life of a series are 0
	history *history.History // of the training rows, if modes are computed from them
	used    []dataset.Part   // parts before an origin made later rows unused; nil without one
	ahead   int              // periods from the last training period to the farthest row
	seconds float64          // time of reading

	share     *Share           // the columns of the table that this process has; nil if it has all
	sides     *operators.Cache // of fits that are compared
	laterMode int              // see LaterMode
	ends      *split.Ends      // of the series, if each has its own
	endsNote  string           // why, if the specification does not say so
	targets   []model.Target   // with their scales, if there are several
}

// Options specify how to read a table.
type Options struct {
	Threads int
	Tables  map[string]tableio.Source // named tables in place of the files of side tables
	Stdin   io.Reader                 // the table called "-"; nil is the process's standard input

	Ranks backend.Ranks // processes that read the table together; nil for one
	Share bool          // each rank may have a share of the rows alone, until all are needed
}

// Read reads and splits a table. The zero source means the files of the specification.
func Read(ctx context.Context, s spec.Spec, source tableio.Source, opt Options) (*Data, error) {
	began := time.Now()
	if err := operators.CheckFiles(ctx, s, opt.Tables); err != nil {
		return nil, err
	}
	if source.IsZero() {
		source = tableio.Files(s.Data.Files...)
	}
	how, err := split.Parse(s.Split)
	if err != nil {
		return nil, fielderr.Errorf("split", "%w", err)
	}
	schema, format, err := s.Data.Table()
	if err != nil {
		return nil, err
	}
	how = how.ReadAhead()
	schema.Part = how.Column()
	format.Stdin = opt.Stdin
	if opt.Ranks != nil {
		format.Peers = opt.Ranks
	}
	targets := s.Data.Targets()
	var table *dataset.Table
	var bounds []int
	switch {
	case s.SeveralTargets():
		if len(strings.Split(s.Transform, ",")) != len(targets) {
			return nil, fielderr.Errorf("data.target", "several targets can be fitted, but not tuned, compared or tested on past periods; name one")
		}
		table, err = readTargets(ctx, targets, source, schema, format, opt.Threads)
	case opt.Share && opt.Ranks != nil && how.Random() && s.Data.Absent != "zero" && s.Data.Ends != "series":
		table, bounds, err = tableio.ReadShare(ctx, source, schema, format, opt.Threads)
	default:
		table, err = tableio.Read(ctx, source, schema, format, opt.Threads)
	}
	if err != nil {
		return nil, err
	}
	if err := covariate.Encode(table, source.String(), format.Numbers); err != nil {
		return nil, err
	}
	table.Modes = slices.Clone(table.Modes)
	for m, d := range table.Dicts {
		table.Modes[m] = table.Modes[m].WithIDDates(d.IDs())
		if d.Len() == 1 {
			return nil, fielderr.Errorf("data.modes", "mode %q has only one id, %q, so it carries no information; remove it from data.modes", table.Modes[m].Name, d.ID(0))
		}
	}
	data := &Data{source: source.String(), table: *table, zero: s.Data.Absent == "zero", sides: &operators.Cache{}}
	if bounds != nil {
		data.keepShare(opt.Ranks, bounds)
		data.split, err = how.ApplyRandom(bounds[opt.Ranks.Size()], s.Seed)
	} else {
		err = data.divide(how, s)
	}
	if err != nil {
		return nil, err
	}
	if s.SeveralTargets() {
		alignParts(table, data.split.Parts)
		if err := data.standardise(s, targets); err != nil {
			return nil, err
		}
	}
	data.findLater()
	var derived []dataset.Mode
	for _, text := range s.Data.Modes {
		if mode, err := dataset.ParseMode(text); err == nil && mode.Derived() {
			derived = append(derived, mode)
		}
	}
	if data, err = data.WithPoints(s); err != nil {
		return nil, err
	}
	if len(derived) > 0 || data.laterMode >= 0 {
		data.Complete()
	}
	if err := data.addHistory(derived, data.zero, dataset.Train); err != nil {
		return nil, err
	}
	data.findLater()
	data.seconds = time.Since(began).Seconds()
	return data, nil
}

// Levels returns the different values of the target in increasing order, nil if there are
// more than an ordinal target may have.
func (d *Data) Levels() []float64 {
	var found []float64
	for _, y := range d.table.Y {
		k, known := slices.BinarySearch(found, float64(y))
		if known {
			continue
		}
		if len(found) == likelihood.MaxLevels {
			return nil
		}
		found = slices.Insert(found, k, float64(y))
	}
	return found
}

// Sizes returns the number of ids of each mode.
func (d *Data) Sizes() []int {
	sizes := make([]int, len(d.table.Dicts))
	for i, dict := range d.table.Dicts {
		sizes[i] = dict.Len()
	}
	return sizes
}

// Count returns the number of rows in a part.
func (d *Data) Count(p dataset.Part) int { return d.split.Count(p) }

// Hash returns the hash of the table's content.
func (d *Data) Hash() string { return model.HashText(d.table.Hash) }

// SplitHash returns the hash of the parts of the rows.
func (d *Data) SplitHash() string { return HashParts(d.split.Parts) }

// HashParts returns the hash of the part of every row.
func HashParts(parts []dataset.Part) string {
	text := make([]byte, len(parts))
	for i, p := range parts {
		text[i] = byte(p)
	}
	return model.HashText(sha256.Sum256(text))
}

// CheckDomain returns an error with the row for a target, in any part, that the
// transform or the likelihood of the specification does not allow.
func (d *Data) CheckDomain(s spec.Spec) error {
	if s.Transform == "auto" || s.Transform == "power" {
		s.Transform = targetscale.Identity.String() // a choice skips the scales that do not suit, and a power suits all
	}
	transform, err := targetscale.ParseTransform(s.Transform)
	if err != nil {
		return err
	}
	switch u := s.Uncertainty; {
	case u.Counts():
		transform = targetscale.LogRate
	case u.Likelihood == "bernoulli":
		transform = targetscale.Logit
	case u.Likelihood == "ordinal":
		if d.Levels() == nil {
			return fielderr.Errorf("uncertainty.likelihood", "the target %s has more than %d different values, too many for the ordinal likelihood; use likelihood gaussian", s.Data.Target, likelihood.MaxLevels)
		}
	}
	if d.share != nil {
		negative := s.Data.NonNegative == "yes" && slices.ContainsFunc(d.share.Y, func(y float32) bool { return y < 0 })
		if all := peers.Each(d.share.ranks, negative || targetscale.CheckDomain(transform, d.share.Y) != nil); !slices.Contains(all, true) {
			return nil
		}
		d.Complete() // the message names the row
	}
	t := &d.table
	if s.Data.NonNegative == "yes" {
		for i, y := range t.Y {
			if y < 0 {
				return fielderr.Errorf("data.nonnegative", "%s: data row %d, column %s: the target %g is negative; correct the value, or set data.nonnegative to auto", d.source, t.SourceRow(i)+1, s.Data.Target, y)
			}
		}
	}
	err = targetscale.CheckDomain(transform, t.Y)
	var domain *targetscale.DomainError
	if errors.As(err, &domain) {
		return fmt.Errorf("%s: data row %d, column %s: %w", d.source, t.SourceRow(domain.Position)+1, s.Data.Target, err)
	}
	return err
}

// WithPoints returns the data with the joint covariates of the specification that it lacks.
func (d *Data) WithPoints(s spec.Spec) (*Data, error) {
	for _, text := range s.Data.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil || !mode.Joint() || slices.ContainsFunc(d.table.Modes, func(m dataset.Mode) bool { return m.Name == mode.Name }) {
			continue
		}
		changed := *d
		if err := covariate.AddPoints(&changed.table, mode); err != nil {
			return nil, err
		}
		d = &changed
	}
	return d, nil
}

// Resolved returns the specification with the modes of the data: whether a covariate is
// numeric is known when the table was read.
func (d *Data) Resolved(s spec.Spec) spec.Spec {
	s = s.Clone()
	for i, mode := range d.table.Modes {
		s.Data.Modes[i] = mode.String()
	}
	if d.ends != nil {
		s.Data.Ends = "series"
	}
	if d.targets != nil {
		s.Transform = targetscale.Identity.String() // values are on their scales
	}
	return s
}

// CellModes returns the number of modes that identify a cell.
func (d *Data) CellModes() int {
	n := slices.IndexFunc(d.table.Modes, dataset.Mode.Covariate)
	if n < 0 {
		n = len(d.table.Modes)
	}
	return n
}

// CheckSide returns the first error of the side tables of a specification: a file that cannot
// be read, a column that it lacks, ids that are not those of the data.
func (d *Data) CheckSide(ctx context.Context, s spec.Spec, tables map[string]tableio.Source) error {
	return operators.Check(ctx, s, &d.table, tables)
}

// ForgetCompared drops what fits share that are compared, on this data and its folds.
func (d *Data) ForgetCompared() { d.sides.Forget() }

// Table returns the table. Its columns are released by [Data.Release].
func (d *Data) Table() *dataset.Table { return &d.table }

// Split returns the division of the rows into parts.
func (d *Data) Split() *split.Split { return d.split }

// AbsentZero reports whether cells without a row within the life of their series are 0.
func (d *Data) AbsentZero() bool { return d.zero }

// History returns what covariates are computed from, nil without such covariates.
func (d *Data) History() *history.History { return d.history }

// Ends returns the ends of the series, nil unless each has its own.
func (d *Data) Ends() *split.Ends { return d.ends }

// Scales returns the targets with their scales, if there are several.
func (d *Data) Scales() []model.Target { return d.targets }

// Cache returns what fits of the data share that are compared.
func (d *Data) Cache() *operators.Cache { return d.sides }

// Seconds returns the time of reading.
func (d *Data) Seconds() float64 { return d.seconds }

// Release drops the columns of the table.
func (d *Data) Release() {
	t := &d.table
	d.share = nil
	t.Codes, t.Y, t.Low, t.W, t.Exposure, t.Censored, t.Numbers = nil, nil, nil, nil, nil, nil, nil
}
