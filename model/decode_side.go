package model

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/modelfile"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/sidetable"
)

func (d *decoder) side(of dataset.Mode, names []string) (*Side, error) {
	mode, ids := of.Name, len(names)
	if _, ok := d.f.Meta["side/"+mode]; !ok {
		return nil, nil
	}
	meta := sideMeta{Encoder: &sideinfo.Encoder{}}
	if err := d.get("side/"+mode, &meta); err != nil {
		return nil, err
	}
	if meta.Encoder == nil {
		return nil, errors.New("the encoder is missing")
	}
	folder := sideFolder(mode)
	var tensors []sideinfo.NamedTensor
	for _, t := range d.f.Tensors {
		if name, ok := strings.CutPrefix(t.Name, folder+"operator/"); ok {
			values, err := modelfile.Values[float32](d.f, t.Name)
			if err != nil {
				return nil, err
			}
			tensors = append(tensors, sideinfo.NamedTensor{Name: name, Shape: t.Shape, F32: values})
		}
	}
	op, err := sideinfo.Restore(d.m.engines.threaded(1), meta.Operator, tensors)
	if err != nil {
		return nil, err
	}
	has, err := modelfile.Values[uint8](d.f, folder+"has", ids)
	if err != nil {
		return nil, err
	}
	s := &Side{Encoder: meta.Encoder, Operator: op, Has: make([]bool, ids)}
	for i, v := range has {
		s.Has[i] = v == 1
	}
	if meta.Encoder.Spec().Mode != mode || len(meta.Encoder.Names()) != sideinfo.FeatureColumns(op) {
		return nil, fmt.Errorf("the encoder of mode %q gives %d columns, and the operator takes %d", meta.Encoder.Spec().Mode, len(meta.Encoder.Names()), sideinfo.FeatureColumns(op))
	}
	if op.Matrix() == nil && op.Rows() <= ids && recomputed(of, s) {
		matrix, lost, err := pointRows(of, s, names)
		if err != nil {
			return nil, err
		}
		op = sideinfo.WithMatrix(op, matrix, lost)
		s.Operator = op
	}
	if op.Rows() != ids || op.Matrix() == nil {
		return nil, fmt.Errorf("the operator has %d rows for %d ids", op.Rows(), ids)
	}
	return s, d.sideTable(s, mode, meta.Table)
}

// mostPoints bounds the numbers of an operator that a file leaves out.
const mostPoints = 1 << 27

// recomputed reports whether the operator of a mode follows from its ids, so that a file does not have its rows: they would
// be most of a model of points.
func recomputed(mode dataset.Mode, s *Side) bool {
	return mode.Joint() && len(s.Has)*s.Operator.Columns() <= mostPoints
}

// pointRows returns the operator rows of the ids of points, and what they lack: those of the fit together, as in
// the fit, and further ones each alone, as [Model.describeIDs] does.
func pointRows(mode dataset.Mode, s *Side, ids []string) (matrix, lost []float32, err error) {
	fitted := s.Operator.Rows()
	if columns := s.Encoder.Spec(); !columns.FromIDs() || len(columns.Columns) == 0 {
		return nil, nil, errors.New("the encoder of points has other columns than their numbers")
	}
	joined, err := sideinfo.JoinIDColumns(s.Encoder.Spec(), mode, ids[:fitted])
	if err != nil {
		return nil, nil, err
	}
	features, err := s.Encoder.Encode(joined.Rows)
	if err != nil {
		return nil, nil, err
	}
	if matrix, lost, err = s.Operator.NewRows(features); err != nil {
		return nil, nil, err
	}
	clear(lost)
	for i, id := range ids[fitted:] {
		row, gone := make([]float32, s.Operator.Columns()), []float32{0}
		if s.Has[fitted+i] {
			if features, err = s.Encoder.RowOfID(mode, id); err != nil {
				return nil, nil, err
			}
			if row, gone, err = s.Operator.NewRows(features); err != nil {
				return nil, nil, err
			}
		}
		matrix, lost = append(matrix, row...), append(lost, gone...)
	}
	return matrix, lost, nil
}

// sideTable reads the values of side rows. Files of earlier versions have none.
func (d *decoder) sideTable(s *Side, mode string, columns []string) error {
	if len(columns) == 0 {
		return nil
	}
	s.Table = &sidetable.Table{}
	for k, name := range columns {
		levels, of, err := d.levels(tableFolder(mode, k))
		if err != nil {
			return err
		}
		s.Table.Columns = append(s.Table.Columns, sidetable.Column{Name: name, Levels: levels, Of: of})
	}
	for _, name := range s.Encoder.Origins() {
		if s.Table.Column(name) == nil {
			return fmt.Errorf("the values of column %q are missing", name)
		}
	}
	return s.Table.Check(len(s.Has))
}
