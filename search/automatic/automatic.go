// Package automatic chooses the model of a table: scale, terms, ranks, inference and noise, one after the other, by short
// fits that are compared on the validation set.
package automatic

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/internal/plural"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive/targetscale"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/train"
	"github.com/kernel-fried-tensor/kft/train/fitdata"
)

// splitRows is the number of validation rows from which intervals have at least the
// conformal correction that is the same for all rows. A noise model that was chosen among
// several, with few rows per entity, is too sure of itself more often than one that was
// given.
const splitRows = 400

// An effort limits the work of the automatic choice.
type effort struct {
	rows     int // training rows of a fit that compares candidates
	sweeps   int // of such a fit
	rank     int // highest rank of a train
	fitting  int // sweeps of the final fit
	patience int // of the final fit, if it is not given; 0 for the default
	valid    int // validation rows of the final fit; 0 for all
}

// KeptValid is the number of validation rows that the final fit of a large table keeps from training.
const KeptValid = 60_000

var efforts = map[string]effort{
	"quick":    {rows: 30_000, sweeps: 8, rank: 10, fitting: 20},
	"normal":   {rows: 100_000, sweeps: 15, rank: 20, fitting: 60, valid: KeptValid},
	"thorough": {rows: 200_000, sweeps: 30, rank: 30, fitting: 100, patience: 8, valid: KeptValid},
}

// ValidRows returns the number of validation rows that the final fit of an effort keeps from training, 0 for all.
func ValidRows(name string) int { return efforts[name].valid }

// comparisonBudget is the share of the time budget for all comparisons, and
// comparisonFits the number of fits among which it is divided.
const (
	comparisonBudget = 0.4
	comparisonFits   = 16
)

// A chooser resolves what a specification leaves open, one subject after the other, by
// short fits that are compared on the validation set. Its specification always has a
// value for what is still open.
type chooser struct {
	spec        spec.Spec
	data        *fitdata.Data
	folds       []*fitdata.Data // divisions of the data on which candidates are compared
	opt         train.Options   // of the final fit
	effort      effort
	modes       []string // that identify a cell
	sizes       []int
	others      []string // covariates
	beforePairs int      // terms before interactions of covariates were added in front of them; 0 if none were
	rows        int      // training rows
	pairs       map[[2]int]int
	power       *model.PowerEstimate
	gaussian    *spec.Spec        // on the transformed scale, that likelihoods were compared with; nil if the likelihood is given
	narrowly    bool              // Student noise was better than Gaussian noise, but by less than its margin
	scores      map[string]*score // by specification: the best of a step is the first of the next
	decisions   []model.Decision

	deadline time.Time // from which nothing more is compared; zero for none
}

// Resolve returns the specification with everything that it leaves open chosen on the
// data, the estimate of the scale, if there is one, and the decisions. The comparisons
// use samples of the training rows, so their cost does not grow with the table. See
// docs/concepts/automatic.md for the rules.
func Resolve(ctx context.Context, s spec.Spec, data *fitdata.Data, opt train.Options) (spec.Spec, *model.PowerEstimate, []model.Decision, error) {
	c := &chooser{spec: s.Clone(), data: data, opt: opt, effort: efforts[s.Fit.Effort], modes: s.ModeNames()[:s.CellModes()], sizes: data.Sizes(), others: s.ModeNames()[s.CellModes():], rows: data.Count(dataset.Train)}
	defer data.ForgetCompared()
	if err := cmp.Or(c.checkModes(), data.CheckSide(ctx, s, opt.Tables)); err != nil {
		return s, nil, nil, err
	}
	if opt.TimeBudget > 0 && opt.Checkpoint == "" {
		c.deadline = time.Now().Add(time.Duration(comparisonBudget * float64(opt.TimeBudget)))
	}
	c.countPairs()
	var err error
	if c.folds, err = foldsOf(s, data); err != nil {
		return s, nil, nil, err
	}
	c.scores = map[string]*score{}
	open := c.spec.Uncertainty.Inference == spec.Auto
	if open {
		c.spec.Uncertainty.Inference = "mean-field"
	}
	openUse := c.spec.Uncertainty.NoiseUse == spec.Auto
	if openUse {
		c.spec.Uncertainty.NoiseUse = "predict"
	}
	if c.spec.Side.Variant == spec.Auto {
		c.spec.Side.Variant = "additive"
	}
	c.spec.Order = "given"
	c.spec.Fit.Sweeps = min(c.spec.Fit.Sweeps, c.effort.fitting)
	steps := []func(context.Context) error{c.chooseScale, c.chooseTrains, c.chooseRank, c.chooseOrder, c.choosePairEffects, c.chooseTriples, c.chooseCurves, c.chooseCalendar, c.chooseMonthDays, c.chooseDays, c.chooseCovariates, c.chooseLinear, c.choosePairs, c.choosePoints, c.chooseVariant, c.chooseGroups, c.chooseTermOrder}
	if c.future() {
		steps = []func(context.Context) error{c.chooseScale, c.chooseSeries, c.chooseRank, c.chooseSeasons, c.choosePeriod, c.chooseWorkdays, c.chooseMonthDays, c.chooseDays, c.confirmPower, c.chooseFactors, c.chooseCovariates, c.chooseLinear, c.chooseVariant}
	}
	if c.single() {
		steps = []func(context.Context) error{c.chooseSingle, c.chooseWorkdays, c.chooseMonthDays, c.chooseDays, c.chooseCovariates}
	}
	steps = append(steps, c.confirmScale)
	if open {
		steps = append(steps, c.chooseInference)
	}
	if openUse {
		steps = append(steps, c.chooseNoiseUse)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return s, nil, nil, err
		}
	}
	if c.spec.Data.Censored != "" {
		c.spec.Uncertainty.Conformal = "none"
	}
	if u := &c.spec.Uncertainty; c.splits() {
		u.Conformal = "split"
		if c.spec.SeveralTargets() {
			u.Conformal = "group:" + spec.TargetName
		}
	}
	if f := &c.spec.Fit; c.effort.patience > 0 && f.Patience == spec.Default().Fit.Patience {
		f.Patience = c.effort.patience
	}
	c.capRanks()
	c.spec.Fill() // a posterior and a point estimate have different solvers
	return c.spec, c.power, c.decisions, c.spec.Validate()
}

// splits reports whether the final fit has the conformal correction that is the same for all rows because
// the validation set is too small for another one.
func (c *chooser) splits() bool {
	u, n := c.spec.Uncertainty, c.data.Count(dataset.Valid)
	return u.Conformal == spec.Auto && u.Bayesian() && !u.Finite() && n >= splitRows && !train.HasCorrection(u, n) && !(c.future() && len(c.folds) > 1)
}

// capRanks writes the ranks of chosen trains as the numbers of ids allow them, so that a fit does
// not warn about a rank that nobody gave.
func (c *chooser) capRanks() {
	terms, err := c.spec.ParseTerms()
	if err != nil {
		return // Validate reports it
	}
	for i, t := range terms {
		modes := c.leadingModes(t)
		if modes == nil || t.Along != nil {
			continue
		}
		sizes := make([]int, len(modes))
		for k, m := range modes {
			sizes[k] = c.data.Combinations(m)
		}
		if capped, notices := t.CapRanks(sizes); len(notices) > 0 {
			c.spec.ChangeTerm(i, func(t *spec.Term) { t.Ranks = capped.Ranks })
		}
	}
}

// leastRows is the number of training rows from which a model is chosen.
const leastRows = 10

// checkModes returns an error for a table whose ids hardly repeat in any mode, because
// nothing can be learned about an id that occurs once. With one mode each id is a cell,
// which is enough only if it is a time, or if its rows are kept or have covariates.
func (c *chooser) checkModes() error {
	if len(c.modes) == 1 && !c.single() && len(c.sizes) == 1 && 2*c.sizes[0] > c.rows {
		return c.oneMode()
	}
	if c.rows < leastRows && c.future() {
		return fielderr.Errorf("split", "the training set has only %s, too few to choose a model; hold out fewer periods (a model may forecast more than that), give more rows, or set the terms", plural.Count(c.rows, "row"))
	}
	if c.rows < leastRows {
		return fielderr.Errorf("terms", "the training set has only %s, too few to choose a model; give more rows, hold out fewer by split, or set the terms", plural.Count(c.rows, "row"))
	}
	if len(c.modes) == 0 && len(c.others) > 0 {
		return nil // records of numbers
	}
	for _, n := range c.sizes[:len(c.modes)] {
		if c.single() || 10*n <= 9*c.rows {
			return nil
		}
	}
	return fielderr.Errorf("data.modes", "almost every row has its own id in each of the modes %s, so there is nothing to learn from other rows; name columns whose values repeat", strings.Join(c.modes, ", "))
}

// oneMode says why nothing can be learned from a table of one mode.
func (c *chooser) oneMode() error {
	const remedy = "name a second mode, such as a time or a kind, that distinguishes the rows of an id"
	if c.data.Merged() == 0 {
		return fielderr.Errorf("data.modes", "each id of the only mode, %s, has one row, so there is nothing to learn from other rows; %s, or if it is a time, write it as dates such as 2024-01-31 or as the numbers 1, 2, 3", c.modes[0], remedy)
	}
	how, values := "averaging", "averages" // by rule for rows of the same cell
	switch c.spec.Data.Duplicates {
	case "sum":
		how, values = "summing", "sums"
	case "last":
		how, values = "taking the last of", "values"
	}
	return fielderr.Errorf("data.modes", "after %s the rows of the same cell each id of the only mode, %s, has one value, so these %s are the best prediction; %s", how, c.modes[0], values, remedy)
}

// countPairs counts the combinations of every two modes.
func (c *chooser) countPairs() {
	c.pairs = map[[2]int]int{}
	for a := range c.modes {
		for b := a + 1; b < len(c.modes); b++ {
			c.pairs[[2]int{a, b}] = c.data.Combinations(a, b)
		}
	}
}

// late reports whether the time for comparisons is over.
func (c *chooser) late() bool {
	return !c.deadline.IsZero() && c.opt.Agree(time.Now().After(c.deadline))
}

// skips reports whether an error excludes one candidate only: a target outside the
// domain of a scale, a fit that diverged, or a posterior that would be too large.
func (c *chooser) skips(err error) bool {
	var domain *targetscale.DomainError
	var diverged *solver.DivergedError
	var notFinite *model.NotFiniteError
	return errors.As(err, &domain) || errors.As(err, &diverged) || errors.As(err, &notFinite) || fielderr.Path(err) == "uncertainty.inference"
}

// foldBelow is the number of validation rows below which candidates are compared on
// several folds, because so few rows compare them badly. Below fewRows there are several
// divisions into folds. There are as many folds as give comparedRows validation rows
// together: each costs as much as the fit on the given division.
const (
	foldBelow    = 1000
	folds        = 4
	fewRows      = 200
	fewRepeats   = 3
	comparedRows = 3000
)

// foldsOf returns the divisions of the rows on which candidates are compared: the given
// one and, for a small table, folds of its training and validation rows, or earlier
// origins of a forecast. Those of a split
// by time or by entity are never mixed, nor those of a file of parts that looks like one.
func foldsOf(s spec.Spec, data *fitdata.Data) ([]*fitdata.Data, error) {
	n := data.Count(dataset.Valid)
	if data.LaterMode() >= 0 && n > 0 {
		return data.Origins()
	}
	if n == 0 || n >= foldBelow || !Alike(s, data) {
		return []*fitdata.Data{data}, nil
	}
	all := []*fitdata.Data{data}
	repeats := uint64(1)
	if n < fewRows {
		repeats = fewRepeats
	}
	compared := n
	for i := range repeats {
		divided, err := data.Folds(folds, s.Seed+i)
		if err != nil {
			return nil, err
		}
		for _, fold := range divided {
			if compared < comparedRows {
				all = append(all, fold)
				compared += fold.Count(dataset.Valid)
			}
		}
	}
	return all, nil
}

// Alike reports whether training and validation rows may be exchanged: they do not differ
// by their time or by their ids.
func Alike(s spec.Spec, data *fitdata.Data) bool {
	return data.LaterMode() < 0 && !strings.HasPrefix(s.Split, "time:") && !strings.HasPrefix(s.Split, "entity:") && data.Familiar() >= 0.5
}

// withTerms returns the specification with the given terms.
func (c *chooser) withTerms(terms []spec.Term) spec.Spec {
	s := c.spec.Clone()
	s.Terms = nil
	for _, t := range terms {
		s.Terms = append(s.Terms, t.String())
	}
	return s
}

// names returns the names of modes.
func (c *chooser) names(modes ...int) []string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = c.modes[m]
	}
	return names
}

// bySize returns the n modes with the most ids, in the order of the table.
func (c *chooser) bySize(n int) []int {
	all := make([]int, len(c.modes))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(c.sizes[b], c.sizes[a]) })
	largest := all[:min(n, len(all))]
	slices.Sort(largest)
	return largest
}
