package train

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/dataset/tableio"
	"github.com/kernel-fried-tensor/kft/internal/fielderr"
	"github.com/kernel-fried-tensor/kft/kernel"
	"github.com/kernel-fried-tensor/kft/model"
	"github.com/kernel-fried-tensor/kft/sideinfo"
	"github.com/kernel-fried-tensor/kft/sidetable"
	"github.com/kernel-fried-tensor/kft/solver"
	"github.com/kernel-fried-tensor/kft/spec"
	"github.com/kernel-fried-tensor/kft/tt/regression"
)

// readSide reads the side tables and builds an operator for each.
func (r *run) readSide(ctx context.Context) error {
	r.side, r.extra = make([]*model.Side, len(r.data.table.Modes)), make([]*sideinfo.Joined, len(r.data.table.Modes))
	tables, err := r.spec.SideTables()
	if err != nil {
		return err
	}
	names := r.spec.ModeNames()
	r.groups = make([]*sideinfo.Groups, len(names))
	columns := r.groupColumns()
	tables = withIDGroups(tables, names, columns)
	reports, steps := make([]model.SideReport, len(tables)), make([]func() error, len(tables))
	for i, t := range tables {
		steps[i] = func() (err error) {
			at := slices.Index(names, t.Mode)
			if r.side[at], reports[i], err = r.sideFor(ctx, t, at, columns[t.Mode]); err != nil {
				return sideError(ctx, t.Mode, err)
			}
			return nil
		}
	}
	if err := r.sideBySide(steps...); err != nil {
		return err
	}
	for i, t := range tables {
		for _, n := range reports[i].Table.Notices {
			r.warnings = append(r.warnings, fmt.Sprintf("side information of %s: %s", t.Mode, n))
		}
	}
	r.sideReports = append(r.sideReports, reports...)
	return nil
}

// checkSideFiles returns the error of a side table whose file does not exist, before anything
// else is read.
func checkSideFiles(ctx context.Context, s spec.Spec, opt Options) error {
	tables, err := s.SideTables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, named := opt.Tables[t.File]; named || t.FromIDs() || t.File == "-" {
			continue
		}
		if _, err := os.Stat(t.File); errors.Is(err, fs.ErrNotExist) {
			_, err := tableio.ReadFrame(ctx, tableio.Files(t.File), tableio.Format{})
			return sideError(ctx, t.Mode, err)
		}
	}
	return nil
}

// CheckSide returns the first error of the side tables of a specification: a file that cannot
// be read, a column that it lacks, ids that are not those of the data.
func (d *Data) CheckSide(ctx context.Context, s spec.Spec, opt Options) error {
	tables, err := s.SideTables()
	if err != nil {
		return err
	}
	for _, t := range tables {
		at := slices.Index(s.ModeNames(), t.Mode)
		if t.File == "-" && opt.Tables == nil || at < 0 {
			continue // standard input is read once; the fit reports the mode
		}
		if _, err := sideinfo.Open(ctx, t, tableio.Named(opt.Tables, t.File), d.table.Modes[at], d.table.Dicts[at].IDs(), tableio.Format{}); err != nil {
			return sideError(ctx, t.Mode, err)
		}
	}
	return nil
}

// sideError says which side table an error is about.
func sideError(ctx context.Context, mode string, err error) error {
	if fielderr.Path(err) == "" && ctx.Err() == nil {
		err = fielderr.Errorf("side.tables", "%w", err)
	}
	return fmt.Errorf("side information of %s: %w", mode, err)
}

// sideOf reads one side table, that of mode at, and its groups by the given columns,
// encodes its rows and builds the operator. It returns nil for a table of groups only.
func (r *run) sideOf(ctx context.Context, table sideinfo.Spec, at int, groups []string) (*model.Side, model.SideReport, error) {
	mode, s := r.data.table.Modes[at], r.spec.Side
	report := model.SideReport{Mode: mode.Name}
	joined, err := sideinfo.Open(ctx, table.WithGroups(groups), tableio.Named(r.opt.Tables, table.File), mode, r.data.table.Dicts[at].IDs(), tableio.Format{Stdin: r.opt.Stdin})
	if err != nil {
		return nil, report, err
	}
	r.extra[at], report.Table = joined.Extra, joined.Report
	if len(groups) > 0 {
		if r.groups[at], report.Groups, err = r.groupsOf(joined, at, groups); err != nil {
			return nil, report, err
		}
	}
	if table.OnlyGroups() {
		return nil, report, nil
	}
	out := &model.Side{Has: joined.Has}
	report.Space = s.Space
	if out.Encoder, report.Table, err = sideinfo.Fit(joined, sideinfo.EncodeOptions{}); err != nil {
		return nil, report, err
	}
	var encoded []string
	for _, c := range report.Table.Columns {
		if !c.Constant {
			encoded = append(encoded, c.Name)
		}
	}
	out.Table = sidetable.New(joined.Rows, encoded, out.Encoder.Plain)
	features, err := out.Encoder.Encode(joined.Rows)
	if err != nil {
		return nil, report, err
	}
	if kind := s.PlaceboOf(mode.Name); kind != "" {
		if features, err = sideinfo.Placebo(kind, features, r.spec.Seed); err != nil {
			return nil, report, err
		}
	}
	var k kernel.Kernel
	if s.Space != "primal" {
		report.Kernel = s.KernelOf(mode.Name)
		if k, err = kernel.Parse(report.Kernel); err != nil {
			return nil, report, err
		}
		notice, err := out.Encoder.PeriodNotice(k)
		if err != nil {
			return nil, report, err
		}
		if notice != "" {
			report.Table.Notices = append(report.Table.Notices, notice)
		}
	}
	columns := s.Columns
	if s.Space == "dual" {
		columns = min(columns, features.N) // the default exceeds the number of ids of small modes
	}
	op, notices, err := sideinfo.New(s.Space, features, k, sideinfo.Options{Backend: r.engine, Columns: columns,
		NoIntercept: s.Intercept == "no", Learn: s.LengthScales == "learn", Seed: r.spec.Seed})
	if err != nil {
		return nil, report, err
	}
	report.Notices = notices
	if s.Space != "dual-unwhitened" && s.Space != "primal" && s.LengthScales == "fixed" {
		// Rotate to the axes that the training rows distinguish best, so that conjugate
		// gradients need fewer steps.
		if err := sideinfo.Rotate(op, counts(r.part(dataset.Train).Codes[at], op.Rows())); err != nil {
			return nil, report, err
		}
	}
	out.Operator, report.Columns = op, op.Columns()
	if s.LengthScales != "learn" {
		sideinfo.ForgetFeatures(op)
	} else {
		names := op.ThetaNames()
		for i, theta := range op.Theta() {
			report.Learned = append(report.Learned, model.Learned{Name: names[i], Start: math.Exp(theta), End: math.Exp(theta)})
		}
	}
	return out, report, nil
}

// counts returns the number of rows per code of a column.
func counts(codes []int32, n int) []float64 {
	sum := make([]float64, n)
	for _, c := range codes {
		sum[c]++
	}
	return sum
}

// sideInfo returns the side information in the form that buildField needs.
func (r *run) sideInfo() fieldSide {
	s := r.spec.Side
	info := fieldSide{Variant: s.Variant, Coupled: s.Dual(), Operators: make([]regression.Operator, len(r.side)), Norms: make([]func(dst, x []float32, width int), len(r.side))}
	for at, side := range r.side {
		if side == nil {
			continue
		}
		info.Operators[at] = side.Operator
		if s.Space == "dual-unwhitened" {
			// T = K V, and the penalty is the norm v' K v.
			info.Norms[at] = func(dst, x []float32, width int) { sideinfo.Apply(r.engine, side.Operator, dst, x, width) }
		}
	}
	return info
}

// kernels returns the operators with length-scales to learn.
func (r *run) kernels() []solver.Kernel {
	var kernels []solver.Kernel
	for at, s := range r.side {
		if s != nil && len(s.Operator.Theta()) > 0 {
			kernels = append(kernels, solver.Kernel{Mode: r.data.table.Modes[at].Name, Operator: s.Operator})
		}
	}
	return kernels
}

// reportLearned records the learned values of the kernel parameters.
func (r *run) reportLearned() {
	for i, report := range r.sideReports {
		at := slices.Index(r.spec.ModeNames(), report.Mode)
		if r.side[at] == nil {
			continue // groups only
		}
		for p, theta := range r.side[at].Operator.Theta() {
			if p < len(report.Learned) {
				r.sideReports[i].Learned[p].End = math.Exp(theta)
			}
		}
	}
}

// warnUnusedSide warns about side information and kernels of the specification that have
// no effect. The variant plain, given or chosen by a comparison, says itself that no term uses it.
func (r *run) warnUnusedSide() {
	s := r.spec.Side
	names := r.spec.ModeNames()
	for at, side := range r.side {
		if side != nil && s.Variant != "plain" && !r.model.Informed(at) && r.groups[at] == nil && !r.data.table.Modes[at].Smooth() {
			r.warnings = append(r.warnings, fmt.Sprintf("the side information of %s has no effect: no term has a core of %s with a variant other than plain", names[at], names[at]))
		}
	}
	for _, text := range s.Kernels {
		if mode, _, named := strings.Cut(text, "="); named && r.side[slices.Index(names, mode)] == nil {
			r.warnings = append(r.warnings, fmt.Sprintf("kernel %s has no effect: mode %s has no side information", text, mode))
		}
	}
	r.warnUnusedGroups()
	if s.Space == "dual-unwhitened" && s.LengthScales == "learn" {
		r.warnings = append(r.warnings, "length-scales cannot be learned in the space dual-unwhitened; set side.space to dual")
	}
}

// hashSide returns the hash of the operators and groups, "" without any.
func hashSide(side []*model.Side, groups []*sideinfo.Groups) string {
	h := sha256.New()
	tables := 0
	for at, s := range side {
		if s != nil {
			tables++
			fmt.Fprintln(h, at, s.Operator.Rows(), s.Operator.Columns())
			h.Write(float32Bytes(s.Operator.Matrix()))
		}
	}
	for at, g := range groups {
		if g != nil {
			tables++
			fmt.Fprintln(h, at, "groups")
			for _, c := range g.Columns {
				fmt.Fprintf(h, "%q %q %v\n", c.Name, c.Levels, c.Of)
			}
		}
	}
	if tables == 0 {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

func float32Bytes(values []float32) []byte {
	out := make([]byte, 0, 4*len(values))
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}
