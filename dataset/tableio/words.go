package tableio

import (
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/internal/fieldtext"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
)

// readTargets reads the targets of the rows in keep up to the first bad one. Missing
// targets are NaN and are counted. A target of words, such as no and yes, is read as 0
// and 1, if the schema allows it; it may contain no other numbers.
func (t *openTable) readTargets(dst []float32, r rowset, keep []int32, allowed bool) (good, missing int, words bool, problem *dataset.InputError) {
	c := t.columns.Target
	good, missing, kind := r.Numbers(dst, c, keep)
	if good == len(keep) {
		return good, missing, false, nil
	}
	if _, is := fieldtext.Flag(string(r.Field(int(keep[good]), c))); !is || !allowed || !zeroOrOne(dst[:good]) {
		return good, missing, false, t.targetProblem(r, int(keep[good]), kind)
	}
	for ; good < len(keep); good++ {
		row := int(keep[good])
		text := strings.ToLower(string(r.Field(row, c)))
		v, is := fieldtext.Flag(text)
		if !is {
			v, kind = numeric.Parse([]byte(text))
			is = kind == numeric.Finite && zeroOrOne([]float32{v}) || kind == numeric.Missing
			if kind == numeric.Missing {
				missing++
			}
		}
		if !is {
			return good, missing, true, notZeroOrOne(dataset.InputError{Line: r.Line(row), Column: t.Names[c], Value: string(r.Field(row, c))})
		}
		dst[good] = v
	}
	return good, missing, true, nil
}

// zeroOrOne reports whether every target is 0, 1 or missing.
func zeroOrOne(y []float32) bool {
	for _, v := range y {
		if v == v && v != 0 && v != 1 {
			return false
		}
	}
	return true
}

// notZeroOrOne completes the problem of a target in a column of words.
func notZeroOrOne(e dataset.InputError) *dataset.InputError {
	e.Problem = "this is neither yes nor no, true nor false, 1 nor 0, but other rows have such words"
	e.Remedy, e.Field = "fix it, or leave it empty if the target is missing", "data.target"
	return &e
}

// checkWords returns an error if some rows of a table have words and another has a number
// that is neither 0 nor 1.
func (b *builder) checkWords(column string) error {
	if !b.words {
		return nil
	}
	for i, v := range b.table.Y {
		if v != 0 && v != 1 {
			at := b.placeOf(b.table.SourceRow(i))
			return notZeroOrOne(dataset.InputError{File: at.File, Line: at.Line, Unit: at.Unit, Column: column, Value: fmt.Sprint(v)})
		}
	}
	return nil
}

// readMarks reads the column that marks censored targets up to the first bad row: 1 or a
// word such as yes, or 0, a word such as no, or nothing.
func (t *openTable) readMarks(dst []float32, r rowset, keep []int32) (good int, problem *dataset.InputError) {
	c := t.columns.Censored
	for k, row := range keep {
		text := strings.ToLower(string(r.Field(int(row), c)))
		v, is := fieldtext.Flag(text)
		if number, kind := numeric.Parse([]byte(text)); !is && (kind == numeric.Missing || kind == numeric.Finite && (number == 0 || number == 1)) {
			is = true
			if kind == numeric.Finite {
				v = number
			}
		}
		if !is {
			return k, &dataset.InputError{Line: r.Line(int(row)), Column: t.Names[c], Value: string(r.Field(int(row), c)), Problem: "this does not say whether the target is censored",
				Remedy: "write yes or 1 if the true value may be higher, no, 0 or nothing otherwise", Field: "data.censored"}
		}
		dst[k] = v
	}
	return len(keep), nil
}
