package operators

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
)

// Kernels and numbers of columns of the operators of numeric and joint covariates. Curves are
// smooth, so a few columns represent the kernel over at most covariate.MaxBins bins; points have several
// dimensions, in which surfaces of public tables are rougher.
const (
	curveKernel  = "matern32+rbf" // steps are rough, and most curves smooth
	curveColumns = 32
	pointKernel  = "matern32"
	pointColumns = 256
)

// addCurves builds the operators of the numeric covariates: a kernel over the centres of
// their bins, and of the joint ones: a kernel over their points. Missing values have an indicator.
func (s *Set) addCurves() error {
	for at, mode := range s.in.Table.Modes {
		if !mode.Smooth() || mode.Joint() && len(s.in.Spec.UsedCovariates([]string{mode.String()})) == 0 {
			continue
		}
		if value, one := s.oneValue(at); one && mode.Derived() {
			field := "data.history"
			if mode.Lag() > 0 {
				field = "data.lags"
			}
			return fielderr.Errorf(field, "the covariate %s has only one value in the training rows, %q, so it carries no information; remove it", mode.Name, value)
		}
		side, report, err := s.curveFor(at)
		if err != nil {
			return fmt.Errorf("covariate %s: %w", mode.Name, err)
		}
		s.Side[at] = s.continuedCurve(at, side)
		s.Reports = append(s.Reports, report)
	}
	return nil
}

// oneValue returns the value of a covariate and whether no row has another, apart from missing ones.
func (s *Set) oneValue(at int) (value string, one bool) {
	for _, id := range s.in.Table.Dicts[at].IDs() {
		if id == dataset.MissingID || id == dataset.NoRowID {
			continue
		}
		if value != "" {
			return "", false
		}
		value = id
	}
	return value, value != ""
}

// continuedCurve returns the operator of a covariate with the columns that it had in the first training, if this one continues
// it: their axes depend on the training rows.
func (s *Set) continuedCurve(at int, side *model.Side) *model.Side {
	if s.in.Continued == nil {
		return side
	}
	before := s.in.Continued.SideOf(at)
	if before == nil || before.Operator.Rows() != side.Operator.Rows() || before.Operator.Columns() != side.Operator.Columns() {
		return side
	}
	out := *side
	out.Operator = before.Operator
	return &out
}

// curveOf returns the operator of a covariate, with columns along the principal axes of the training rows.
func (s *Set) curveOf(at int) (*model.Side, model.SideReport, error) {
	base := s.baseFor(at)
	report := base.report
	if base.err != nil {
		return nil, report, base.err
	}
	curve := *report.Curve
	curve.Missing = s.missing(at)
	report.Curve = &curve
	out := *base.side
	op := sideinfo.Clone(out.Operator)
	if err := sideinfo.Rotate(op, counts(s.in.Codes(dataset.Train)[at], op.Rows())); err != nil {
		return nil, report, err
	}
	out.Operator = op
	return &out, report, nil
}

// baseOf returns the operator of a covariate before its rotation, which is the same for all training rows.
func (s *Set) baseOf(at int) (*model.Side, model.SideReport, error) {
	mode, ids := s.in.Table.Modes[at], s.in.Table.Dicts[at].IDs()
	report := model.SideReport{Mode: mode.Name, Space: "dual", Kernel: curveKernel, Curve: &model.Curve{}}
	table, columns := sideinfo.Spec{Mode: mode.Name}, curveColumns
	add := func(name string, numbers *covariate.Grid) {
		kind := sideinfo.Num
		if numbers.Skewed() {
			kind = sideinfo.Log
		}
		table.Columns = append(table.Columns, sideinfo.ColumnSpec{Name: name, Type: kind})
	}
	if mode.Joint() {
		report.Kernel, columns = pointKernel, pointColumns
		for i, of := range mode.Members(s.in.Table.Modes) {
			add(mode.Columns[i], covariate.GridOf(s.in.Table.Dicts[of].IDs()))
		}
	} else {
		grid := covariate.GridOf(ids)
		add(mode.Name, grid)
		report.Curve.Low, report.Curve.High = grid.Range()
	}
	if slices.Contains(ids, dataset.NoRowID) {
		table.Columns = append(table.Columns, sideinfo.ColumnSpec{Name: dataset.NoRowID, Type: sideinfo.Num})
	}
	joined, err := sideinfo.JoinIDColumns(table, mode, ids)
	if err != nil {
		return nil, report, err
	}
	out := &model.Side{Has: joined.Has}
	if out.Encoder, report.Table, err = sideinfo.Fit(joined, sideinfo.EncodeOptions{}); err != nil {
		return nil, report, err
	}
	features, err := out.Encoder.Encode(joined.Rows)
	if err != nil {
		return nil, report, err
	}
	var k kernel.Kernel
	if mode.Linear() {
		report.Space, report.Kernel = "primal", ""
	} else if k, err = kernel.Parse(report.Kernel); err != nil {
		return nil, report, err
	}
	op, _, err := sideinfo.New(report.Space, features, k, sideinfo.Options{Backend: s.in.Engine, Columns: min(columns, features.N), Seed: s.in.Spec.Seed})
	if err != nil {
		return nil, report, err
	}
	out.Operator, report.Columns = op, op.Columns()
	return out, report, nil
}

// missing returns the number of rows of all parts in which a covariate is missing.
func (s *Set) missing(at int) int {
	code, has := s.in.Table.Dicts[at].Code([]byte(dataset.MissingID))
	rows := 0
	for _, p := range []dataset.Part{dataset.Train, dataset.Valid, dataset.Test} {
		for _, c := range s.in.Codes(p)[at] {
			if has && c == code {
				rows++
			}
		}
	}
	return rows
}
