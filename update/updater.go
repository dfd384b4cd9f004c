package update

import (
	"context"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend/cpu"
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/ledger"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// An Updater takes rows into a model, one or many at a time. It is not safe for
// concurrent use; the models that it returns are.
type Updater struct {
	state    *state
	latest   *model.Model // nil if rows were added since it was made
	trainedN int          // training rows of the fit
	end      int64        // last period with rows
}

// New returns an updater of a model. Cost: that of all rows that the model took in since
// its fit.
func New(m *model.Model, threads int) (*Updater, error) {
	if err := Possible(m); err != nil {
		return nil, err
	}
	path, err := cpu.ChoosePath()
	if err != nil {
		return nil, err
	}
	for i, y := range m.Ledger().Rows.Y { // of a file
		if err := CheckTarget(m, y); err != nil {
			return nil, fmt.Errorf("row %d that the model took in: %w", i+1, err)
		}
	}
	u := &Updater{}
	if u.state, err = replay(m.Fitted(), m.Ledger(), cpu.New(path, threads)); err != nil {
		return nil, err
	}
	for code := range int32(m.Dicts()[0].Len()) {
		u.trainedN += u.state.fitted.TrainingRows(0, code)
	}
	u.findEnd(u.state.rows)
	return u, nil
}

// Replay returns a model that was read from the file of the given name with the rows of
// its ledger taken in. A model without such rows is returned as it is. Rows that the model
// cannot have taken in are a *modelfile.FormatError.
func Replay(m *model.Model, name string) (updated *model.Model, err error) {
	invalid := func(why any) error {
		return &modelfile.FormatError{File: name, Problem: fmt.Sprintf("not a valid model: the rows that it took in after its fit: %v", why)}
	}
	defer func() { // a file of a stranger must not end the program
		if p := recover(); p != nil {
			err = invalid(p)
		}
	}()
	if m.Ledger() == nil || m.Ledger().Rows.Len() == 0 {
		return m, nil
	}
	u, err := New(m, 0)
	if err != nil {
		return nil, invalid(err)
	}
	return u.Model()
}

// A NotPossibleError says why a model cannot be updated.
type NotPossibleError struct{ Reason string }

func (e *NotPossibleError) Error() string {
	return "the model cannot be updated with rows: " + e.Reason
}

// Possible returns a *NotPossibleError for a model that cannot be updated.
func Possible(m *model.Model) error {
	not := func(format string, args ...any) error { return &NotPossibleError{fmt.Sprintf(format, args...)} }
	s := m.Spec()
	switch {
	case !s.Uncertainty.Bayesian():
		return fielderr.Errorf("uncertainty.inference", "%w", not("it is a point estimate without a posterior; fit it with uncertainty.inference mean-field"))
	case m.Ledger() == nil:
		return not("its file has no statistics of the training rows; fit it again with this version")
	case m.Field().Group != nil:
		return not("products of terms (latent scaling) have no closed form; fit it again with the new rows")
	case m.Covariates().History() != nil:
		return not("%s is computed from the values of all rows (data.lags, data.history), also for the cells that the model has seen; fit it again with the new rows, or without it", computed(m))
	}
	return nil
}

// computed returns the name of a covariate that is computed from the training rows.
func computed(m *model.Model) string {
	modes := m.Modes()
	return modes[slices.IndexFunc(modes, dataset.Mode.Derived)].Name
}

// Model returns the model with all rows taken in. It copies the cores and series that
// moved, and is cheap if nothing was added since the last call.
func (u *Updater) Model() (*model.Model, error) {
	if u.latest != nil {
		return u.latest, nil
	}
	if err := u.state.finish(); err != nil {
		return nil, err
	}
	m, err := u.state.model()
	if err == nil {
		u.latest = m
	}
	return m, err
}

// A RowError reports a row that a model cannot be updated with.
type RowError struct {
	Row     int    // data row of a table, or row of a request, from 1
	Unit    string // what Row counts: "data row", or "row" of a request
	Column  string // "" if it is not about one
	Problem string
	Late    bool // it is of a period before the last one of the model
}

func (e *RowError) Error() string {
	where := fmt.Sprintf("%s %d", e.Unit, e.Row)
	if e.Column != "" {
		where += ", column " + e.Column
	}
	return where + ": " + e.Problem
}

// Options specify how rows are taken in.
type Options struct {
	// Remove takes rows out that the model was fitted to or took in before.
	Remove bool
	// Late takes in rows of periods before the last one of the model.
	Late bool
	// Local moves only the blocks of the rows themselves, and of these only those that few
	// other rows have moved, so that a single row costs the same however many came before
	// it. Model moves all blocks to their joint optimum.
	Local bool
}

// batch is a set of rows of an update. Ids that the model does not contain have negative
// codes.
type batch struct {
	rows   ledger.Rows
	id     func(mode, i int) string
	number func(i int) int // of a row, in messages
	unit   string
}

// take takes in a batch: all of its rows or none.
func (u *Updater) take(ctx context.Context, b *batch, opt Options) (*Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report := newReport(b.rows.Len(), u.trainedN)
	if b.rows.Len() == 0 {
		return report, nil
	}
	if err := u.checkTimes(b, opt); err != nil {
		return nil, err
	}
	if opt.Remove {
		return report, u.remove(b, report)
	}
	if err := u.checkRepeats(b); err != nil {
		return nil, err
	}
	s := u.state
	grown, err := s.withIDs(b, report)
	if err != nil {
		return nil, err
	}
	before := s.fitted
	s.setFitted(grown)
	first := s.rows.Len()
	if !opt.Local {
		_, _, report.Repeated = match(s.rows, b.rows)
	}
	touched := s.add(b.rows)
	report.observe(s, first)
	if err := u.move(touched, first, opt.Local); err != nil {
		book := *s.book
		book.Rows = s.rows.Select(count(first))
		again, failed := replay(before, &book, s.engine)
		if failed != nil {
			return nil, failed
		}
		u.state = again
		return nil, err
	}
	report.finish(s, first, touched)
	u.latest = nil
	u.findEnd(b.rows)
	return report, nil
}

// count returns the numbers from 0 to n-1.
func count(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// findEnd finds the last period after rows were taken in.
func (u *Updater) findEnd(rows ledger.Rows) {
	p := u.state.fitted.Series()
	if p == nil {
		return
	}
	u.end = max(u.end, p.End)
	if rows.Len() == 0 {
		return
	}
	ids, seen := u.state.fitted.Dicts()[p.Time], map[int32]bool{}
	for i, code := range rows.Codes[p.Time] {
		if seen[code] || rows.Sign(i) < 0 {
			continue
		}
		seen[code] = true
		if step, ok := p.Line.Step(ids.ID(code)); ok {
			u.end = max(u.end, step)
		}
	}
}

// move moves blocks after rows from first on were added.
func (u *Updater) move(touched []mover, first int, local bool) error {
	s := u.state
	if !local {
		return s.finish()
	}
	rows := make([]int32, 0, s.rows.Len()-first)
	for i := first; i < s.rows.Len(); i++ {
		rows = append(rows, int32(i))
	}
	light := slices.DeleteFunc(slices.Clone(touched), func(m mover) bool {
		own, ok := m.(*slot)
		return ok && (own.block.shared || len(own.rows) > localRows)
	})
	return s.settle(light, rows, localPasses)
}

// checkTimes refuses rows of periods before the end of the model or far after it, and ids of
// time that are not a step of its series. All series are forecast from the last period that
// has rows, so a mistaken year would move all of them; the limit is that of the horizon of
// forecasts, the number of periods of the fit.
func (u *Updater) checkTimes(b *batch, opt Options) error {
	m := u.state.fitted
	modes := m.Modes()
	for at := range modes {
		if m.Timeline(at) == nil {
			continue
		}
		for i, code := range b.rows.Codes[at] {
			if _, ok := m.TimeStep(at, b.id(at, i)); !ok && code < 0 {
				return &RowError{Row: b.number(i), Unit: b.unit, Column: modes[at].Name, Problem: fmt.Sprintf("%q is not a period of the model's series, or lies before their first", b.id(at, i))}
			}
		}
	}
	p := m.Series()
	if p == nil {
		return nil
	}
	for i := range b.rows.Len() {
		id := b.id(p.Time, i)
		step, ok := p.Line.Step(id)
		if !ok && b.rows.Codes[p.Time][i] < 0 {
			last, _ := p.Line.ID(p.End)
			return &RowError{Row: b.number(i), Unit: b.unit, Column: modes[p.Time].Name, Problem: fmt.Sprintf("%q is not a period such as %s, the last one of the fit", id, last)}
		}
		end := u.end
		if p.Own {
			s := p.Find(b.rows.Codes, i)
			if s < 0 {
				continue // a new series begins where it likes
			}
			end = p.Origin(s)
		}
		if ok && step < end && !opt.Late && !opt.Remove {
			return &RowError{Row: b.number(i), Unit: b.unit, Column: modes[p.Time].Name, Problem: fmt.Sprintf("%s is before the last period of the model; rows of earlier periods are accepted only on request, because they may be in the model already", id), Late: true}
		}
		if limit := p.End + 1; ok && step > end+limit && !opt.Remove {
			last, err := p.Line.ID(end)
			if err != nil {
				return err
			}
			return &RowError{Row: b.number(i), Unit: b.unit, Column: modes[p.Time].Name, Problem: fmt.Sprintf("%s is %d periods after %s, the last one of the model, which was fitted to %d; check the row, and if it is right, add rows of the periods before it first or fit the model again", id, step-end, last, limit)}
		}
	}
	return nil
}

// checkRepeats refuses a cell that two rows of a batch have, unless the fit had a rule for
// such rows.
func (u *Updater) checkRepeats(b *batch) error {
	if s := u.state.fitted.Spec(); b.rows.Len() < 2 || s.Data.Duplicates != "error" {
		return nil
	}
	seen := map[string]int{}
	for i := range b.rows.Len() {
		cell := ""
		for mode := range b.rows.Codes {
			if !u.state.fitted.Modes()[mode].Covariate() {
				cell += b.id(mode, i) + "\x00"
			}
		}
		if first, twice := seen[cell]; twice {
			return &RowError{Row: b.number(i), Unit: b.unit, Problem: fmt.Sprintf("it has the same cell as %s %d, and the model was fitted to one row per cell", b.unit, b.number(first))}
		}
		seen[cell] = i
	}
	return nil
}

// withIDs returns the fitted model with the new ids of a batch, and sets their codes.
func (s *state) withIDs(b *batch, report *Report) (*model.Model, error) {
	modes := s.fitted.Modes()
	fresh := make([][]string, len(modes))
	for m, column := range b.rows.Codes {
		seen := map[string]bool{}
		for i, code := range column {
			if code >= 0 {
				if !modes[m].Smooth() && !s.hasRows(m, code) && !seen[s.fitted.Dicts()[m].ID(code)] {
					seen[s.fitted.Dicts()[m].ID(code)] = true
					report.New = addNew(report.New, modes[m].Name, 1)
				}
				continue
			}
			id := b.id(m, i)
			if id == "" {
				return nil, &RowError{Row: b.number(i), Unit: b.unit, Column: modes[m].Name, Problem: "the id is empty"}
			}
			if !seen[id] {
				seen[id] = true
				fresh[m] = append(fresh[m], id)
			}
		}
		if len(fresh[m]) > 0 && !modes[m].Smooth() {
			report.New = addNew(report.New, modes[m].Name, len(fresh[m]))
		}
	}
	grown := s.fitted
	if slices.ContainsFunc(fresh, func(ids []string) bool { return len(ids) > 0 }) {
		var err error
		if grown, err = s.fitted.WithIDs(fresh); err != nil {
			return nil, err
		}
	}
	for m, column := range b.rows.Codes {
		for i, code := range column {
			if code < 0 {
				column[i] = grown.Code(m, b.id(m, i))
			}
		}
	}
	return grown, nil
}

// hasRows reports whether an id has rows in the fit or in the ledger.
func (s *state) hasRows(mode int, code int32) bool {
	return s.fitted.TrainingRows(mode, code) > 0 || s.taken[mode][code]
}

// setFitted replaces the fitted model by one that differs in ids without rows.
func (s *state) setFitted(m *model.Model) {
	s.fitted = m
	for i, b := range s.series {
		b.term = m.Field().Series[i]
	}
}

// WithSide gives new ids side information from tables, as [model.Model.WithSide] does. Call
// it before rows of these ids are taken in.
func (u *Updater) WithSide(ctx context.Context, sides []string, tables map[string]tableio.Source) error {
	extended, err := u.state.fitted.WithSide(ctx, sides, tables)
	if err != nil {
		return err
	}
	book := *u.state.book
	book.Rows = u.state.rows
	again, err := replay(extended, &book, u.state.engine)
	if err != nil {
		return err
	}
	u.state, u.latest = again, nil
	return ctx.Err()
}
