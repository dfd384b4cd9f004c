package sideinfo

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/kernel-fried-tensor/kft/backend"
	"github.com/kernel-fried-tensor/kft/kernel"
)

// NamedTensor is one array of the state of an operator.
type NamedTensor struct {
	Name  string
	Shape []int
	F32   []float32
}

// state is the persisted form of an operator. Its text is one JSON object, which
// keeps all digits of the numbers.
type state struct {
	Kind, Form string
	Rows       int
	Names      []string  `json:",omitempty"`
	Origins    []string  `json:",omitempty"`
	Unit       []float64 `json:",omitempty"`
	Width      int       // number of columns of the features
	Intercept  bool
	LogC       float64
	Kernel     string    `json:",omitempty"`
	Params     []float64 `json:",omitempty"`
	Features   int       `json:",omitempty"` // number of random features requested
	Constant   float64   `json:",omitempty"` // c if it is part of the matrix
	Kept       []int     `json:",omitempty"`
	Scale      float64   `json:",omitempty"` // of linear features; 0 means 1

	tensors []NamedTensor
}

func (s *state) kernel(k kernel.Kernel) { s.Kernel, s.Params = k.String(), k.Params() }

func (s *state) add(name string, values []float32, shape ...int) {
	s.tensors = append(s.tensors, NamedTensor{Name: name, Shape: shape, F32: values})
}

func (s *state) points(name string, x kernel.Rows) { s.add(name, x.X, x.N, x.C) }

func (l *linear) state(s *state) { s.Kept, s.Scale = l.Kept, l.Scale }

func (w *fourierBasis) state(s *state) {
	s.kernel(w.k)
	s.Features = w.features
	frequencies := w.spectrum.Frequencies()
	s.add("frequencies", frequencies, len(frequencies))
}

func (p *pivots) state(s *state) {
	s.kernel(p.k)
	s.points("pivots", p.z)
}

func (e *eigen) state(s *state) {
	s.kernel(e.k)
	s.points("points", e.x)
	s.add("projection", e.projection, e.x.N, e.m)
}

func (w *kernelColumns) state(s *state) {
	s.kernel(w.k)
	s.Constant = w.c
	s.points("points", w.x)
}

const metaKey = "operator"

// State returns what NewRows needs, for a model file: a text, and arrays that share
// memory with the operator. The arrays do not include the matrix; callers that need
// it after Restore add MatrixTensors.
func State(op Operator) (meta map[string]string, tensors []NamedTensor) {
	inner := original(op).(*operator)
	s := &state{Kind: inner.kind, Form: inner.basis.form(), Rows: inner.n, Names: inner.table.Names, Origins: inner.table.Origins, Unit: inner.table.Unit, Width: inner.table.C,
		Intercept: inner.intercept, LogC: inner.logC}
	inner.basis.state(s)
	if inner.rotation != nil {
		s.add("rotation", inner.rotation, inner.Columns(), inner.Columns())
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("sideinfo: state: " + err.Error())
	}
	return map[string]string{metaKey: string(text)}, s.tensors
}

const matrixName = "matrix"

// residualName is the name of the array of residual variances in model files.
const residualName = "lost"

// MatrixTensors returns the matrix and the residual variance of its rows as arrays
// for Restore, which cannot recompute them.
func MatrixTensors(op Operator) []NamedTensor {
	tensors := []NamedTensor{{Name: matrixName, Shape: []int{op.Rows(), op.Columns()}, F32: op.Matrix()}}
	if residual := ResidualVariance(op); residual != nil {
		tensors = append(tensors, NamedTensor{Name: residualName, Shape: []int{len(residual)}, F32: residual})
	}
	return tensors
}

// Restore returns the operator of a state. The operator has the same NewRows and no
// parameters to learn. It has a matrix, including the rows of WithAddedRows, only if
// the arrays include MatrixTensors.
func Restore(b backend.Backend, meta map[string]string, tensors []NamedTensor) (Operator, error) {
	var s state
	if err := json.Unmarshal([]byte(meta[metaKey]), &s); err != nil {
		return nil, fmt.Errorf("state of an operator: %w", err)
	}
	if s.Kind == unwhitenedBefore {
		s.Kind = unwhitened
	}
	s.tensors = tensors
	if problem := s.problem(); problem != "" {
		return nil, fmt.Errorf("state of an operator: %s", problem)
	}
	bs, err := s.basis()
	if err != nil {
		return nil, fmt.Errorf("state of a %s operator: %w", s.Kind, err)
	}
	o := &operator{b: b, kind: s.Kind, basis: bs, n: s.Rows, table: s.table(), intercept: s.Intercept, logC: s.LogC}
	m := o.Columns()
	if s.has("rotation") {
		if o.rotation, err = s.tensor("rotation", m, m); err != nil {
			return nil, err
		}
	}
	if s.has(matrixName) {
		matrix, err := s.tensor(matrixName, -1, m)
		if err != nil {
			return nil, err
		}
		switch rows := len(matrix) / max(m, 1); {
		case rows > o.n:
			var residual []float32
			if s.has(residualName) {
				if residual, err = s.tensor(residualName, rows); err != nil {
					return nil, err
				}
			}
			for _, v := range residual {
				if v < 0 {
					return nil, fmt.Errorf("state of a %s operator: the residual variance %g is negative", s.Kind, v)
				}
			}
			return WithAddedRows(o, matrix, residual), nil
		case rows < o.n:
			return nil, fmt.Errorf("state of a %s operator: the matrix has %d rows, expected %d", s.Kind, rows, o.n)
		}
		o.matrix = matrix
	}
	return o, nil
}

// WithMatrix returns a restored operator with the matrix and the residual variance of its rows, which NewRows
// computed.
func WithMatrix(op Operator, matrix, residual []float32) Operator {
	o := *op.(*operator)
	if len(matrix) == o.n*o.Columns() {
		o.matrix = matrix
		return &o
	}
	return WithAddedRows(&o, matrix, residual)
}

// maxStoredTheta bounds the parameters of a stored operator. It is above maxTheta,
// because parameters that are not learned may lie beyond that.
const maxStoredTheta = 80

// problem returns what is inconsistent in the description, "" for nothing.
func (s *state) problem() string {
	switch {
	case s.Rows < 1 || s.Rows > math.MaxInt32 || s.Width < 1 || s.Width > math.MaxInt32:
		return fmt.Sprintf("%d rows and %d columns", s.Rows, s.Width)
	case s.Names != nil && len(s.Names) != s.Width || s.Origins != nil && len(s.Origins) != len(s.Names) || s.Unit != nil && len(s.Unit) != s.Width:
		return fmt.Sprintf("%d names, %d origins and %d units for %d columns", len(s.Names), len(s.Origins), len(s.Unit), s.Width)
	case !(math.Abs(s.LogC) <= maxStoredTheta):
		return fmt.Sprintf("an intercept of e^%g", s.LogC)
	case s.Features < 0 || s.Features > math.MaxInt32:
		return fmt.Sprintf("%d features", s.Features)
	case !(math.Abs(s.Scale) <= math.MaxFloat32) || !(s.Constant >= 0 && s.Constant <= math.MaxFloat32):
		return fmt.Sprintf("the scale %g and the constant %g", s.Scale, s.Constant)
	}
	for _, v := range s.Unit {
		if !(v > 0 && v <= math.MaxFloat64) {
			return fmt.Sprintf("the unit %g of a column", v)
		}
	}
	return ""
}

// FeatureColumns returns the number of columns of the features that NewRows expects.
func FeatureColumns(op Operator) int { return original(op).(*operator).table.C }

// table returns the description of the columns of the features.
func (s *state) table() Features {
	return Features{C: s.Width, Names: s.Names, Origins: s.Origins, Unit: s.Unit}
}

func (s *state) has(name string) bool {
	return slices.ContainsFunc(s.tensors, func(t NamedTensor) bool { return t.Name == name })
}

// tensor returns the array with a name and a shape; -1 accepts any size.
func (s *state) tensor(name string, shape ...int) ([]float32, error) {
	for _, t := range s.tensors {
		if t.Name != name {
			continue
		}
		size := 1
		for i, n := range t.Shape {
			if n < 0 || len(t.Shape) != len(shape) || shape[i] >= 0 && shape[i] != n {
				return nil, fmt.Errorf("array %q has shape %v, expected %v", name, t.Shape, shape)
			}
			size *= n
		}
		if len(t.F32) != size {
			return nil, fmt.Errorf("array %q has %d values for shape %v", name, len(t.F32), t.Shape)
		}
		return t.F32, nil
	}
	return nil, fmt.Errorf("array %q is missing", name)
}

func (s *state) rows(name string, n int) (kernel.Rows, error) {
	x, err := s.tensor(name, n, s.Width)
	return kernel.Rows{N: len(x) / s.Width, C: s.Width, X: x}, err
}

func (s *state) basis() (basis, error) {
	if s.Form == "linear" {
		for _, c := range s.Kept {
			if c < 0 || c >= s.Width {
				return nil, fmt.Errorf("column %d is out of range for %d columns", c, s.Width)
			}
		}
		return &linear{Kept: s.Kept, Scale: s.Scale}, nil
	}
	k, err := kernel.Parse(s.Kernel)
	if err != nil {
		return nil, err
	}
	if k, err = kernel.Bind(k, s.table().columns()); err != nil {
		return nil, err
	}
	if len(k.Params()) != len(s.Params) {
		return nil, fmt.Errorf("kernel %s has %d parameters, expected %d", k, len(s.Params), len(k.Params()))
	}
	for _, v := range s.Params {
		if !(math.Abs(v) <= maxStoredTheta) {
			return nil, fmt.Errorf("kernel %s has the parameter e^%g", k, v)
		}
	}
	k.SetParams(s.Params)
	switch s.Form {
	case "fourier":
		frequencies, err := s.tensor("frequencies", -1)
		if err != nil {
			return nil, err
		}
		spectrum, err := kernel.RestoreSpectrum(k, s.Features, frequencies)
		return &fourierBasis{k: k, features: s.Features, spectrum: spectrum}, err
	case "pivots":
		z, err := s.rows("pivots", -1)
		if err != nil {
			return nil, err
		}
		p := &pivots{k: k, z: z}
		return p, p.moved()
	case "eigen":
		x, err := s.rows("points", s.Rows)
		if err != nil {
			return nil, err
		}
		projection, err := s.tensor("projection", s.Rows, -1)
		if err != nil {
			return nil, err
		}
		return &eigen{k: k, x: x, m: len(projection) / s.Rows, projection: projection}, nil
	case "whole":
		x, err := s.rows("points", s.Rows)
		return &kernelColumns{k: k, x: x, c: s.Constant}, err
	}
	return nil, fmt.Errorf("unknown form %q", s.Form)
}
