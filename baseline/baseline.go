// Package baseline implements simple formulas that any model should beat, and finds the
// best of them.
//
// The formulas are fitted to the training rows:
//
//   - the mean of all rows;
//   - the mean by each mode, and the mean by each pair of modes;
//   - the sum of effects of all modes;
//   - for targets that are not negative, the mean by a pair of modes (or by one of two
//     modes) times a factor by another mode or pair; for other targets, plus an offset;
//   - if the validation and test rows come after the training rows in time, the last
//     value of a series, the same plus its average step (drift), the mean of its last values,
//     and its value one season before. A series is a combination of the ids of all other modes.
//   - for one series whose rows lie between each other in time, the line between the
//     neighbours of a row, and the mean of several.
//
// A mean is shrunk to the mean of a coarser group: with the sum s and the weight n of a
// group, the coarser mean p and a pseudo-count k it is (s + k p) / (n + k). An id or a
// combination without training rows gets p.
//
// What a formula leaves open (the pseudo-count, the coarser group, the damping of the step,
// the number of last values, the season) and which formula is the best is chosen by the squared error on
// the validation rows. Without validation rows, some training rows take their place: see
// [Fit]. The targets of test rows are not used.
package baseline

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/internal/parallel"
	"github.com/kernel-fried-tensor/kft/internal/peers"
)

// A Part is a set of rows.
type Part int

// The parts of a table.
const (
	Train Part = iota
	Valid
	Test
)

// A Table has the rows that formulas are fitted to and chosen on.
type Table struct {
	Names   []string // of the modes
	Sizes   []int    // number of ids of each mode
	Parts   [3]Rows  // by Part; only the codes of Test are used
	Time    *Time    // nil if the validation and test rows do not come after the training rows
	Between *Time    // of a table of one series whose validation and test rows lie between training rows; else nil
	Threads int
	Chosen  Chosen // settings that were chosen before; nil to choose them

	// Peers are processes with the same table, which share the work; nil for none. All call Fit.
	Peers peers.Group
}

// Rows are the rows of a part.
type Rows struct {
	Codes [][]int32 // by mode; -1 for an unseen id
	Y     []float32
	W     []float32 // weights in means; nil for 1
	Loss  []float32 // weights of squared errors; nil for W
}

// Time says when the rows of a table were observed.
type Time struct {
	Mode    int        // position of the mode of time
	Periods [3][]int32 // by Part: number of the period of each row
	Seasons []Season   // to try
}

// A Season is a number of periods after which values may repeat.
type Season struct {
	Periods int
	Name    string // of the formula, as in "same month of the last year"
}

// A Formula is a fitted formula.
type Formula struct {
	Name    string  // as in "mean by store and item"
	Setting string  // what was chosen, as in "shrunk to the mean by item, pseudo-count 1"
	Loss    float64 // mean squared error on the rows that it was chosen on

	key       string // the same for all settings
	option    int    // number of the setting
	modes     []int  // that the formula depends on
	predictor predictor
}

// Elsewhere reports whether another process has fitted the formula, so that this one cannot predict
// with it, see Table.Peers.
func (f *Formula) Elsewhere() bool { return f.predictor == nil }

// Predict computes the predictions for the rows from, from+1, ... of a part.
func (f *Formula) Predict(part Part, from int, dst []float64) { f.predictor.predict(part, from, dst) }

// A predictor computes predictions for consecutive rows of a part.
type predictor interface {
	predict(part Part, from int, dst []float64)
}

// maxFormulas limits the formulas that are tried, beside the means by one mode.
const maxFormulas = 30

// maxPairModes is the number of modes whose pairs are tried: those with the best means.
const maxPairModes = 5

// Chosen are the settings of formulas that were chosen.
type Chosen map[string]decision

// ChosenOf returns the settings of formulas, to fit them to more rows of the same table.
func ChosenOf(formulas []Formula) Chosen {
	chosen := Chosen{}
	for _, f := range formulas {
		chosen[f.key] = decision{f.option, f.Loss}
	}
	return chosen
}

// Fit fits the formulas and sorts them by their squared errors on the validation rows,
// the best first. Without validation rows, they are chosen on a fifth of the training
// rows (on the last fifth of the periods, if Time is given) by formulas fitted to the
// others, and then fitted to all training rows. Settings that were chosen before are not
// chosen again, and the formulas stay in their order.
func Fit(t Table) []Formula {
	if t.Chosen != nil || len(t.Parts[Valid].Y) > 0 {
		return fit(&t, t.Chosen)
	}
	decided := Chosen{"mean": {}} // all that is left with too few rows for a choice
	if inner, ok := holdOut(&t); ok {
		decided = ChosenOf(fit(inner, nil))
	}
	return fit(&t, decided)
}

// A decision is the chosen setting of a formula and its loss.
type decision struct {
	option int
	loss   float64
}

// A fitter fits formulas to the training rows of a table.
type fitter struct {
	*Table
	decided  Chosen             // by key; nil to decide on the validation rows
	used     []int              // positions of the modes that formulas may use
	modes    []*coding          // by position
	pairs    map[[2]int]*coding // by positions, in ascending order
	mean     float64            // of the training rows
	tiny     float64            // losses below it are rounding errors
	negative bool               // some training target is negative
	means    []Formula          // by mode and by pair, best first
}

// fit fits all formulas, or those that are decided.
func fit(t *Table, decided Chosen) []Formula {
	f := &fitter{Table: t, decided: decided, pairs: map[[2]int]*coding{}}
	for m := range t.Sizes {
		f.modes = append(f.modes, codingOfMode(t, m))
		if t.Time == nil || m != t.Time.Mode { // the periods of validation and test rows have no training rows
			f.used = append(f.used, m)
		}
	}
	all := f.global()
	all = append(all, f.modeMeans()...)
	// Several processes fit settings of the first and means of the second at the same time, and exchange them at the end of both.
	var finish [2]func() []Formula
	parallel.For(f.Threads, len(finish), func(i int) { finish[i] = []func() func() []Formula{f.additive, f.pairMeans}[i]() })
	for _, end := range finish {
		all = append(all, end()...)
	}
	series := 0
	if t.Time != nil {
		series = 5
	}
	all = append(all, f.adjustments(maxFormulas-len(all)-series)...)
	if t.Time != nil {
		all = append(all, f.series()...)
	}
	if t.Between != nil {
		all = append(all, f.neighbours()...)
	}
	// Of equal formulas the simplest is first.
	slices.SortStableFunc(all, func(a, b Formula) int { return cmp.Compare(a.Loss, b.Loss) })
	return all
}

// forEach calls work for 0 to n-1 in parallel and collects the formulas that it returns.
func (f *fitter) forEach(n int, work func(i int) []Formula) []Formula {
	found := make([][]Formula, n)
	parallel.For(f.Threads, n, func(i int) { found[i] = work(i) })
	return slices.Concat(found...)
}

// own reports whether this process does a task that several processes divide.
func (f *fitter) own(task int) bool {
	return f.Peers == nil || task%f.Peers.Size() == f.Peers.Rank()
}

// list joins the names of modes.
func (f *fitter) list(modes []int) string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = f.Names[m]
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// key identifies a formula in decisions.
func (f *fitter) key(kind string, modes ...int) string {
	for _, m := range modes {
		kind += "/" + f.Names[m]
	}
	return kind
}
