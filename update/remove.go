package update

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/ledger"
)

// remove takes rows out. Rows that the model took in after its fit are struck from the
// ledger; the others get a negative precision.
func (u *Updater) remove(b *batch, report *Report) error {
	s := u.state
	rows, modes := b.rows, s.fitted.Modes()
	for m, column := range rows.Codes {
		for i, code := range column {
			if code < 0 && !modes[m].Smooth() {
				return &RowError{Row: b.number(i), Unit: b.unit, Column: modes[m].Name, Problem: fmt.Sprintf("the model has no id %q, so this row is neither of the fit nor of an update", b.id(m, i))}
			}
		}
	}
	fitted, err := s.withIDs(b, newReport(0, 0)) // values of covariates between those of the fit
	if err != nil {
		return err
	}
	kept, rest, struck := strike(s.rows, rows)
	report.Struck = struck
	if rest.Len() > 0 {
		rest.Removed = slices.Repeat([]uint8{1}, rest.Len())
	}
	for i := range rest.Len() {
		for m, column := range rest.Codes {
			if fitted.TrainingRows(m, column[i]) == 0 && !modes[m].Smooth() {
				return &RowError{Row: b.number(rest.at[i]), Unit: b.unit, Column: modes[m].Name, Problem: fmt.Sprintf("the model was not fitted to rows of %q, and this row is not of an update", fitted.Dicts()[m].ID(column[i]))}
			}
		}
	}
	book := *s.book
	book.Rows = kept.Append(rest.Rows)
	again, err := replay(fitted, &book, s.engine)
	if err != nil {
		var out *takenOutError
		if errors.As(err, &out) {
			i := max(int(out.row)-kept.Len(), 0)
			return &RowError{Row: b.number(rest.at[i]), Unit: b.unit, Problem: "the model does not contain this row: without it no valid weights of its ids are left; remove only rows of the fit or of earlier updates, with the same target and weight"}
		}
		return err
	}
	report.Rows, report.Removed = 0, rows.Len()
	report.finish(again, 0, again.all())
	u.state, u.latest = again, nil
	return nil
}

// numbered are rows with their positions in a batch.
type numbered struct {
	ledger.Rows
	at []int
}

// strike returns the rows of a ledger without those to remove, and the rows to remove
// that the ledger does not have.
func strike(have, remove ledger.Rows) (kept ledger.Rows, rest numbered, struck int) {
	keep, at, struck := match(have, remove)
	return have.Select(keep), numbered{Rows: remove.Select(at), at: at}, struck
}

// match finds rows in a ledger that are the same in all columns. It returns the rows that the
// ledger keeps without them, the rows that it does not have, in order, and the number of the others.
func match(have, rows ledger.Rows) (keep, missing []int, found int) {
	type key struct {
		cell    string
		y       float64
		w, e, c float32
	}
	at := func(r *ledger.Rows, i int) key {
		combo := make([]int32, len(r.Codes))
		for m := range combo {
			combo[m] = r.Codes[m][i]
		}
		k := key{cell: keyOf(combo), y: r.Y[i], w: 1, e: 1}
		if r.W != nil {
			k.w = r.W[i]
		}
		if r.Exposure != nil {
			k.e = r.Exposure[i]
		}
		if r.Censored != nil {
			k.c = r.Censored[i]
		}
		return k
	}
	wanted := map[key][]int{}
	for i := range rows.Len() {
		k := at(&rows, i)
		wanted[k] = append(wanted[k], i)
	}
	for i := range have.Len() {
		k := at(&have, i)
		if have.Sign(i) > 0 && len(wanted[k]) > 0 {
			wanted[k] = wanted[k][1:]
			found++
			continue
		}
		keep = append(keep, i)
	}
	for _, left := range wanted {
		missing = append(missing, left...)
	}
	slices.Sort(missing)
	return keep, missing, found
}
