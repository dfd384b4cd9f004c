// Package ledger holds what a model keeps to take in new rows after its fit: the
// statistics of the training rows, and the rows that were added or removed since.
package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/internal/gather"
	"github.com/kernel-fried-tensor/kft/modelfile"
)

// A Ledger belongs to a fitted model. It does not change after it was made.
type Ledger struct {
	// Noise is the noise variance of a row of mean weight, on the standardised scale, and
	// Weight the mean weight of the training rows. Noise is 1 for likelihoods with sites. For
	// rows with a noise of their own it is the number of them that tell as much as one: above
	// 1 for several targets with common errors.
	Noise, Weight float64

	// Cold is the mode whose ids had no training rows in the rows that corrections of
	// intervals and means were learned from, "" if they had: with a split by entity. The
	// corrections are not for ids that got rows since.
	Cold string

	// Relations are those of the outer cores whose slices have several independent
	// weights.
	Relations []Relation

	Curves Curves     // nothing if the model has none
	PerID  []Relation // curves per id: the precision of the training rows of each entity with such rows

	Rows Rows // taken in since the fit
}

// Taken returns the number of rows taken in since the fit, 0 for a nil ledger.
func (l *Ledger) Taken() int {
	if l == nil {
		return 0
	}
	return l.Rows.Len()
}

// A Relation completes the posterior of an outer core. With the other cores fixed, the
// posterior of the r weights of an entity is normal with a full precision matrix P, of
// which an independent posterior has the diagonal only. Values holds the entries below the
// diagonal of
//
//	P_ij / sqrt(P_ii P_jj),
//
// row after row, r (r - 1) / 2 for each entity with training data.
type Relation struct {
	Term, Core int
	Values     []float32
}

// Curves are what the training rows say about the weights of all curves that every row moves. Values has the
// lower triangle, with the diagonal, of the precision matrix of the weights of the cores, one core after the other, without that of
// the prior.
type Curves struct {
	Cores  [][2]int // term and core
	Values []float32
}

// MostCurves is the largest number of weights of curves that move together.
const MostCurves = 1 << 12

// Rows are rows that a model took in. Their codes are those of the model's dictionaries.
type Rows struct {
	Codes    [][]int32 // by mode
	Y        []float64 // in the user's units
	W        []float32 // nil means 1
	Exposure []float32 // nil means 1
	Censored []float32 // above 0 for values known from below only; nil for none
	Removed  []uint8   // 1 for a row that was taken out again; nil for none
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Y) }

// Sign returns -1 for a removed row and 1 for another.
func (r *Rows) Sign(i int) float64 {
	if r.Removed != nil && r.Removed[i] == 1 {
		return -1
	}
	return 1
}

// Append returns the rows of r followed by those of o. It copies neither the rows of r nor
// changes them if r was returned by Append and nothing else was appended to it since.
func (r Rows) Append(o Rows) Rows {
	out := Rows{Y: append(r.Y, o.Y...)}
	n, m := len(r.Y), len(o.Y)
	for mode := range o.Codes {
		var own []int32
		if r.Codes != nil {
			own = r.Codes[mode]
		}
		out.Codes = append(out.Codes, append(own, o.Codes[mode]...))
	}
	out.W, out.Exposure = join(r.W, n, o.W, m, 1), join(r.Exposure, n, o.Exposure, m, 1)
	out.Censored, out.Removed = join(r.Censored, n, o.Censored, m, 0), join(r.Removed, n, o.Removed, m, 0)
	return out
}

// join appends optional columns of n and m rows, whose absent values are missing.
func join[T float32 | uint8](a []T, n int, b []T, m int, missing T) []T {
	if a == nil && b == nil {
		return nil
	}
	if a == nil {
		a = slices.Repeat([]T{missing}, n)
	}
	if b == nil {
		b = slices.Repeat([]T{missing}, m)
	}
	return append(a, b...)
}

// Clip returns rows to which nothing can be appended in place.
func (r Rows) Clip() Rows {
	codes := make([][]int32, len(r.Codes))
	for m, c := range r.Codes {
		codes[m] = slices.Clip(c)
	}
	return Rows{codes, slices.Clip(r.Y), slices.Clip(r.W), slices.Clip(r.Exposure), slices.Clip(r.Censored), slices.Clip(r.Removed)}
}

// Meta is the text of a ledger in a model file.
type Meta struct {
	Noise  float64  `json:"noise"`
	Weight float64  `json:"weight"`
	Cold   string   `json:"cold,omitempty"`
	Cores  [][2]int `json:"cores,omitempty"` // term and core of each relation
	Curves [][2]int `json:"curves,omitempty"`
	PerID  [][2]int `json:"per_id,omitempty"`
	Rows   int      `json:"rows,omitempty"`
}

const folder = "update/"

func relationTensor(k int) string { return fmt.Sprintf("%srelation/%d", folder, k) }

func perIDTensor(k int) string { return fmt.Sprintf("%sper_id/%d", folder, k) }

// File returns the ledger as text and tensors.
func (l *Ledger) File() (Meta, []modelfile.Tensor) {
	meta := Meta{Noise: l.Noise, Weight: l.Weight, Cold: l.Cold, Rows: l.Rows.Len()}
	var tensors []modelfile.Tensor
	for k, r := range l.Relations {
		meta.Cores = append(meta.Cores, [2]int{r.Term, r.Core})
		tensors = append(tensors, modelfile.NewTensor(relationTensor(k), r.Values, len(r.Values)))
	}
	for k, r := range l.PerID {
		meta.PerID = append(meta.PerID, [2]int{r.Term, r.Core})
		tensors = append(tensors, modelfile.NewTensor(perIDTensor(k), r.Values, len(r.Values)))
	}
	if meta.Curves = l.Curves.Cores; meta.Curves != nil {
		tensors = append(tensors, modelfile.NewTensor(folder+"curves", l.Curves.Values, len(l.Curves.Values)))
	}
	n := l.Rows.Len()
	if n == 0 {
		return meta, tensors
	}
	codes := make([]int32, 0, n*len(l.Rows.Codes))
	for _, column := range l.Rows.Codes {
		codes = append(codes, column...)
	}
	tensors = append(tensors, modelfile.NewTensor(folder+"codes", codes, len(l.Rows.Codes), n), modelfile.NewTensor(folder+"target", l.Rows.Y, n))
	for _, c := range l.Rows.optional() {
		if *c.to != nil {
			tensors = append(tensors, modelfile.NewTensor(folder+c.name, *c.to, n))
		}
	}
	if l.Rows.Removed != nil {
		tensors = append(tensors, modelfile.NewTensor(folder+"removed", l.Rows.Removed, n))
	}
	return meta, tensors
}

type column struct {
	name string
	to   *[]float32
}

func (r *Rows) optional() []column {
	return []column{{"weight", &r.W}, {"exposure", &r.Exposure}, {"censored", &r.Censored}}
}

// A Shape describes what a ledger belongs to: the number of ids by mode, and of a core the number of its
// relations, the number of weights of its curve, and the number of entities with curves per id; false if it has none.
type Shape struct {
	Sizes     []int
	Relations func(term, core int) (values int, ok bool)
	Curve     func(term, core int) (weights int, ok bool)
	PerID     func(term, core int) (values int, ok bool)
}

// Read reads a ledger from a file and checks it: the file may come from anywhere.
func Read(f *modelfile.File, meta Meta, shape Shape) (*Ledger, error) {
	l := &Ledger{Noise: meta.Noise, Weight: meta.Weight, Cold: meta.Cold}
	if !positive(l.Noise) || !positive(l.Weight) {
		return nil, fmt.Errorf("its statistics have the noise %g and the weight %g", l.Noise, l.Weight)
	}
	for k, at := range meta.Cores {
		n, ok := shape.Relations(at[0], at[1])
		if !ok {
			return nil, fmt.Errorf("it has statistics of core %d of term %d", at[1], at[0])
		}
		values, err := modelfile.Values[float32](f, relationTensor(k), n)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if !(v >= -1 && v <= 1) {
				return nil, fmt.Errorf("a relation of core %d of term %d is %g", at[1], at[0], v)
			}
		}
		l.Relations = append(l.Relations, Relation{at[0], at[1], values})
	}
	if err := l.readCurves(f, meta, shape); err != nil {
		return nil, err
	}
	if meta.Rows < 0 {
		return nil, fmt.Errorf("it took in %d rows", meta.Rows)
	}
	if meta.Rows == 0 {
		return l, nil
	}
	return l, l.readRows(f, meta.Rows, shape.Sizes)
}

func (l *Ledger) readCurves(f *modelfile.File, meta Meta, shape Shape) error {
	for k, at := range meta.PerID {
		n, ok := shape.PerID(at[0], at[1])
		if !ok {
			return fmt.Errorf("it has the statistics of curves per id of core %d of term %d", at[1], at[0])
		}
		values, err := modelfile.Values[float32](f, perIDTensor(k), n)
		if err != nil {
			return err
		}
		if n > 0 && !(slices.Min(values) >= 0) {
			return fmt.Errorf("a precision of core %d of term %d is %g", at[1], at[0], slices.Min(values))
		}
		l.PerID = append(l.PerID, Relation{at[0], at[1], values})
	}
	if len(meta.Curves) == 0 {
		return nil
	}
	n := 0
	for i, at := range meta.Curves {
		weights, ok := shape.Curve(at[0], at[1])
		if n += weights; !ok || n > MostCurves || slices.Contains(meta.Curves[:i], at) {
			return fmt.Errorf("it has the statistics of a curve of core %d of term %d", at[1], at[0])
		}
	}
	values, err := modelfile.Values[float32](f, folder+"curves", n*(n+1)/2)
	if err != nil {
		return err
	}
	entry := func(i, j int) float64 { return float64(values[i*(i+1)/2+j]) }
	for i := range n {
		for j := range i + 1 {
			if most := math.Sqrt(entry(i, i) * entry(j, j)); !(math.Abs(entry(i, j)) <= 1.001*most) || entry(i, i) < 0 {
				return fmt.Errorf("the weights %d and %d of its curves have the precision %g, and at most %g is possible", i, j, entry(i, j), most)
			}
		}
	}
	l.Curves = Curves{meta.Curves, values}
	return nil
}

func (l *Ledger) readRows(f *modelfile.File, n int, sizes []int) error {
	r := &l.Rows
	var err error
	if r.Y, err = modelfile.Values[float64](f, folder+"target", n); err != nil {
		return err
	}
	codes, err := modelfile.Values[int32](f, folder+"codes", len(sizes), n)
	if err != nil {
		return err
	}
	for mode, size := range sizes {
		column := codes[mode*n : (mode+1)*n]
		if slices.Min(column) < 0 || int(slices.Max(column)) >= size {
			return errors.New("a row that was taken in has an id that does not exist")
		}
		r.Codes = append(r.Codes, column)
	}
	for _, c := range r.optional() {
		if _, has := f.Tensor(folder + c.name); !has {
			continue
		}
		if *c.to, err = modelfile.Values[float32](f, folder+c.name, n); err != nil {
			return err
		}
		for _, v := range *c.to {
			if !(v > 0) && c.name != "censored" || !(v >= 0) {
				return fmt.Errorf("a row that was taken in has the %s %g", c.name, v)
			}
		}
	}
	if _, has := f.Tensor(folder + "removed"); has {
		if r.Removed, err = modelfile.Values[uint8](f, folder+"removed", n); err != nil {
			return err
		}
	}
	return nil
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// Select returns a copy of the given rows, in their order.
func (r *Rows) Select(rows []int) Rows {
	out := Rows{Y: gather.Rows(r.Y, rows), W: gather.Rows(r.W, rows), Exposure: gather.Rows(r.Exposure, rows), Censored: gather.Rows(r.Censored, rows), Removed: gather.Rows(r.Removed, rows)}
	for _, column := range r.Codes {
		out.Codes = append(out.Codes, gather.Rows(column, rows))
	}
	return out
}
