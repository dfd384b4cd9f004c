package tableio

import (
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/columnar"
	"github.com/kernel-fried-tensor/kft/dataset/delimited"
	"github.com/kernel-fried-tensor/kft/dataset/internal/modeid"
	"github.com/kernel-fried-tensor/kft/dataset/internal/numeric"
)

// rowset is a run of rows split into fields: textRows or typedRows.
type rowset interface {
	Len() int

	// Field returns field c of row i as trimmed text, valid until the next call.
	Field(i, c int) []byte

	// Line returns the line of row i, from 0 at the start of the run.
	Line(i int) int

	// RawLine returns row i as a line of text without line end.
	RawLine(i int) []byte

	// Numbers reads column c of the rows in keep. It returns the index in keep of the
	// first row whose field is not a finite number, with its kind, or len(keep). Missing
	// values are NaN and are counted.
	Numbers(dst []float32, c int, keep []int32) (good, missing int, kind numeric.Kind)

	// Texts copies the fields out, by columns.
	Texts() [][]string

	// Column returns a column to be written as a kind.
	Column(c int, kind columnar.Kind) columnar.Segment

	// codes writes the codes of the rows in keep in the mode of e, whose columns are at
	// the indexes at. It returns the index in keep of the first refused row and its
	// problem, or len(keep).
	codes(e *modeEncoder, dst []int32, at []int, keep []int32) (good int, problem modeid.Problem)
}

// textRows are rows of text.
type textRows struct{ delimited.Rows }

func (r *textRows) Column(c int, _ columnar.Kind) columnar.Segment {
	return columnar.Texts(r.Len(), func(i int) []byte { return r.Field(i, c) })
}

func (r *textRows) codes(e *modeEncoder, dst []int32, at []int, keep []int32) (int, modeid.Problem) {
	return e.text.Encode(dst, &r.Rows, at, keep)
}

// typedRows are rows of typed columns.
type typedRows struct{ columnar.Rows }

func (r *typedRows) codes(e *modeEncoder, dst []int32, at []int, keep []int32) (int, modeid.Problem) {
	return e.typed.Encode(dst, &r.Rows, at, keep)
}

// modeEncoder makes the codes of one mode. Each worker has its own.
type modeEncoder struct {
	ids   *modeid.Encoder
	text  *delimited.Encoder
	typed *columnar.Encoder
}

func newModeEncoder(ids *modeid.Encoder) *modeEncoder {
	return &modeEncoder{ids: ids, text: delimited.NewEncoder(ids), typed: columnar.NewEncoder(ids)}
}

// rowIndexes returns the indexes 0, ..., n-1. It extends *all if needed.
func rowIndexes(all *[]int32, n int) []int32 {
	for len(*all) < n {
		*all = append(*all, int32(len(*all)))
	}
	return (*all)[:n]
}

const (
	weightRemedy   = "write a weight of 0 or more in every row"
	exposureRemedy = "write an exposure above 0 in every row"
)

// targetRemedy returns how the table denotes a missing target.
func (t *openTable) targetRemedy() string {
	switch {
	case t.memory:
		return "use NaN, or an empty string in a column of strings, if the target is missing"
	case t.typed != nil:
		return "use null if the target is missing"
	}
	return "leave it empty or write NA if the target is missing"
}

// targetProblem describes a target that is not a finite number.
func (t *openTable) targetProblem(r rowset, row int, kind numeric.Kind) *dataset.InputError {
	e := t.numberProblem(r, row, t.columns.Target, kind, t.targetRemedy(), "data.target")
	if sign := t.numbers.LimitSign([]byte(e.Value)); sign != 0 {
		e.Problem, e.Remedy = "this is a limit, not a number", dataset.LimitRemedy(sign)
	}
	return e
}

// numberProblem describes a field of column c that is not a finite number.
func (t *openTable) numberProblem(r rowset, row, c int, kind numeric.Kind, remedy, field string) *dataset.InputError {
	e := &dataset.InputError{Line: r.Line(row), Column: t.Names[c], Value: string(r.Field(row, c)), Problem: "this is not a number", Remedy: "fix it, or " + remedy, Field: field}
	switch kind {
	case numeric.Text:
		if t.numbers.Plain() {
			for _, f := range []numeric.Format{{Decimal: '.', Thousands: ','}, {Decimal: ',', Thousands: '.'}, {Decimal: ',', Thousands: ' '}, {Decimal: '.', Thousands: '\''}} {
				if _, kind := f.Parse([]byte(e.Value)); kind == numeric.Finite {
					e.Problem = "this is not a plain number"
					e.Remedy = "if it is written with a decimal comma, with separators of thousands, with a sign of a currency or a percent sign, set data.decimal and data.thousands"
					break
				}
			}
		}
	case numeric.Infinite:
		e.Problem = "this number is not finite"
		if strings.ContainsAny(e.Value, "0123456789") {
			e.Problem = "this number exceeds the range of 32-bit numbers"
		}
	case numeric.NaN:
		e.Problem, e.Remedy = "this is NaN, not a number", remedy
	}
	return e
}

// readWeights reads the weights of the rows in keep up to the first bad one, and counts
// zeros. If optional is set, missing weights and zeros become 1.
func (t *openTable) readWeights(dst []float32, r rowset, keep []int32, optional bool) (good, zero int, problem *dataset.InputError) {
	c := t.columns.Weight
	good, _, kind := r.Numbers(dst, c, keep)
	if good < len(keep) {
		problem = t.numberProblem(r, int(keep[good]), c, kind, weightRemedy, "data.weight")
	}
	for k, w := range dst[:good] {
		if optional && (w == 0 || w != w) {
			dst[k], w = 1, 1
		}
		if w > 0 {
			continue
		}
		if w == 0 {
			zero++
			continue
		}
		row := int(keep[k])
		problem = &dataset.InputError{Line: r.Line(row), Column: t.Names[c], Value: string(r.Field(row, c)), Problem: "the weight is negative", Remedy: weightRemedy, Field: "data.weight"}
		if w != w {
			problem.Problem = "the weight is missing"
		}
		return k, zero, problem
	}
	return good, zero, problem
}

// readExposures reads the exposures of the rows in keep up to the first bad one. If
// optional is set, missing exposures become 1.
func (t *openTable) readExposures(dst []float32, r rowset, keep []int32, optional bool) (good int, problem *dataset.InputError) {
	c := t.columns.Exposure
	good, _, kind := r.Numbers(dst, c, keep)
	if good < len(keep) {
		problem = t.numberProblem(r, int(keep[good]), c, kind, exposureRemedy, "data.exposure")
	}
	for k, e := range dst[:good] {
		if optional && e != e {
			dst[k], e = 1, 1
		}
		if e > 0 {
			continue
		}
		row := int(keep[k])
		problem = &dataset.InputError{Line: r.Line(row), Column: t.Names[c], Value: string(r.Field(row, c)), Problem: "the exposure is not above 0", Remedy: exposureRemedy, Field: "data.exposure"}
		if e != e {
			problem.Problem = "the exposure is missing"
		}
		return k, problem
	}
	return good, problem
}
