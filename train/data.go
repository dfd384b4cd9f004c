package train

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/likelihood"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/solver"
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

	share     *tableShare      // the columns of the table that this process has; nil if it has all
	sides     *operators.Cache // of fits that are compared
	laterMode int              // see LaterMode
	ends      *split.Ends      // of the series, if each has its own
	endsNote  string           // why, if the specification does not say so
	targets   []model.Target   // with their scales, if there are several
}

// Read reads and splits a table. The zero source means the files of the
// specification.
func Read(ctx context.Context, s spec.Spec, source tableio.Source, opt Options) (*Data, error) {
	return readTogether(ctx, s, source, opt, false)
}

// readTogether is Read, after which each rank may have a share of the table alone.
func readTogether(ctx context.Context, s spec.Spec, source tableio.Source, opt Options, share bool) (*Data, error) {
	data, err := read(ctx, s, source, opt, share)
	if err := opt.agreeRead(data, err); err != nil {
		return nil, err
	}
	return data, nil
}

func read(ctx context.Context, s spec.Spec, source tableio.Source, opt Options, share bool) (*Data, error) {
	if opt.Progress != nil {
		opt.Progress(Event{Stage: "read"})
	}
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
	schema.Part = how.Column()
	format.Stdin = opt.Stdin
	format.Peers = opt.group()
	targets := s.Data.Targets()
	var table *dataset.Table
	var bounds []int
	switch {
	case s.SeveralTargets():
		if len(strings.Split(s.Transform, ",")) != len(targets) {
			return nil, fielderr.Errorf("data.target", "several targets can be fitted, but not tuned, compared or tested on past periods; name one")
		}
		table, err = readTargets(ctx, targets, source, schema, format, opt.Threads)
	case share && opt.Ranks != nil && opt.Memory == 0 && how.Random() && s.Data.Absent != "zero" && s.Data.Ends != "series" && plainTerms(&s):
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
		data.complete()
	}
	if err := data.addHistory(derived, data.zero, dataset.Train); err != nil {
		return nil, err
	}
	data.findLater()
	data.seconds = time.Since(began).Seconds()
	return data, nil
}

// levels returns the different values of the target in increasing order, nil if there are
// more than an ordinal target may have.
func (d *Data) levels() []float64 {
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

// Count returns the number of rows in a part.
func (d *Data) Count(p dataset.Part) int { return d.split.Count(p) }

// Hash returns the hash of the table's content.
func (d *Data) Hash() string { return model.HashText(d.table.Hash) }

// SplitHash returns the hash of the parts of the rows.
func (d *Data) SplitHash() string { return hashParts(d.split.Parts) }

// sizes returns the number of ids of each mode.
func (d *Data) sizes() []int {
	sizes := make([]int, len(d.table.Dicts))
	for i, dict := range d.table.Dicts {
		sizes[i] = dict.Len()
	}
	return sizes
}

// hashParts returns the hash of the part of every row.
func hashParts(parts []dataset.Part) string {
	text := make([]byte, len(parts))
	for i, p := range parts {
		text[i] = byte(p)
	}
	return model.HashText(sha256.Sum256(text))
}

// sourceParts returns the part of each row of the input, unused for dropped rows.
func (r *run) sourceParts() []dataset.Part {
	t := &r.data.table
	if t.Row == nil {
		return r.split.Parts
	}
	parts := make([]dataset.Part, t.Counts.Rows)
	for i := range parts {
		parts[i] = dataset.Unused
	}
	for i, p := range r.split.Parts {
		parts[t.SourceRow(i)] = p
	}
	return parts
}

// CheckDomain returns an error with the row for a target, in any part, that the
// transform or the likelihood of the specification does not allow.
func (d *Data) CheckDomain(s spec.Spec) error {
	if s.Transform == "auto" || s.Transform == "power" {
		s.Transform = predictive.Identity.String() // a choice skips the scales that do not suit, and a power suits all
	}
	transform, err := predictive.ParseTransform(s.Transform)
	if err != nil {
		return err
	}
	switch u := s.Uncertainty; {
	case u.Counts():
		transform = predictive.LogRate
	case u.Likelihood == "bernoulli":
		transform = predictive.Logit
	case u.Likelihood == "ordinal":
		if d.levels() == nil {
			return fielderr.Errorf("uncertainty.likelihood", "the target %s has more than %d different values, too many for the ordinal likelihood; use likelihood gaussian", s.Data.Target, likelihood.MaxLevels)
		}
	}
	if d.share != nil {
		negative := s.Data.NonNegative == "yes" && slices.ContainsFunc(d.share.y, func(y float32) bool { return y < 0 })
		if all := peers.Each(d.share.ranks, negative || predictive.CheckDomain(transform, d.share.y) != nil); !slices.Contains(all, true) {
			return nil
		}
		d.complete() // the message names the row
	}
	t := &d.table
	if s.Data.NonNegative == "yes" {
		for i, y := range t.Y {
			if y < 0 {
				return fielderr.Errorf("data.nonnegative", "%s: data row %d, column %s: the target %g is negative; correct the value, or set data.nonnegative to auto", d.source, t.SourceRow(i)+1, s.Data.Target, y)
			}
		}
	}
	err = predictive.CheckDomain(transform, t.Y)
	var domain *predictive.DomainError
	if errors.As(err, &domain) {
		return fmt.Errorf("%s: data row %d, column %s: %w", d.source, t.SourceRow(domain.Position)+1, s.Data.Target, err)
	}
	return err
}

// countRows returns the number of rows per code, by mode. The processes of a group, which may be
// nil, count those of their run each, see [peers.Rows].
func countRows(group peers.Group, threads int, codes [][]int32, sizes []int) [][]int32 {
	counts := make([][]int32, len(sizes))
	parallel.For(threads, len(sizes), func(m int) {
		counts[m] = make([]int32, sizes[m])
		own := codes[m]
		if group != nil {
			bounds := peers.Rows(len(own), group.Size())
			own = own[bounds[group.Rank()]:bounds[group.Rank()+1]]
		}
		for _, c := range own {
			if c >= 0 {
				counts[m][c]++
			}
		}
	})
	if group != nil {
		for m := range counts {
			counts[m] = peers.Sum(group, counts[m])
		}
	}
	return counts
}

// meanPieces is the largest number of runs of rows whose sums by id are computed independently of
// each other, and leastPieceRows the number of rows per id from which there is another run.
const (
	meanPieces     = 8
	leastPieceRows = 4
)

// meanTargets returns the mean target of the rows of each code, by mode, 0 for a code without rows,
// given the numbers of rows. The pieces of rows, whose sums are added in order, depend on the
// numbers of rows and ids alone. Each of several ranks, nil for one process, adds the rows of its
// run, see [backend.RowRuns], and passes the sums of a piece that ends later on to the next one.
func meanTargets(ranks backend.Ranks, threads int, o *solver.Observations, counts [][]int32) [][]float64 {
	means := make([][]float64, len(counts))
	for m, rows := range counts {
		size, n := len(rows), o.Len()
		pieces := max(1, min(meanPieces, n/(leastPieceRows*max(1, size))))
		sums := make([]float64, pieces*size)
		addUp(ranks, threads, n, pieces, size, sums, func(sum []float64, from, to int) {
			for i, c := range o.Codes[m][from:to] {
				if c >= 0 {
					sum[c] += o.Target(from + i)
				}
			}
		})
		means[m] = sums[:size:size]
		for k := 1; k < pieces; k++ {
			for c, v := range sums[k*size:][:size] {
				means[m][c] += v
			}
		}
		for c, n := range rows {
			if n > 0 {
				means[m][c] /= float64(n)
			}
		}
	}
	return means
}

// addUp completes the sums of pieces of n rows, length numbers each, to which add adds rows in
// order. A rank adds those of its run.
func addUp(ranks backend.Ranks, threads, n, pieces, length int, sums []float64, add func(sum []float64, from, to int)) {
	start := func(piece int) int { return n * piece / pieces }
	first, end := 0, n
	var bounds []int
	if ranks != nil {
		bounds = backend.RowRuns(n, ranks.Size())
		first, end = bounds[ranks.Rank()], bounds[ranks.Rank()+1]
	}
	own := func(piece int) {
		add(sums[piece*length:][:length], max(first, start(piece)), min(end, start(piece+1)))
	}
	var begun []int // pieces that begin with a row of this process
	before := -1    // the piece that continues one of the rank before
	for k := range pieces {
		switch {
		case first == end || start(k+1) <= first || start(k) >= end:
		case start(k) < first:
			before = k
		default:
			begun = append(begun, k)
		}
	}
	parallel.For(threads, len(begun), func(i int) { own(begun[i]) })
	if ranks == nil {
		return
	}
	// A piece is sent to the next rank with rows, if it has some of them.
	send := func(piece int) {
		if end >= start(piece+1) {
			return
		}
		to := ranks.Rank() + 1
		for bounds[to+1] == end {
			to++
		}
		ranks.Send(backend.Bytes(sums[piece*length:][:length]), to)
	}
	if len(begun) > 0 {
		send(begun[len(begun)-1])
	}
	if before >= 0 {
		from := ranks.Rank() - 1
		for bounds[from] == first {
			from--
		}
		ranks.Receive(backend.Bytes(sums[before*length:][:length]), from)
		own(before)
		send(before)
	}
	have := make([]int, len(bounds)) // by rank: the first piece whose last rows it has
	for r, bound := range bounds {
		for have[r] < pieces && start(have[r]+1) <= bound {
			have[r]++
		}
	}
	backend.GatherValues(ranks, sums, have, length)
}

// periods names the time ranges of the parts of a split by time; nil for other
// splits.
func periods(s *split.Split) map[string]string {
	if s.Periods == nil {
		return nil
	}
	named := map[string]string{}
	for part, text := range s.Periods {
		named[part.String()] = text
	}
	return named
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

// resolved returns the specification with the modes of the data: whether a covariate is
// numeric is known when the table was read.
func (d *Data) resolved(s spec.Spec) spec.Spec {
	s = s.Clone()
	for i, mode := range d.table.Modes {
		s.Data.Modes[i] = mode.String()
	}
	if d.ends != nil {
		s.Data.Ends = "series"
	}
	if d.targets != nil {
		s.Transform = predictive.Identity.String() // values are on their scales
	}
	return s
}

// cellModes returns the number of modes that identify a cell.
func (d *Data) cellModes() int {
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
