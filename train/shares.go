package train

import (
	"bytes"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train/collective"
)

// Over several ranks each may have its run of the training rows alone, see backend.RowRuns. The
// columns have an entry for every row, but only those of the run are set, and only these take
// memory (see paged.Reserve). Steps that work on a run ask for ownTrain; all others ask for part,
// which completes the columns.

// part returns the rows of a part. Over several ranks all must ask in the same order.
func (r *run) part(p dataset.Part) *solver.Observations {
	o := &r.parts[p]
	if p == dataset.Train && r.divided {
		bounds := backend.RowRuns(o.Len(), r.opt.Ranks.Size())
		for _, column := range o.Codes {
			backend.GatherValues(r.opt.Ranks, column, bounds, 1)
		}
		backend.GatherValues(r.opt.Ranks, o.Y, bounds, 1)
		r.divided = false
	}
	return o
}

// size returns the number of rows of a part.
func (r *run) size(p dataset.Part) int { return r.parts[p].Len() }

// ownTrain returns the training rows, of which this process may have those of [collective.OwnRows] alone.
func (r *run) ownTrain() *solver.Observations { return &r.parts[dataset.Train] }

// known returns the rows of a part that this process has.
func (r *run) known(p dataset.Part) (from, to int) {
	if p == dataset.Train && r.divided {
		return collective.OwnRows(r.opt.Ranks, r.size(p))
	}
	return 0, r.size(p)
}

// divides reports whether each rank keeps its run of the training rows alone: for models whose
// solver spreads its observations over the ranks, and of which no later step needs them all.
func (r *run) divides() bool {
	s, t, d := &r.spec, r.data.Table(), r.data
	columns := t.W != nil || t.Exposure != nil || t.Censored != nil || t.Low != nil
	rows := r.split.Count(dataset.Train)
	return r.opt.Ranks != nil && r.pages == nil && r.measured == nil && !r.opt.Compare && !columns && !d.AbsentZero() && d.Scales() == nil && d.History() == nil && plainTerms(s) &&
		rows > r.opt.many() && rows > (r.opt.Ranks.Size()-1)*parallel.Block && r.split.Count(dataset.Valid) > 0
}

// plainTerms reports whether the specification has Gaussian noise that does not depend on the rows,
// no side information and trains of single modes alone, and is fitted by sweeps.
func plainTerms(s *spec.Spec) bool {
	u := s.Uncertainty
	terms, err := s.ParseTerms()
	if err != nil || s.Fit.Solver == "adam" || u.Likelihood != "gaussian" || s.Side.Variant == "ls" || u.Noise == spec.Auto || u.NoiseFactors() != nil || u.NoiseUse == "fit" || len(s.Side.Tables) > 0 || len(s.Data.Covariates) > 0 {
		return false
	}
	if slices.ContainsFunc(s.Data.Modes, func(text string) bool {
		mode, err := dataset.ParseMode(text)
		return err != nil || mode.Covariate() || mode.Derived()
	}) {
		return false
	}
	modes := s.ModeNames()
	return !slices.ContainsFunc(terms, func(t spec.Term) bool {
		return t.IsSeries() || t.Along != nil || t.Variant != "" && t.Variant != "plain" || slices.ContainsFunc(t.Cores, func(core []string) bool { return len(core) != 1 || !slices.Contains(modes, core[0]) })
	})
}

// takeShares copies the observations of each part over several ranks, each of which selects some
// rows of the table: all ranks get the validation and test rows, and of the training rows their
// run.
func (r *run) takeShares() {
	ranks := r.opt.Ranks
	me, size := ranks.Rank(), ranks.Size()
	from := r.data.Shared()
	if from == nil {
		from = r.data.ShareOf(ranks)
	}
	bounds := from.Bounds
	own := r.split.Parts[bounds[me]:bounds[me+1]]
	for p := range dataset.Part(len(r.parts)) {
		held := make([]int, size+1) // by rank: rows of the part before those that it selects
		for k := range size {
			held[k+1] = held[k] + bytes.Count(peers.Bytes(r.split.Parts[bounds[k]:bounds[k+1]]), []byte{byte(p)})
		}
		rows := make([]int32, 0, held[me+1]-held[me])
		for i, part := range own {
			if part == p {
				rows = append(rows, int32(i))
			}
		}
		o := &r.parts[p]
		o.Y = shared(r, p, from.Y, rows, held)
		for _, column := range from.Codes {
			o.Codes = append(o.Codes, shared(r, p, column, rows, held))
		}
	}
	r.divided = true
}

// shared returns a column of a part, given the rows that this process selects and where those of each rank start.
func shared[T int32 | float32](r *run, p dataset.Part, column []T, rows []int32, held []int) []T {
	ranks := r.opt.Ranks
	me, n := ranks.Rank(), held[ranks.Size()]
	values := backend.Make[T](r.engine, n)
	if p != dataset.Train {
		selectRows(r, values[held[me]:], column, rows)
		backend.GatherValues(ranks, values, held, 1)
		return values
	}
	selected, final := make([]T, len(rows)), backend.RowRuns(n, ranks.Size())
	selectRows(r, selected, column, rows)
	peers.Move(ranks, values[final[me]:final[me+1]], selected, held, final)
	return values
}

// selectRows copies the values of some rows.
func selectRows[T int32 | float32](r *run, dst, column []T, rows []int32) {
	parallel.Blocks(r.engine.Threads(), len(rows), func(from, to int) {
		for i, row := range rows[from:to] {
			dst[from+i] = column[row]
		}
	})
}

// selectTrain returns training rows, given the increasing numbers of those that this process has of
// them: all, or those of its run. All ranks get all of these rows.
func (r *run) selectTrain(rows []int32) solver.Observations {
	o := solver.SelectOn(nil, *r.ownTrain(), rows)
	if r.divided {
		o.Y = peers.Concat(r.opt.Ranks, o.Y)
		for m, column := range o.Codes {
			o.Codes[m] = peers.Concat(r.opt.Ranks, column)
		}
	}
	return o
}

// ownOf returns which of some rows of the training set, in increasing order, this process has.
func (r *run) ownOf(rows []int) (own []int32) {
	first, end := r.known(dataset.Train)
	for _, row := range rows {
		if row >= first && row < end {
			own = append(own, int32(row))
		}
	}
	return own
}

// anyRank reports whether a condition holds for the training rows of some rank.
func (r *run) anyRank(holds bool) bool {
	if !r.divided {
		return holds
	}
	return slices.Contains(peers.Each(r.opt.Ranks, holds), true)
}

// firstCodes returns, by mode, the different codes of the training rows in the order of their first rows.
func (r *run) firstCodes() [][]int32 {
	o := r.ownTrain()
	from, to := collective.OwnRows(r.opt.Ranks, o.Len())
	columns := make([][]int32, len(o.Codes))
	parallel.For(r.engine.Threads(), len(columns), func(m int) {
		seen := make([]bool, r.data.Table().Dicts[m].Len())
		for _, c := range o.Codes[m][from:to] {
			if !seen[c] {
				seen[c] = true
				if columns[m] = append(columns[m], c); len(columns[m]) == len(seen) {
					break
				}
			}
		}
	})
	for m, column := range columns {
		columns[m] = peers.Concat(r.opt.Ranks, column)
	}
	return columns
}
