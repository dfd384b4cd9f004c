package train

import (
	"fmt"
	"slices"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/covariate"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/predictive"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/spec"
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
func (r *run) addCurves() error {
	for at, mode := range r.data.table.Modes {
		if !mode.Smooth() || mode.Joint() && len(r.spec.UsedCovariates([]string{mode.String()})) == 0 {
			continue
		}
		if value, one := r.oneValue(at); one && mode.Derived() {
			field := "data.history"
			if mode.Lag() > 0 {
				field = "data.lags"
			}
			return fielderr.Errorf(field, "the covariate %s has only one value in the training rows, %q, so it carries no information; remove it", mode.Name, value)
		}
		s, report, err := r.curveFor(at)
		if err != nil {
			return fmt.Errorf("covariate %s: %w", mode.Name, err)
		}
		r.side[at] = r.continuedCurve(at, s)
		r.sideReports = append(r.sideReports, report)
	}
	return nil
}

// oneValue returns the value of a covariate and whether no row has another, apart from missing ones.
func (r *run) oneValue(at int) (value string, one bool) {
	for _, id := range r.data.table.Dicts[at].IDs() {
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
func (r *run) continuedCurve(at int, s *model.Side) *model.Side {
	if !r.continues() {
		return s
	}
	before := r.measured.SideOf(at)
	if before == nil || before.Operator.Rows() != s.Operator.Rows() || before.Operator.Columns() != s.Operator.Columns() {
		return s
	}
	out := *s
	out.Operator = before.Operator
	return &out
}

// curveOf returns the operator of a covariate, with columns along the principal axes of the training rows.
func (r *run) curveOf(at int) (*model.Side, model.SideReport, error) {
	base := r.baseFor(at)
	report := base.report
	if base.err != nil {
		return nil, report, base.err
	}
	curve := *report.Curve
	curve.Missing = r.missing(at)
	report.Curve = &curve
	out := *base.side
	op := sideinfo.Clone(out.Operator)
	if err := sideinfo.Rotate(op, counts(r.part(dataset.Train).Codes[at], op.Rows())); err != nil {
		return nil, report, err
	}
	out.Operator = op
	return &out, report, nil
}

// baseOf returns the operator of a covariate before its rotation, which is the same for all training rows.
func (r *run) baseOf(at int) (*model.Side, model.SideReport, error) {
	mode, ids := r.data.table.Modes[at], r.data.table.Dicts[at].IDs()
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
		for i, of := range mode.Members(r.data.table.Modes) {
			add(mode.Columns[i], covariate.GridOf(r.data.table.Dicts[of].IDs()))
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
	op, _, err := sideinfo.New(report.Space, features, k, sideinfo.Options{Backend: r.engine, Columns: min(columns, features.N), Seed: r.spec.Seed})
	if err != nil {
		return nil, report, err
	}
	out.Operator, report.Columns = op, op.Columns()
	return out, report, nil
}

// WithPoints returns the data with the joint covariates of the specification that it lacks.
func (d *Data) WithPoints(s spec.Spec) (*Data, error) {
	for _, text := range s.Data.Modes {
		mode, err := dataset.ParseMode(text)
		if err != nil || !mode.Joint() || slices.ContainsFunc(d.table.Modes, func(m dataset.Mode) bool { return m.Name == mode.Name }) {
			continue
		}
		changed := *d
		if err := covariate.AddPoints(&changed.table, mode); err != nil {
			return nil, err
		}
		d = &changed
	}
	return d, nil
}

// missing returns the number of rows of all parts in which a covariate is missing.
func (r *run) missing(at int) int {
	code, has := r.data.table.Dicts[at].Code([]byte(dataset.MissingID))
	rows := 0
	for p := range dataset.Part(len(r.parts)) {
		for _, c := range r.part(p).Codes[at] {
			if has && c == code {
				rows++
			}
		}
	}
	return rows
}

// resolved returns the specification with the modes of the data: whether a covariate is
// numeric is known when the table was read.
func (d *Data) resolved(s spec.Spec) spec.Spec {
	s = s.Clone()
	for i, mode := range d.table.Modes {
		s.Data.Modes[i] = mode.String()
	}
	if d.ends != nil {
		s.Data.Ends = "series"
	}
	if d.targets != nil {
		s.Transform = predictive.Identity.String() // values are on their scales
	}
	return s
}

// warnUnusedCovariates warns about covariates that no term uses.
func (r *run) warnUnusedCovariates() {
	for at, mode := range r.data.table.Modes {
		if mode.Covariate() && !r.model.UsesMode(at) && !r.opt.Chosen {
			r.warnings = append(r.warnings, fmt.Sprintf("the covariate %s has no effect, because no term uses it; add a term such as %s", mode.Name, mode.Name))
		}
	}
}

// cellModes returns the number of modes that identify a cell.
func (d *Data) cellModes() int {
	n := slices.IndexFunc(d.table.Modes, dataset.Mode.Covariate)
	if n < 0 {
		n = len(d.table.Modes)
	}
	return n
}
